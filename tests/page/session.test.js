// The session that walks a game, and the requests that it makes.

import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import { connection, get } from "../../azero/interfaces/web/page/src/api.js";
import { Session } from "../../azero/interfaces/web/page/src/game/session.js";
import { GameTree } from "../../azero/interfaces/web/page/src/game/tree.js";

afterEach(() => mock.reset());

const json = (body, status = 200) => new Response(JSON.stringify(body), { status });

/** A server of a game whose moves are digits, each of which may be played once; "12" is the moves 1 and 2. */
function answer(url, { body = "" } = {}) {
  if (!String(url).endsWith("/positions")) return json(url.includes("agents") ? [] : { id: "digits" });
  const words = JSON.parse(body).moves;
  const moves = words.flatMap((word) => [...word]);
  const at = moves.findIndex((move, k) => !/[1-9]/.test(move) || moves.indexOf(move) < k);
  if (at >= 0) return json({ error: { code: "illegal_move", message: "not legal", at, value: moves[at] } }, 422);
  const counts = words.map((word) => word.length);
  return json({ moves, counts, movers: moves.map((_, k) => k % 2), to_move: moves.length % 2, ply: moves.length });
}

async function sessionOf(text) {
  mock.method(globalThis, "fetch", async (url, options) => answer(url, options));
  const session = new Session();
  await session.setGame("digits", GameTree.fromText(text));
  return session;
}

test("a session walks its line, and knows who played each move", async () => {
  const session = await sessionOf("1 2(5)3");
  assert.deepEqual([session.moves, session.position.to_move], [["1", "2", "3"], 1]);
  await session.first();
  await session.forward();
  assert.deepEqual([session.moves, session.node.player, session.isSettled], [["1"], 0, true]);
  await session.last();
  await session.back();
  await session.play("7");
  assert.deepEqual([session.moves, session.tree.toText()], [["1", "2", "7"], "1 2(5)3(7)"]);
});

test("of a line with a move that is not legal, the legal part is shown", async () => {
  for (const [text, moves, at] of [
    ["4 5 x 6", ["4", "5"], 2],
    ["4 5 4", ["4", "5"], 2],
    ["x", [], 0],
  ]) {
    const session = await sessionOf(text);
    assert.deepEqual([session.moves, session.error.code, session.error.at], [moves, "illegal_move", at]);
    assert.equal(session.tree.toText(), moves.join(" "));
    session.forgetError();
    assert.equal(session.error, null);
  }
});

test("moves that the server refuses are gone again", async () => {
  const session = await sessionOf("1 2");
  await session.play("3", "3");
  assert.deepEqual([session.moves, session.tree.toText()], [["1", "2", "3"], "1 2 3"]);
  await session.play("2");
  assert.deepEqual([session.moves, session.tree.toText(), session.error.value], [["1", "2", "3"], "1 2 3", "2"]);
});

test("a word of a link may be several moves, with variations", async () => {
  const session = await sessionOf("123(4)5");
  assert.deepEqual(session.moves, ["1", "2", "3", "5"]);
  assert.equal(session.tree.toText(), "1(4)2 3 5");
});

test("a position that comes late does not take the place of the one on the board", async () => {
  const session = await sessionOf("1 2 3");
  const late = [];
  mock.method(
    globalThis,
    "fetch",
    (url, options) => new Promise((done) => late.push(() => done(answer(url, options)))),
  );
  const [first, second] = [session.goTo(session.node.parent), session.goTo(session.tree.root)];
  late[1]();
  await second;
  late[0]();
  await first;
  assert.deepEqual([session.position.ply, session.moves], [0, []]);
});

test("a request that is given up does not reconnect for ever", async () => {
  mock.method(globalThis, "fetch", async () => Promise.reject(new TypeError("no network")));
  const controller = new AbortController();
  const asked = get("games", { signal: controller.signal });
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(connection.isLost, true);
  controller.abort();
  await assert.rejects(asked, { name: "AbortError" });
  assert.equal(connection.isLost, false);
});
