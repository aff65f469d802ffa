// How clicks become actions.

import assert from "node:assert/strict";
import { test } from "node:test";

Object.assign(globalThis, { document: { addEventListener: () => {} } }); // keys are listened to
const { click, meantBy, targets, whyNot } = await import("../../azero/interfaces/web/page/src/board/Grid.js");

const pictureOf = (all, more = {}) => ({
  actions: all.map((cells, action) => ({ action, cells, move: cells.join("-") })),
  cells: ["a1", "b1", "c1", "d1"].map((name) => ({ name })),
  steps: [],
  players: [{ name: "Black" }, { name: "White" }],
  ...more,
});

test("a click on a column means the hole in which the disc would land", () => {
  const picture = pictureOf([[1]], { drops: [[0, 1, 2], [3]] });
  assert.deepEqual(
    [0, 2, 3].map((cell) => meantBy(picture, cell)),
    [1, 1, 3],
  );
  assert.equal(click(picture, [], 2).action.action, 0);
  assert.equal(click(picture, [], 3).kind, "illegal", "the column is full");
});

test("a move of several cells is chosen step by step, and begun again at another piece", () => {
  const picture = pictureOf([
    [0, 1, 2],
    [0, 1, 3],
    [1, 2, 3],
  ]);
  assert.deepEqual([...targets(picture, [])], [0, 1]);
  assert.deepEqual(click(picture, [], 0), { kind: "choose", chosen: [0] });
  assert.deepEqual([...targets(picture, [0, 1])], [2, 3]);
  assert.equal(click(picture, [0, 1], 3).action.action, 1);
  assert.deepEqual(click(picture, [0], 0), { kind: "choose", chosen: [] }, "it is put down");
  assert.deepEqual(click(picture, [1], 0), { kind: "choose", chosen: [0] }, "another piece");
  assert.equal(click(picture, [0], 3).kind, "illegal");
});

test("a click that fits several actions opens a menu; actions without cells are for buttons", () => {
  const picture = pictureOf([[0], [0], [2], []]);
  const { kind, actions } = click(picture, [], 0);
  assert.deepEqual([kind, actions.map(({ action }) => action)], ["menu", [0, 1]]);
  assert.deepEqual([...targets(picture, [])], [0, 2]);
});

test("a click that does nothing says why", () => {
  const black = { kind: "stone", player: 0 };
  const placing = pictureOf([[0]]);
  const moving = pictureOf([[0, 1]], { steps: ["From", "To"] });
  assert.equal(whyNot(placing, 1, black, 0), "b1 is taken by black stone.");
  assert.equal(whyNot(moving, 1, black, 1), "b1 is not yours: black stone.");
  assert.equal(whyNot(moving, 1, black, 0), "black stone on b1 has no move.");
  assert.equal(whyNot(moving, 1, undefined, 0), "b1 cannot be played now.");
});
