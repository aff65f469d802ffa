// What a published page does without a server: positions, records and reviews over an engine of tic-tac-toe.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { roundToEven, Engine as WasmEngine } from "../../azero/publishing/engine.js";
import { Channel, lacking } from "../../azero/publishing/scripts/begin.js";
import { answering } from "../../azero/publishing/scripts/finished.js";
import { simulate } from "../../azero/publishing/scripts/lessons.js";
import { Game } from "../../azero/publishing/scripts/positions.js";
import { read, write } from "../../azero/publishing/scripts/records.js";
import { accuracyOf, markOf, volatilitiesOf } from "../../azero/publishing/scripts/reviews.js";
import { Agent, run } from "../../azero/publishing/scripts/searches.js";

const NAMES = [1, 2, 3].flatMap((row) => ["a", "b", "c"].map((column) => column + row));
const LINES = [
  [0, 1, 2],
  [3, 4, 5],
  [6, 7, 8],
  [0, 3, 6],
  [1, 4, 7],
  [2, 5, 8],
  [0, 4, 8],
  [2, 4, 6],
];

/** The rules, as the compiled engine offers them. */
class Engine {
  history = [];
  reset = () => this.goTo([]);
  goTo = (actions) => void (this.history = [...actions]);
  play = (action) => void this.history.push(action);
  player = () => this.history.length % 2;
  toMove = () => (this.outcome() === null ? this.player() : null);
  score = () => this.outcome();
  stoneAt = (cell) => (this.history.includes(cell) ? this.history.indexOf(cell) % 2 : null);
  legal = () =>
    this.outcome() === null ? NAMES.map((_, cell) => cell).filter((cell) => this.stoneAt(cell) === null) : [];

  planes = () => {
    const planes = new Float32Array(18);
    for (const cell of this.history) planes[(this.stoneAt(cell) === this.player() ? 0 : 9) + cell] = 1;
    return planes;
  };

  outcome() {
    const winner = [0, 1].find((player) => LINES.some((line) => line.every((cell) => this.stoneAt(cell) === player)));
    if (winner !== undefined) return 1 - 2 * winner;
    return this.history.length === 9 ? 0 : null;
  }
}

const cells = NAMES.map((name, k) => ({ name, x: (k % 3) + 0.5, y: Math.floor(k / 3) + 0.5 }));
const kind = (player, plane) => ({ player, kind: "disc", text: "", planes: [plane], order: null });
const TABLES = {
  still: { style: "lines", cells, players: [{ name: "X" }, { name: "O" }], steps: [""], drops: null },
  pieces: [
    [kind(0, 0), kind(1, 1)],
    [kind(0, 1), kind(1, 0)],
  ],
  texts: [NAMES],
  flag: null,
  cells: [NAMES.map((_, cell) => [cell])],
  buttons: {},
  winning: { kind: "rows", width: 3, k: 3, exact: false },
};
const PAGE = {
  game: { id: "xo", title: "X and O", has_score: false },
  tables: TABLES,
  pictures: [],
  isHistoryFree: true,
};
const newGame = () => new Game(new Engine(), PAGE);

test("positions are those of the moves, to the winning line", () => {
  const game = newGame();
  const position = game.describe({ game: "xo", moves: ["A1", "b1", "a2 b2", "a3"] });
  assert.deepEqual(position.moves, ["a1", "b1", "a2", "b2", "a3"]);
  assert.deepEqual(
    [position.counts, position.movers],
    [
      [1, 1, 2, 1],
      [0, 1, 0, 1, 0],
    ],
  );
  assert.deepEqual([position.to_move, position.result], [null, { winner: 0, text: "X wins" }]);
  assert.deepEqual([position.picture.winning, position.picture.is_path, position.last], [[0, 3, 6], true, [6]]);
  assert.deepEqual(
    position.picture.pieces.map(({ cell, player }) => [cell, player]),
    [
      [0, 0],
      [1, 1],
      [3, 0],
      [4, 1],
      [6, 0],
    ],
  );
  assert.deepEqual(game.describe({ game: "xo", moves: [], position: position.position }).picture, position.picture);
});

test("of a move that is not legal the place and the reason are told", () => {
  const asked = { game: "xo", moves: ["a1", "a1"] };
  assert.throws(() => newGame().describe(asked), {
    code: "illegal_move",
    at: 1,
    value: "a1",
    message: /^move 2: .*legal moves: b1/,
  });
  assert.throws(() => newGame().describe({ game: "xo", moves: ["d4"] }), { at: 0, value: "d4" });
});

test("a record that is written is read again, with variations, comments and thoughts", () => {
  const node = { comment: "", mark: "", name: "", value: null, simulations: null, seconds: null };
  const nodes = [
    { comment: "a game; {braces}", name: "" },
    { ...node, parent: 0, move: "a1", comment: "+0.500, not a thought", mark: "!" },
    { ...node, parent: 1, move: "b2", value: -0.25, simulations: 400, seconds: 0.125 },
    { ...node, parent: 1, move: "c3", name: "The corner", mark: "?!" },
    { ...node, parent: 3, move: "b1" },
    { ...node, parent: 2, move: "c1", comment: "two\nlines" },
  ];
  const tags = { First: 'Ada "A" B', Event: "a test" };
  const { text } = write(newGame(), "xo", { nodes, tags, format: "azero" });
  assert.match(
    text,
    /^\[Format "1"\]\n\[Game "xo"\]\n\[First "Ada \\"A\\" B"\]\n\[Result "\*"\]\n\[Event "a test"\]\n\n/,
  );
  const [found] = read(newGame(), "xo", { text, format: "auto" }).games;
  assert.deepEqual([found.tags, found.result, found.start], [tags, "*", null]);
  const again = write(newGame(), "xo", { nodes: found.nodes, tags, format: "azero" });
  assert.equal(again.text, text);
  const moves = found.nodes.map(({ move, comment, mark, name, value }) => [move, comment, mark, name, value]);
  assert.deepEqual(moves[2], ["b2", "", "", "", -0.25]);
  assert.deepEqual(moves.find(([move]) => move === "c3").slice(2, 4), ["?!", "The corner"]);
  assert.equal(moves.find(([move]) => move === "c1")[1], "two\nlines");
});

test("a damaged record is refused, with the line", () => {
  const refused = (text, message) => assert.throws(() => read(newGame(), "xo", { text, format: "auto" }), { message });
  refused('[Game "go"]\na1 *', /line 1: the record is of go, not of xo/);
  refused('[Game "xo"]\na1 a1 *', /line 2: move 2: 'a1' is not legal here/);
  refused("a1 b1", /cut short/);
  refused("a1 {b", /line 1: a comment is not complete/);
  refused("a1 b1 a2 b2 a3 0-1", /contradict each other/);
  refused('[Result "foo"]\n*', /line 2: the result 'foo' should be one of 1-0, 0-1, 1\/2-1\/2, \*/);
  refused("(;GM[1])", /no SGF/);
});

test("losses become marks and accuracies as in a review on a server", () => {
  assert.deepEqual(
    [
      markOf(0.5, 0.5, false),
      markOf(0.5, 0.4, false),
      markOf(0.5, 0.3, false),
      markOf(0.5, -0.5, false),
      markOf(1, 0.95, false),
    ],
    ["", "?!", "?", "??", ""],
  );
  assert.equal(markOf(0, 0, true), "??");
  // as azero.arena.reviews.accuracy gives them
  assert.deepEqual(volatilitiesOf([0, 0.2, -0.1, 0.9]), [5, 7.5, 12]);
  assert.equal(accuracyOf([0, 0.3, 0.05], [1, 2, 3]).toFixed(9), "76.570348995");
  assert.equal(accuracyOf([], []), null);
});

test("of texts that differ in capitals alone, the one that is written is played", () => {
  const texts = [["n", "N", ...NAMES.slice(2)]];
  const game = new Game(new Engine(), { ...PAGE, tables: { ...TABLES, texts } });
  assert.deepEqual(game.goTo({ moves: ["N", "n", "C1"] }).actions, [1, 0, 2]);
});

test("a record of many moves is read in time", () => {
  const text = "a1 b1 a2 b2 a3 {a comment} 1-0\n".repeat(4000);
  const begin = performance.now();
  assert.equal(read(newGame(), "xo", { text, format: "auto" }).games.length, 4000);
  assert.ok(performance.now() - begin < 5000);
});

/** An engine whose module fails as `fails` says: an error's message by the action. */
function engineThat(fails) {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const bytes = new Int32Array(memory.buffer);
  const arrays = { states: { at: 64, type: "int32", bytes: 4 }, legal: { at: 128, type: "int32", bytes: 8 } };
  const apply_action = (_, action) => {
    bytes[16] = 10 * bytes[16] + action;
    if (action in fails) bytes[0] = 1;
  };
  const legal_actions = () => {
    bytes.set([1, 2], 32);
    return 2;
  };
  const exports = { memory, prepare() {}, reset() {}, outcome: () => 2, legal_actions, apply_action };
  const wasm = { failed: 0, errors: [null, ["ValueError", fails[2]]], arrays, end: 256 };
  return new WasmEngine({ wasm, game: { stateBytes: 4 }, agent: {}, settings: {} }, exports, new Uint8Array());
}

test("a move that fails leaves the position, and fails again", () => {
  const engine = engineThat({ 2: "no" });
  for (let k = 0; k < 2; k++) {
    assert.throws(() => engine.goTo([1, 2]), { message: "no", history: [1, 2] });
    assert.deepEqual([engine.history, engine._view("states")[0]], [[1], 1]);
  }
});

/** A search that fails at once. Its root has the moves 1 and 2; after 2 there are as many moves as `numMoves` says. */
function failingSearch({ numMoves, firstChild }) {
  const memory = new WebAssembly.Memory({ initial: 32 });
  const bytes = new Int32Array(memory.buffer);
  const nothing = () => 0;
  const exports = {
    ...{ memory, prepare: nothing, reset: nothing, start: nothing, begin: nothing, outcome: () => 2 },
    ...{ current_player: nothing, encode: nothing, hash_key: nothing },
    apply_action: (slot, action) => void (bytes[16 + slot] = action),
    legal_actions: (slot) => (bytes[16 + slot] === 2 ? numMoves : 2),
    simulate_by_rollouts: () => void (bytes[0] = 1),
  };
  const arrays = {
    states: { at: 64, type: "record", bytes: 8 },
    root: { at: 72, type: "record", bytes: 4 },
    legal: { at: 128, type: "int32", bytes: 8 },
    moved: { at: 144, type: "int64", bytes: 16 },
  };
  const fields = ["W", "N", "P", "first_child", "action", "num_children", "proven_plies", "proven", "player"];
  const wasm = {
    ...{ failed: 0, errors: { 1: ["BrokenRules", "no move"] }, arrays, numbers: {}, nodeBytes: 36, end: 256 },
    tree: { held_back: 160, simulations: 164, target: 168, num_nodes: 172 },
    node: Object.fromEntries(fields.map((name, k) => [name, [4 * k, "int32"]])),
  };
  const manifest = { wasm, game: { stateBytes: 4, numActions: 2 }, agent: { method: "uct", simulations: 10 } };
  const settings = { full: { solve_nodes: 0 } };
  const engine = new WasmEngine({ ...manifest, settings }, exports, new Uint8Array());
  bytes[42] = 10; // the target
  bytes.set([0, 0, 0, 1, 0, 2], 64); // the root, then its children
  bytes.set([0, 0, 0, firstChild, 1, 1], 73);
  bytes.set([0, 0, 0, 0, 2], 82);
  return engine.search();
}

test("a search names the moves after which the rules find none, and its error is not lost", () => {
  const error = { name: "EngineError", message: "no move", isInSearch: true };
  assert.throws(() => failingSearch({ numMoves: 0, firstChild: 0 }).run(), { ...error, path: [2] });
  const broken = failingSearch({ numMoves: 2, firstChild: 1e9 }); // where nobody can read
  assert.throws(() => broken.run(), { ...error, path: [] });
});

test("a file with a review has the positions of its game alone", async () => {
  const answers = { game: {}, agent: {}, positions: { "xo a1": { moves: ["a1"] } }, record: "" };
  const ask = answering(deflateSync(JSON.stringify(answers)).toString("base64"));
  const statusOf = async (game, moves) => (await ask("positions", { body: JSON.stringify({ game, moves }) })).status;
  assert.equal(await statusOf("xo", ["a1"]), 200);
  for (const game of ["xo", "constructor", "__proto__"]) assert.equal(await statusOf(game, []), 404);
});

test("halves are rounded as in Python", () => {
  assert.deepEqual([0.5, 1.5, 2.5, 2.4, 2.6].map(roundToEven), [0, 2, 2, 2, 3]);
});

/** A MessageChannel that does not keep the tests from ending. */
globalThis.MessageChannel = /** @type {any} */ (
  class {
    port1 = { onmessage: () => {} };
    port2 = { postMessage: () => setImmediate(() => this.port1.onmessage()) };
  }
);

test("a lesson begins with the simulation that is asked for", async () => {
  const game = newGame();
  const end = { N: 0, W: 0, proven: null, plies: 0 };
  const shown = (number) => ({
    number,
    path: [],
    choices: [],
    expanded: null,
    priors: [],
    kind: "net",
    nodes: [],
    end,
  });
  /** Its calls make up to 256 simulations. */
  const search = ({ simulations: target }) => ({
    simulations: 0,
    isDone: target === 0,
    run() {
      this.simulations = Math.min(this.simulations + 256, target);
      this.isDone = this.simulations === target;
    },
    extend: (more) => void (target = more),
    simulation() {
      return shown(++this.simulations);
    },
  });
  const engine = { goTo() {}, settings: () => ({ c_puct: 1 }), search };
  const agent = { about: { kind: "net" }, use: (work) => work(engine) };
  for (const first of [1, 21]) {
    const asked = { game: "xo", moves: [], method: "puct", first, count: 3 };
    const { simulations } = await simulate(game, agent, asked, new AbortController().signal);
    assert.deepEqual(
      simulations.map(({ number }) => number),
      [first, first + 1, first + 2],
    );
  }
});

test("after a solver that takes no time, simulations go on in short slices", async () => {
  const sizes = [];
  let left = 40; // slices of the solver
  const search = {
    isDone: false,
    get isSolving() {
      return left > 0;
    },
    run(size) {
      sizes.push(size);
      search.isDone = --left === -2;
    },
  };
  await run(search, null);
  assert.ok(Math.max(...sizes) <= 2048);
  assert.deepEqual(sizes.slice(40), [8, 16]);
});

test("engines that do not open, or that have trapped, use up no place", async () => {
  let count = 0;
  const open = async () => (++count <= 4 ? Promise.reject(new RangeError("memory")) : { number: count });
  const agent = new Agent({ about: {}, manifest: {}, open });
  for (let k = 0; k < 4; k++)
    await assert.rejects(
      agent.use(async () => {}),
      { message: "memory" },
    );
  const trap = async () => Promise.reject(new WebAssembly.RuntimeError("unreachable"));
  await assert.rejects(agent.use(trap), { message: "unreachable" });
  const refuse = async () => Promise.reject(Object.assign(new Error("no"), { name: "EngineError" }));
  await assert.rejects(agent.use(refuse), { message: "no" });
  const used = Array.from({ length: 5 }, () => agent.use(async ({ number }) => number));
  assert.deepEqual(new Set(await Promise.all(used)), new Set([6, 7, 8]), "three engines, without the one that trapped");
});

test("a worker that no longer answers is replaced, and its requests fail", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const workers = [];
  const start = () => {
    workers.push({ sent: [], postMessage: (data) => workers.at(-1).sent.push(data), terminate: () => {} });
    return workers.at(-1);
  };
  const channel = new Channel(start, 10);
  const answer = channel.send("positions", { body: "{}" });
  t.mock.timers.tick(100);
  assert.equal(workers.length, 1, "it may take long to open");
  workers[0].onmessage({ data: { isOpen: true } });
  t.mock.timers.tick(20);
  workers[0].onmessage({ data: {} });
  t.mock.timers.tick(30);
  assert.equal(workers.length, 1);
  t.mock.timers.tick(10);
  assert.equal(workers.length, 2);
  const response = await answer;
  assert.deepEqual([response.status, (await response.json()).error.message], [500, "the rules do not answer"]);
});

test("a reader that has heard of an error hears no more", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const worker = { postMessage() {}, terminate() {} };
  const { send } = new Channel(() => worker);
  const answer = send("analyses", { body: "{}" });
  /** @type {any} */ (worker).onmessage({ data: { id: 1, status: 200 } });
  await (await answer).body.cancel();
  /** @type {any} */ (worker).onmessage({ data: { id: 1, event: "error", data: {} } });
  /** @type {any} */ (worker).onmessage({ data: { id: 1, isOver: true } });
});

test("of moves that the rules fail at, the place is told", () => {
  const game = newGame();
  game.engine.play = (action) => {
    if (game.engine.history.length === 2) throw new Error("no");
    game.engine.history.push(action);
  };
  assert.throws(() => game.describe({ game: "xo", moves: ["a1", "b1", "a2"] }), { message: "no", at: 2 });
});

test("what a browser lacks is named", (t) => {
  globalThis.Worker ??= /** @type {any} */ (class {});
  assert.equal(lacking(), "");
  t.mock.method(WebAssembly, "validate", () => false);
  assert.equal(lacking(), "SIMD in WebAssembly");
});
