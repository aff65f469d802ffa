// The tree of moves, its links, clocks, and a game in play.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { GameTree, nodesOfRecord } from "../../azero/interfaces/web/page/src/game/tree.js";
import { pack, readLink, unpack, writeLink } from "../../azero/interfaces/web/page/src/router.js";
import { Clocks, formatClock } from "../../azero/interfaces/web/page/src/views/play/clocks.js";
import { askAgent, PlayGame } from "../../azero/interfaces/web/page/src/views/play/game.js";

test("a tree is the same after it was text", () => {
  for (const text of ["", "e5 e3 g4(c5 b6)c6", "a1 b1(c1 e1)(d1)f1"]) {
    assert.equal(GameTree.fromText(text).toText(), text);
  }
});

test("each node is at its place, and is found there", () => {
  const tree = GameTree.fromText("e5 e3 g4(c5 b6)c6(d1)(d2)");
  for (const node of tree.nodes()) assert.equal(tree.nodeAt(tree.placeOf(node)), node);
});

test("a move that was taken back twice takes no other with it", () => {
  const tree = GameTree.fromText("a1 b1(c1)");
  const [first] = tree.root.children[0].children;
  tree.remove(first);
  tree.remove(first);
  assert.equal(tree.toText(), "a1 c1");
});

test("a tree is the same after it was a record", () => {
  const tree = GameTree.fromText("e5 e3 g4(c5(d1)b6)c6");
  const node = tree.nodeAt("3a2");
  Object.assign(node, { comment: "a <b>word</b>", mark: "?!", name: "other", value: 0.5 });
  const record = JSON.parse(JSON.stringify(nodesOfRecord(tree.root)));
  const again = GameTree.fromRecord(record);
  assert.equal(again.toText(), tree.toText());
  assert.deepEqual(nodesOfRecord(again.root), record);
  assert.deepEqual(again.notes, tree.notes);
});

test("a link leads back to what it was made of, packed or not", async () => {
  const tree = GameTree.fromText("4 4 5(3 3)6");
  const node = tree.nodeAt("3");
  const learn = { method: "uct", c: 1.5, seed: 7, place: "2.1" };
  const link = writeLink({ view: "learn", game: "connect_four", tree, node, agent: "uct@1000", learn });
  const long = `${link}&x=${"y".repeat(2000)}`;
  globalThis.window = globalThis;
  const packed = await pack(long);
  assert.ok(packed.length < long.length);
  assert.equal(await unpack(packed), long);
  const found = readLink(await unpack(link));
  assert.deepEqual([found.view, found.game, found.agent, found.learn], ["learn", "connect_four", "uct@1000", learn]);
  assert.equal(found.tree.toText(), tree.toText());
  assert.equal(found.tree.placeOf(found.tree.nodeAt(found.place)), "3");
  await assert.rejects(unpack("#z=nonsense"), /the link is damaged/);
  assert.throws(() => readLink("#m=%zz"), /the link is damaged/);
});

test("a link holds moves as every game writes them", () => {
  for (const text of ["d1-d7/g7 a4-a5/b6", "a1-a2 b3xb4", "e5 pass", "f6 swap", "4 4(3 5)2", "0 2 1", "Nf3+ O-O #x"]) {
    const tree = GameTree.fromText(text);
    const node = tree.mainLine().at(-1);
    const found = readLink(writeLink({ game: "own:a&b=c", tree, node, agent: "run:my run@5", learn: null }));
    assert.deepEqual([found.tree.toText(), found.game, found.agent], [text, "own:a&b=c", "run:my run@5"]);
    assert.equal(found.tree.nodeAt(found.place).move, node.move);
  }
});

test("a link that was tampered with still has a tree and a place in it, or is refused in a line", () => {
  for (const link of [
    "#m=4 4(((((",
    "#m=)))",
    "#m=4 4&at=9999999",
    "#m=4 4&at=-1a2b",
    "#v=<b>&g=../../etc",
    "#=",
    "#",
  ]) {
    const { tree, place } = readLink(link);
    assert.ok(tree.has(tree.nodeAt(place)), link);
  }
  for (const moves of ["4 ".repeat(5000), "1 2(".repeat(20_000)]) {
    assert.throws(() => readLink(`#m=${moves}`), /the link has too many moves/);
  }
});

test("clocks stand still until the first move, count down, and gain the increment after it", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  mock.method(performance, "now", () => now);
  const flagged = [];
  const clocks = new Clocks({ minutes: 1, increment: 2 }, null, (player) => flagged.push(player));
  clocks.gain(0);
  assert.equal(clocks.both, null);
  clocks.run(1);
  now += 10_000;
  assert.deepEqual(clocks.both, [60_000, 50_000]);
  clocks.gain(1);
  clocks.run(0);
  now += 60_000;
  mock.timers.tick(60_000);
  assert.deepEqual([flagged, clocks.both], [[0], [0, 52_000]]);
  mock.reset();
  mock.timers.reset();
});

test("a clock shows tenths below ten seconds", () => {
  assert.deepEqual([0, 9850, 10_000, 251_100].map(formatClock), ["0.0", "9.8", "0:10", "4:12"]);
});

test("an answer that comes at another position is not played", async () => {
  for (const goesBack of [false, true]) {
    const played = [];
    let answer;
    mock.method(globalThis, "fetch", () => new Promise((resolve) => (answer = resolve)));
    const session = { node: {}, game: { id: "tic_tac_toe" }, moves: [], isSettled: true, error: null };
    const game = { session, players: [{ agent: "x" }], move: (moves) => played.push(moves), thinking: null };
    const asked = askAgent({ ...game, cancel() {}, changed() {} }, 0);
    if (goesBack) session.node = {}; // its position has not come yet
    answer(new Response(JSON.stringify({ best: "a1", moves: [{ move: "a1", pv: ["a1"] }] })));
    await asked;
    assert.equal(played.length, goesBack ? 0 : 1);
    mock.reset();
  }
});

test("who has lost or won meanwhile cannot resign", () => {
  const given = [];
  const play = { giveUp: () => given.push(1), human: 0, titleOf: () => "You", nameOfSide: () => "X" };
  for (const isOver of [true, false]) PlayGame.prototype.resign.call({ ...play, isOver });
  assert.equal(given.length, 1);
});
