// How a game comes to the page: from the address bar, from the browser's history, or as one that was kept.

import { currentId, earlier, find, hide, keep, newId } from "../game/kept.js";
import { defaultAgent, titleOf } from "../game/session.js";
import { published } from "../published.js";
import { pack, readLink, unpack } from "../router.js";
import { loadViewsSoon, viewOf } from "../views/index.js";

/**
 * A game is a tree of moves. One that takes the place of another is a new entry of the browser's history, unless
 * there was nothing to lose. Each entry has the id under which its game is kept.
 */
export class Keeper {
  constructor(app) {
    this.app = app;
    this.tree = null; // of the game that is kept
    this.id = null;
    this.last = null; // what was kept of it
    this.offered = null; // the earlier game to which a click returns: {id, title, numMoves, isOver}
    this.toast = null; // that says so
    this.arrivals = new WeakMap(); // trees that come from a link or were kept before; see `arrive`
    window.addEventListener("pagehide", () => {
      this.save();
      app.play?.clocks?.stop();
    });
    document.addEventListener("visibilitychange", this.save); // on a phone it may be the last event
    window.addEventListener("pageshow", ({ persisted }) => persisted && app.play?.onChange());
  }

  /**
   * Says how a tree comes to the page that will show it soon: whether the history has an entry for it already
   * (`isEntry`), under which `id` it stays, and under which one it was kept so far (`from`).
   */
  arrive(tree, { isEntry, id = null, from = null }) {
    this.arrivals.set(tree, { isEntry, id, from });
  }

  /** Keeps the game as it stands. */
  save = () => {
    const { app } = this;
    const { tree, game } = app.session;
    if (!game || app.numOpening) return;
    if (tree !== this.tree) this.turnTo(tree);
    this.last = describe(app);
    keep(this.id, this.last, this.last.numMoves > 0);
    const { from } = this.arrivals.get(tree) ?? {};
    if (from) hide(from);
    this.arrivals.delete(tree);
  };

  /** Another game has taken the place of the one that was kept. */
  turnTo(tree) {
    const { id: leftId, last: left } = this;
    const { isEntry = false, id = null, from = null } = this.arrivals.get(tree) ?? {};
    Object.assign(this, { tree, id: id ?? newId() });
    const isWorth = left?.numMoves > 0;
    history[isWorth && !isEntry ? "pushState" : "replaceState"]({ game: this.id }, "");
    if (isWorth && !id) this.offer({ ...left, id: leftId });
    else if (this.offered && [id, from].includes(this.offered.id)) this.offer(null);
  }

  /** Offers to return to a game that was kept; null: to none. */
  offer(game) {
    const { app } = this;
    if (this.toast) app.dropToast(this.toast);
    this.offered = game;
    const text =
      game && `Your game of ${game.title} (${game.numMoves} ${game.numMoves === 1 ? "move" : "moves"}) is kept.`;
    const button = { text: "Return to it", onPick: () => returnTo(app, game.id) };
    this.toast = game && !game.isOver ? app.toast({ text, button }) : null;
  }

  /** Makes the link in the address bar that of the page. */
  showLink = async () => {
    const { app, tree } = this;
    if (!tree || app.numOpening) return;
    const link = await pack(app.link);
    if (app.numOpening || app.session.tree !== tree) return; // another entry has come meanwhile
    app.ownHash = link;
    const hasAddress = location.protocol !== "about:"; // a page in the cell of a notebook has none
    if (location.hash !== link && hasAddress) history.replaceState({ game: this.id }, "", link);
  };
}

/** A game as it is kept: its link, and what links do not hold. */
function describe({ session, play, link }) {
  const { tree, tags, game } = session;
  const line = tree.mainLine();
  return {
    link,
    title: titleOf(game),
    numMoves: line.length,
    isOver: play?.isOver ?? Boolean(line.length && session.cached(line.at(-1))?.result),
    tags,
    notes: tree.notes,
    play: play?.begun ?? tree.kept.play,
    review: tree.kept.review ?? session.review?.kept,
    analysis: tree.kept.analysis ?? session.analyst?.kept,
  };
}

const FIRST_GAME = "connect_four";

/** Shows what the address says: the game that was kept for it, otherwise that of the link, otherwise a new one. */
export async function begin(app) {
  const { session } = app;
  window.addEventListener("popstate", ({ state }) => goToEntry(app, state?.game));
  const games = session.loadGames().catch(app.fail);
  const id = await idOfEntry();
  const [last] = earlier();
  if (!id && !location.hash) await games; // one of the user's own comes first
  await Promise.all([games, open(app, id ? find(id) : gameOfAddress(), { isEntry: true, from: id })]);
  if (!session.game) await app.openGame(firstGame(session)).catch(app.fail);
  app.isReady = session.game !== null;
  loadViewsSoon();
  app.changed();
  if (!id && last) app.keeper.offer(last);
}

/** The game of the address; in a file with a review the reviewed one, at the address's place. */
function gameOfAddress() {
  const { review } = published ?? {};
  return { ...review, link: location.hash || (review?.link ?? "") };
}

const firstGame = ({ games }) => published?.game ?? games.find((game) => game.is_own)?.id ?? FIRST_GAME;

/** The id of the game that belongs to the entry of the history; null if none is kept. */
async function idOfEntry() {
  const isReload = /** @type {any} */ (performance.getEntriesByType("navigation")[0])?.type === "reload"; // with which a browser may lose the state
  const id = history.state?.game ?? (isReload || !location.hash ? currentId() : null);
  if (id && find(id)) return id;
  const link = await unpack(location.hash).catch(() => null);
  return earlier().find((game) => game.link === link)?.id ?? null; // the same link in another window
}

/** Shows a game that was kept under an id. */
export function returnTo(app, id) {
  const kept = find(id);
  if (kept) open(app, kept, { isEntry: false, from: id });
  else app.fail(new Error("that game is no longer kept"));
}

/** The browser's history has gone to another entry, or the user has opened a link in this window. */
function goToEntry(app, id) {
  const kept = id ? find(id) : null;
  const isOnBoard = kept ? id === app.keeper.id : location.hash === app.ownHash;
  if (isOnBoard) app.changed();
  else open(app, kept ?? gameOfAddress(), { isEntry: true, id: kept && id });
}

/** Opens a kept game, or a link alone. One that cannot be shown leaves all as it is. */
async function open(app, { link, tags, notes = [], play, review, analysis }, arrival) {
  const { session, keeper } = app;
  keeper.save();
  app.numOpening++;
  try {
    const found = readLink(await unpack(link));
    const id = found.game ?? firstGame(session);
    const { tree } = found;
    tree.kept = { play, review, analysis };
    tree.annotate(notes);
    keeper.arrive(tree, arrival);
    await session.setGame(id, tree, found.place, tags).catch((error) => {
      throw error.code === "unknown_game" ? new Error(`the link's game, ${id}, is not offered here`) : error;
    });
    if (session.tree !== tree) return; // another game was chosen meanwhile
    const named = [found.agent, analysis?.second, ...(play?.players ?? []).map(({ agent }) => agent)];
    const ofRuns = named.filter((each) => each?.startsWith("run:")); // the list has their best nets alone
    await Promise.all(ofRuns.map((each) => session.addAgent(each).catch(() => {})));
    chooseAgent(app, found.agent);
    app.view = viewOf(found.view ?? "play").id;
    app.learn = found.learn;
    app.status = "";
  } catch (error) {
    app.fail(error);
  } finally {
    app.numOpening--;
    app.changed();
  }
}

/** Takes the agent of a link, or the strongest one; says so where another one takes the place of what may be expected. */
export function chooseAgent(app, wanted = null) {
  const { session } = app;
  const isKnown = session.agents.some((agent) => agent.id === wanted);
  app.agent = isKnown ? wanted : defaultAgent(session.agents);
  if (wanted && !isKnown)
    app.fail(new Error(`The agent ${wanted} is not offered here for this game. ${app.agent} takes its place.`));
  else if (!wanted && lacksNet(session))
    app.toast({ text: `No net here plays ${titleOf(session.game)}. ${app.agent} takes its place.`, seconds: 8 });
}

/** Whether no net plays the game with these parameters, such as another komi, though one plays it on a board of this size. */
function lacksNet({ agents, game, games }) {
  const sizeOf = ({ parameters: { size, rows, columns } }) => `${size ?? rows} ${size ?? columns}`;
  const isAlike = (each) => each.family === game.family && each.has_net && sizeOf(each) === sizeOf(game);
  return !agents.some(({ kind }) => kind === "net") && games.some(isAlike);
}
