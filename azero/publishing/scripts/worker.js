// The worker of a published page: answers what the page asks, as the server's /api/v1 does.
//
// It gets {open: {page, agents: [{about, manifest, module, wasm, weights}]}} first, then {id, path, body}, {cancel: id} and
// {ask}. It sends {isOpen} or {problem}, then for each request {id, status, body}; of a stream {id, event, data} and
// {id, isOver}. It answers {ask}, whether it is there, by an empty message.

import { Engine } from "../engine.js";
import { simulate } from "./lessons.js";
import { bytesOf } from "./packed.js";
import { Game, Refused } from "./positions.js";
import { read, write } from "./records.js";
import { review } from "./reviews.js";
import { Agent, analyse, suggest } from "./searches.js";

let offered = null; // {page, game, agents}
let opened = null; // a promise: resolved when the game is there
const running = new Map(); // AbortControllers by the numbers of requests

/** Opens the game, and an engine of the first agent: the one that moves first. */
async function open() {
  const [first] = offered.agents;
  offered.game = new Game(await first.open(), offered.page);
  first.use(async () => {});
}

const modules = new Map(); // promises of compiled modules by their numbers: agents may share one

function compile(number, wasm) {
  if (!modules.has(number))
    modules.set(
      number,
      bytesOf(wasm).then((bytes) => WebAssembly.compile(bytes)),
    );
  return modules.get(number);
}

/** A function that opens an engine of an agent. */
function openerOf({ manifest, module: number, wasm, weights }) {
  const parts = Promise.all([compile(number, wasm), bytesOf(weights)]);
  return async () => {
    const [module, numbers] = await parts;
    return Engine.open({ manifest, wasm: module, weights: numbers });
  };
}

/** The agent of a request. */
function agentOf(id) {
  const found = offered.agents.find(({ about }) => about.id === id);
  if (!found) throw new Refused(404, "unknown_agent", `this file has no agent ${id}`, { value: id });
  return found;
}

function checkGame(id) {
  if (id !== offered.page.game.id)
    throw new Refused(404, "unknown_game", `this file has ${offered.page.game.title} alone`, { value: id });
}

/** What answers a request without a stream: a function of its body, the rest of its path, and a signal. */
const ROUTES = {
  games: (_, [id]) => {
    if (id === undefined) return [offered.page.game];
    checkGame(id);
    return offered.page.game;
  },
  agents: (_, [id]) => (id === undefined ? offered.agents.map(({ about }) => about) : agentOf(id).about),
  positions: (body) => offered.game.describe(body),
  records: (body, [what]) => (what === "read" ? read : write)(offered.game, offered.page.name, body),
  suggestions: (body, _, signal) => {
    checkGame(body.game);
    return suggest(offered.game, agentOf(body.agent), body, signal);
  },
  simulations: (body, _, signal) => {
    checkGame(body.game);
    const agent = body.agent ? agentOf(body.agent) : offered.agents[0];
    return simulate(offered.game, agent, body, signal);
  },
};

/** What answers with a stream: a function of the body and a signal, which returns a function of `send`. */
const STREAMS = {
  analyses: (body, signal) => {
    checkGame(body.game);
    return analyse(offered.game, agentOf(body.agent), body, signal);
  },
  reviews: (body, signal) => {
    checkGame(body.game);
    return review(offered.game, agentOf(body.agent), body, signal);
  },
};

async function answer(id, path, body) {
  const controller = new AbortController();
  const { signal } = controller;
  running.set(id, controller);
  const [name, ...rest] = path
    .replace(/\?.*/, "")
    .split("/")
    .map((part) => decodeURIComponent(part));
  let isStream = false;
  try {
    if (name !== "games" && name !== "agents") await opened;
    signal.throwIfAborted();
    if (Object.hasOwn(STREAMS, name)) {
      const work = STREAMS[name](body, signal);
      isStream = true;
      postMessage({ id, status: 200 });
      await work((event, data) => signal.aborted || postMessage({ id, event, data }));
      postMessage({ id, isOver: true });
    } else if (Object.hasOwn(ROUTES, name)) {
      const found = await ROUTES[name](body, rest, signal);
      postMessage({ id, status: 200, body: found });
    } else throw new Refused(404, "not_found", "a published page does not have this");
  } catch (error) {
    if (signal.aborted) return;
    const refused = error instanceof Refused ? error : new Refused(500, "rules", messageOf(error), { at: error.at });
    if (isStream) {
      postMessage({ id, event: "error", data: refused.body });
      postMessage({ id, isOver: true });
    } else postMessage({ id, status: refused.status, body: refused.body });
  } finally {
    running.delete(id);
  }
}

/**
 * What went wrong in the rules or the search, and after which moves. In a search `history` leads to its root, and
 * `path` from there on to where the rules fail; it is empty if that is not known.
 */
function messageOf({ name, message, history = [], path = [], isInSearch }) {
  if (name !== "EngineError") return `unexpected error: ${message}`;
  const moves = [];
  const actions = [...history, ...path];
  try {
    for (const [k, action] of actions.entries()) {
      offered.game.engine.goTo(actions.slice(0, k));
      moves.push(offered.game.board().textOf(action));
    }
  } catch {
    // the last of these moves is where the rules fail
  }
  const where = moves.length ? `after ${moves.join(" ")}` : "of the initial position";
  if (isInSearch) return `${message}, in a search${path.length ? "," : ""} ${where}`;
  return moves.length ? `${message}, ${where}` : message;
}

addEventListener("message", ({ data }) => {
  if (data.open) {
    const { page, agents } = data.open;
    offered = { page, game: null, agents: agents.map((each) => new Agent({ ...each, open: openerOf(each) })) };
    opened = open();
    opened.then(
      () => postMessage({ isOpen: true }),
      (error) => postMessage({ problem: error.message }),
    );
  } else if (data.ask) postMessage({});
  else if (data.cancel) running.get(data.cancel)?.abort();
  else answer(data.id, data.path, data.body);
});
