// The whole page: header, the current view, messages, dialogs, and the link in the address bar.

import { connection } from "../api.js";
import { Emitter, useChanges } from "../emitter.js";
import { defaultAgent } from "../game/session.js";
import { html, useEffect, useMemo, useRef } from "../html.js";
import { useKeys } from "../keys.js";
import { readLink, writeLink } from "../router.js";
import { settings } from "../settings.js";
import { VIEWS, loadViewsSoon, viewOf } from "../views/index.js";
import { RecordDialog } from "../records/RecordDialog.js";
import { Header, copyLink } from "./Header.js";
import { KeysDialog } from "./KeysDialog.js";
import { MoveDialog } from "./MoveDialog.js";
import { IllegalMove, Reconnecting } from "./Notice.js";
import { Toasts } from "./Toasts.js";
import { turnBoard } from "./layout.js";

const FIRST_GAME = "connect_four";

/** What views may ask of the page; see the fields. */
class AppState extends Emitter {
  constructor(session) {
    super();
    this.session = session;
    this.view = "play";
    this.agent = null; // id of the agent of links, of Analyse and Review
    this.dialog = null; // a function that returns a dialog
    this.status = ""; // why a click did nothing
    this.spoken = ""; // what screen readers hear
    this.toasts = [];
    this.play = null; // the game of Play, which survives a change of views
    this.lesson = { method: null, c: null, seed: 0, place: null }; // what Learn shows, as a link has it
    this.watch = null; // what Runs knows of a run
    this.ownHash = null; // the link that the page itself has put into the address bar
    this.isReady = false;
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

  /** Shows a message for a while: {text, kind: "info"|"error", undo: function, seconds}. */
  toast = ({ text, kind = "info", undo = null, seconds = undo ? 10 : 5 }) => {
    const toast = { id: Math.random(), text, kind, undo };
    this.toasts = [...this.toasts.slice(-2), toast];
    this.changed();
    setTimeout(() => this.dropToast(toast), 1000 * seconds);
  };
  dropToast = (toast) => {
    this.toasts = this.toasts.filter((each) => each !== toast);
    this.changed();
  };
  fail = (error) => error?.name !== "AbortError" && this.toast({ text: error.message, kind: "error", seconds: 8 });

  /** Opens another game. One that the server refuses leaves all as it is, and throws. */
  openGame = async (id) => {
    await this.session.setGame(id);
    this.agent = defaultAgent(this.session.agents);
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

  link = () => {
    const { session, view, agent } = this;
    const lesson = view === "learn" ? this.lesson : null;
    return writeLink({ view, game: session.game.id, tree: session.tree, node: session.node, agent, lesson });
  };
}

export function App({ session }) {
  const app = useMemo(() => new AppState(session), []);
  [app, session, connection, settings].forEach(useChanges);
  useEffect(() => void begin(app), []);
  useLink(app);
  useEffect(() => {
    if (session.error && !isIllegal(session.error)) app.toast({ text: session.error.message, kind: "error", seconds: 8 });
  }, [session.error]);
  usePageKeys(app);

  const { View, title } = viewOf(app.view);
  return html`<div class="app view-${app.view}">
    <${Header} app=${app} session=${app.shown} title=${title} />
    <main class="main">
      ${app.isReady ? html`<${View} key=${app.view} session=${session} app=${app} />` : html`<p class="loading">Loading the board …</p>`}
    </main>
    <div class="notices">
      ${connection.isLost && html`<${Reconnecting} />`}
      ${isIllegal(session.error) && html`<${IllegalMove} error=${session.error} moves=${session.moves} app=${app} onClose=${() => session.forgetError()} />`}
    </div>
    <p class="status-line" role="status">${app.status}</p>
    <div class="hidden" aria-live="polite">${app.spoken}</div>
    <${Toasts} app=${app} />
    ${app.dialog && app.dialog()}
  </div>`;
}

const isIllegal = (error) => error?.code === "illegal_move" && Number.isInteger(error.at);

async function begin(app) {
  const { session } = app;
  const ownGame = () => session.games.find((game) => game.is_own)?.id;
  const open = async () => {
    const link = await readLink(location.hash).catch((error) => (app.fail(error), {}));
    const id = link.game ?? ownGame() ?? FIRST_GAME;
    await session.setGame(id, link.tree, link.place).catch(async (error) => {
      app.fail(error.code === "unknown_game" ? new Error(`the link's game, ${id}, is not offered here`) : error);
      if (session.game === null && id !== FIRST_GAME) await session.setGame(FIRST_GAME);
    });
    if (link.agent?.startsWith("run:")) await session.addAgent(link.agent).catch(() => {}); // the list has the best net alone
    const known = session.agents.some((agent) => agent.id === link.agent);
    app.agent = known ? link.agent : defaultAgent(session.agents);
    app.view = viewOf(link.view ?? "play").id;
    if (link.lesson) app.lesson = link.lesson;
  };
  const games = session.loadGames().catch(app.fail);
  if (!location.hash) await games; // one of the user's own comes first
  await Promise.all([games, open()]).catch(app.fail);
  app.isReady = session.game !== null;
  loadViewsSoon();
  app.changed();
  window.addEventListener("hashchange", async () => {
    if (location.hash === app.ownHash) return;
    await open();
    app.changed();
  });
}

/** Keeps the address bar's link that of the page. */
function useLink(app) {
  const { session } = app;
  const timer = useRef(null);
  useEffect(() => {
    if (!app.isReady) return;
    clearTimeout(timer.current);
    timer.current = setTimeout(async () => {
      app.ownHash = await app.link();
      if (location.hash !== app.ownHash) history.replaceState(null, "", app.ownHash);
    }, 150);
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
    s: ["save or load a record", () => app.openDialog(() => html`<${RecordDialog} app=${app} session=${session} />`)],
    "/": ["type a move", () => typeMove(app, session)],
    "?": ["all keys", () => app.openDialog(() => html`<${KeysDialog} app=${app} />`)],
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

function typeMove(app, session) {
  if (!session.isSettled || session.position.to_move === null) return false;
  const { play, view } = app;
  if (view === "play" && !play?.mayMove) return false;
  const onMoves = (moves) => (view === "play" ? play.mayMove && play.move(moves) : session.play(...moves));
  app.openDialog(() => html`<${MoveDialog} app=${app} session=${session} onMoves=${onMoves} />`);
}
