// How a game comes to the page: from the address bar, from the browser's history, or as one that was kept.

import { currentId, earlier, find } from "../game/kept.js";
import { defaultAgent, titleOf } from "../game/session.js";
import { readLink, unpack } from "../router.js";
import { loadViewsSoon, viewOf } from "../views/index.js";

const FIRST_GAME = "connect_four";

/** Shows what the address says: the game that was kept for it, otherwise that of the link, otherwise a new one. */
export async function begin(app) {
  const { session } = app;
  window.addEventListener("popstate", ({ state }) => turnTo(app, state?.game));
  const games = session.loadGames().catch(app.fail);
  const id = await idOfEntry();
  const [last] = earlier();
  if (!id && !location.hash) await games; // one of the user's own comes first
  await Promise.all([games, open(app, id ? find(id) : { link: location.hash }, { isEntry: true, from: id })]);
  if (!session.game) await app.openGame(firstGame(session)).catch(app.fail);
  app.isReady = session.game !== null;
  loadViewsSoon();
  app.changed();
  if (!id && last) app.keeper.offer(last);
}

const firstGame = ({ games }) => games.find((game) => game.is_own)?.id ?? FIRST_GAME;

/** The id of the game that belongs to the entry of the history; null if none is kept. */
async function idOfEntry() {
  const isReload = performance.getEntriesByType("navigation")[0]?.type === "reload"; // with which a browser may lose the state
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
function turnTo(app, id) {
  const kept = id ? find(id) : null;
  const isOnBoard = kept ? id === app.keeper.id : location.hash === app.ownHash;
  if (isOnBoard) app.changed();
  else open(app, kept ?? { link: location.hash }, { isEntry: true, id: kept && id });
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
    app.lesson = found.lesson;
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
  if (wanted && !isKnown) app.fail(new Error(`The agent ${wanted} is not offered here for this game. ${app.agent} takes its place.`));
  else if (!wanted && lacksNet(session)) app.toast({ text: `No net here plays ${titleOf(session.game)}. ${app.agent} takes its place.`, seconds: 8 });
}

/** Whether no net plays the game with these parameters, such as another komi, though one plays it on a board of this size. */
function lacksNet({ agents, game, games }) {
  const sizeOf = ({ parameters: { size, rows, columns } }) => `${size ?? rows} ${size ?? columns}`;
  const isAlike = (each) => each.family === game.family && each.has_net && sizeOf(each) === sizeOf(game);
  return !agents.some(({ kind }) => kind === "net") && games.some(isAlike);
}
