// The whole page: header, the current view, messages, dialogs, and the link in the address bar.

import { connection } from "../api.js";
import { AppContext, Emitter, html, useChanges, useEffect, useMemo, useRef } from "../html.js";
import { useKeys } from "../keys.js";
import { IS_REVIEW } from "../published.js";
import { pack, writeLink } from "../router.js";
import { settings } from "../settings.js";
import { VIEWS, viewOf } from "../views/index.js";
import { IllegalMove, KeysDialog, MoveDialog, Reconnecting, Toasts } from "./dialogs.js";
import { copyLink, Header } from "./Header.js";
import { turnBoard } from "./layout.js";
import { begin, chooseAgent, Keeper } from "./opening.js";
import { RecordDialog } from "./RecordDialog.js";

/** What views may ask of the page; see the fields. */
class AppState extends Emitter {
  constructor(session) {
    super();
    this.session = session;
    this.view = "play";
    this.agent = null; // id of the agent of links, of Analyse and Review
    this.dialog = null; // a component
    this.status = ""; // why a click did nothing
    this.spoken = ""; // what screen readers hear
    this.toasts = [];
    this.playing = null; // the last game of Play
    this.learn = { method: null, c: null, seed: 0, place: null }; // what Learn shows, as a link has it
    this.watch = null; // what Runs knows of a run
    this.ownHash = null; // the link that the page itself has put into the address bar
    this.isReady = false;
    this.numOpening = 0; // links and kept games that are being opened
    this.keeper = new Keeper(this);
    session.onReplace = this.keeper.save;
  }

  /** The game of Play, which survives a change of views; null if none has begun with the moves on the board. */
  get play() {
    return this.playing?.tree === this.session.tree ? this.playing : null;
  }

  /** The session that the board shows. */
  get shown() {
    return (this.view === "runs" && this.watch?.board) || this.session;
  }

  setView = (id) => {
    this.view = viewOf(id).id;
    this.status = "";
    this.play?.onChange(); // agents move in Play alone
    this.changed();
  };
  setAgent = (id) => {
    this.agent = id;
    this.changed();
  };
  openDialog = (dialog) => {
    this.dialog = dialog;
    this.changed();
  };
  closeDialog = () => this.openDialog(null);
  setStatus = (text) => {
    if (this.status === text) return;
    this.status = text;
    this.changed();
  };
  announce = (text) => {
    this.spoken = text;
    this.changed();
  };

  /** Shows a message for a while, and returns it: {text, kind: "info"|"error", button: {text, onPick}, seconds}. */
  toast = ({ text, kind = "info", button = null, seconds = button ? 10 : 5 }) => {
    const toast = { id: Math.random(), text, kind, button };
    this.toasts = [...this.toasts.slice(-2), toast];
    this.changed();
    setTimeout(() => this.dropToast(toast), 1000 * seconds);
    return toast;
  };
  dropToast = (toast) => {
    this.toasts = this.toasts.filter((each) => each !== toast);
    this.changed();
  };
  fail = (error) => error?.name !== "AbortError" && this.toast({ text: error.message, kind: "error", seconds: 8 });

  /** Opens another game. One that the server refuses leaves all as it is, and throws. */
  openGame = async (id) => {
    await this.session.setGame(id);
    chooseAgent(this);
    this.changed();
  };

  /** The same for a click: returns whether the game was opened, and shows why not. */
  setGame = async (id) => {
    try {
      await this.openGame(id);
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  };

  /** The link of what the page shows; `pack` makes it fit the address bar. */
  get link() {
    const { session, view, agent } = this;
    const learn = view === "learn" ? this.learn : null;
    return writeLink({ view, game: session.game.id, tree: session.tree, node: session.node, agent, learn });
  }

  /** The same, packed if it is long, as a whole address. */
  address = async () => new URL(await pack(this.link), location.href).href;
}

export function App({ session }) {
  const app = useMemo(() => new AppState(session), []);
  [app, session, connection, settings].forEach(useChanges);
  useEffect(() => void begin(app), []);
  useKeeper(app);
  useEffect(() => {
    if (session.error && !isIllegal(session.error))
      app.toast({ text: session.error.message, kind: "error", seconds: 8 });
  }, [session.error]);
  usePageKeys(app);

  const { View, title } = viewOf(app.view);
  return html`<${AppContext.Provider} value=${app}><div class="app view-${app.view}">
    <${Header} title=${title} />
    <main class="main">
      ${app.isReady ? html`<${View} key=${app.view} />` : html`<p class="loading">Loading the board …</p>`}
    </main>
    <div class="notices">
      ${connection.isLost && html`<${Reconnecting} />`}
      ${isIllegal(session.error) && html`<${IllegalMove} />`}
    </div>
    <p class="status-line" role="status">${app.status}</p>
    <div class="hidden" aria-live="polite">${app.spoken}</div>
    <${Toasts} />
    ${app.dialog && html`<${app.dialog} />`}
  </div></${AppContext.Provider}>`;
}

const isIllegal = (error) => error?.code === "illegal_move" && Number.isInteger(error.at);

/** Keeps the game, and the address bar's link that of the page. */
function useKeeper(app) {
  const timer = useRef(null);
  useEffect(() => {
    app.keeper.save();
    clearTimeout(timer.current);
    timer.current = setTimeout(app.keeper.showLink, 150);
  });
}

function usePageKeys(app) {
  const session = app.shown;
  const awaited = useRef(0);
  const keys = {
    g: ["", () => void (awaited.current = Date.now())],
    d: ["theme", () => settings.set("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark")],
    f: ["turn the board", () => turnBoard(session)],
    y: ["copy the link", () => copyLink(app)],
    s: [IS_REVIEW ? "save the record" : "save or load a record", () => app.openDialog(RecordDialog)],
    "/": ["type a move", () => typeMove(app), !IS_REVIEW],
    "?": ["all keys", () => app.openDialog(KeysDialog)],
  };
  for (const view of VIEWS) keys[`g ${view.key}`] = [view.title, () => false];
  useKeys(keys);
  useEffect(() => {
    const listener = (event) => {
      if (Date.now() - awaited.current > 1500 || event.key.toLowerCase() === "g") return;
      const view = VIEWS.find((each) => each.key === event.key.toLowerCase());
      awaited.current = 0;
      if (!view) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      app.setView(view.id);
    };
    document.addEventListener("keydown", listener, true);
    return () => document.removeEventListener("keydown", listener, true);
  }, []);
}

function typeMove(app) {
  const session = app.shown;
  if (!session.isSettled || session.position.to_move === null) return false;
  const { play, view } = app;
  if (view === "play" && !play?.mayMove) return false;
  const onMoves = (moves) => (view === "play" ? play.mayMove && play.move(moves) : session.play(...moves));
  app.openDialog(() => html`<${MoveDialog} onMoves=${onMoves} />`);
}
