// What a published page does without a server: positions, records and reviews over an engine of tic-tac-toe.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Game } from "../../azero/publishing/scripts/positions.js";
import { read, write } from "../../azero/publishing/scripts/records.js";
import { accuracyOf, markOf, volatilitiesOf } from "../../azero/publishing/scripts/reviews.js";

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
