// Numbers, encodings, and the calm of what is redrawn.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { newOrder, Pacer, settle } from "../../azero/interfaces/web/page/src/panel/calm.js";
import { outcomesOf } from "../../azero/interfaces/web/page/src/panel/Headline.js";
import { percentsOf } from "../../azero/interfaces/web/page/src/score.js";
import { textOf } from "../../azero/interfaces/web/page/src/shell/RecordDialog.js";
import { Lesson } from "../../azero/interfaces/web/page/src/views/learn/lesson.js";

test("shares add up to a hundred", () => {
  const shown = (shares) => percentsOf(shares).join(" ");
  assert.equal(shown([0.505, 0.495]), "51 49");
  assert.equal(shown([0.335, 0.335, 0.33]), "34 33 33");
  assert.equal(shown([0.005, 0.99, 0.005]), "1 99 0");
  assert.equal(shown([1, 0, 0]), "100 0 0");
  assert.deepEqual(outcomesOf({ outcomes: [0.505, 0, 0.495] }), [51, 0, 49]);
});

test("a file is read in the encoding that it tells", () => {
  const files = [
    [Buffer.from("(;GM[2]CA[ISO-8859-1]PB[José])", "latin1"), "José"],
    [Buffer.from("(;GM[2]CA[nothing]PB[José])", "utf8"), "José"],
    [Buffer.from("(;GM[2]CA[UTF-8]PB[José])", "latin1"), "José"],
    [
      Buffer.concat([Buffer.from("(;GM[2]CA[GB2312]PB["), Buffer.from([0xce, 0xa7, 0xc6, 0xe5]), Buffer.from("])")]),
      "围棋",
    ],
  ];
  for (const [bytes, name] of files) {
    const text = textOf(Uint8Array.from(bytes).buffer);
    assert.equal(text.slice(text.indexOf("PB[") + 3, -2), name);
  }
});

test("a lesson that was given up does not ask twice for the next one", async () => {
  const asked = [];
  mock.method(globalThis, "fetch", (_, { body, signal }) => {
    asked.push(JSON.parse(body).first);
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
    });
  });
  const lesson = new Lesson(null);
  lesson.begin({ game: "tic_tac_toe", moves: [], method: "uct", seed: 0 });
  lesson.begin({ game: "tic_tac_toe", moves: [], method: "uct", seed: 1 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  lesson.more();
  assert.deepEqual(asked, [1, 1], "one request for each lesson");
  mock.reset();
});

test("rows change places at most once a second, and not under the pointer", () => {
  let order = settle(newOrder(), "position", ["a", "b"], 0, false);
  order = settle(order, "position", ["b", "a"], 500, false);
  assert.deepEqual(order.names, ["a", "b"]);
  assert.deepEqual(settle(order, "position", ["b", "a"], 1000, true).names, ["a", "b"]);
  assert.deepEqual(settle(order, "position", ["b", "c"], 500, false).names, ["b", "c"]);
  assert.deepEqual(settle(order, "position", ["b", "a"], 1000, false).names, ["b", "a"]);
  assert.deepEqual(settle(order, "another", ["b", "a"], 1, true).names, ["b", "a"]);
});

test("a panel is redrawn with the newest values, not with each", () => {
  let now = 0;
  const shown = [];
  const waiting = [];
  const pacer = new Pacer((value) => shown.push(value), {
    interval: 200,
    now: () => now,
    later: (call) => waiting.push(call),
    cancel: () => waiting.pop(),
  });
  for (const value of [1, 2, 3]) pacer.push(value);
  assert.deepEqual([shown, waiting.length], [[1], 1]);
  now = 200;
  waiting[0]();
  assert.deepEqual(shown, [1, 3]);
});
