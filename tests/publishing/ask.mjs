// Answers questions about a published agent: node ask.mjs STEM. A line of JSON gives a line of JSON.
import crypto from "node:crypto";
import fs from "node:fs";
import readline from "node:readline";
import { Engine, atLevel } from "../../azero/publishing/engine.js";

const stem = process.argv[2];
const read = (end) => fs.readFileSync(`${stem}.${end}`);
const engine = await Engine.open({ manifest: JSON.parse(read("json")), wasm: read("wasm"), weights: read("weights") });
const digest = (bytes) => crypto.createHash("sha1").update(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)).digest("hex");

/** Stands in for a net: numbers from a hash of the planes, which are the same in Python and JavaScript. */
function lookUp(row) {
  const { numActions, planes: [C, H, W] } = engine.manifest.game, size = C * H * W;
  const planes = engine._view("batch_planes").subarray(row * size, (row + 1) * size);
  let hash = 0;
  planes.forEach((value, k) => (hash = (hash + Math.imul(k + 1, 40503) * Math.round(8 * value)) >>> 0));
  const logits = engine._view("logits");
  for (let a = 0; a < numActions; a++) logits[row * numActions + a] = ((Math.imul(hash, 2 * a + 7919) >>> 8) & 0xffff) / 8192 - 4;
  engine._view("values")[row] = ((Math.imul(hash, 69069) >>> 8) & 0xffff) / 32768 - 1;
}

const answers = {
  /** What is known of each position of a game; of the moves, only at every so many plies. */
  game({ actions, every = 1 }) {
    engine.reset();
    return [null, ...actions].map((action, ply) => {
      if (action !== null) engine.play(action);
      const score = engine.score();
      const ofMoves = ply % every === 0 ? [engine.targets(), engine.winsInOne()] : [];
      return [engine.legal(), engine.toMove(), engine.outcome(), String(engine.key()), score, digest(engine.state()), digest(engine.planes()), ...ofMoves];
    });
  },
  /** Milliseconds of an evaluation by the net, the median of nine series. */
  speed({ actions }) {
    engine.goTo(actions);
    engine.judge();
    const times = Array.from({ length: 9 }, () => {
      const begin = performance.now();
      for (let k = 0; k < 20; k++) engine._call("evaluate", 0);
      return (performance.now() - begin) / 20;
    });
    return times.sort((a, b) => a - b)[4];
  },
  search({ actions, isTable, ...options }) {
    engine.goTo(actions);
    const search = engine.search(options);
    if (isTable) search._evaluate = lookUp;
    while (!search.run(37));
    return { ...search.report(), played: search.choose(options.temperature ?? 0) };
  },
  judge({ actions }) {
    engine.goTo(actions);
    const { policy, ...others } = engine.judge();
    return { policy: Array.from(policy), ...others };
  },
  shown({ actions, count, isTable, ...options }) {
    engine.goTo(actions);
    const search = engine.search({ settings: "shown", ...options });
    if (isTable) search._evaluate = lookUp;
    return Array.from({ length: count }, () => search.simulation());
  },
  async level({ actions, level, seed }) {
    engine.goTo(actions);
    return atLevel(engine, level, BigInt(seed));
  },
  fails({ actions, simulations, seed = 0 }) {
    try {
      engine.goTo(actions);
      if (simulations) {
        const search = engine.search({ simulations, seed });
        while (!search.run());
      }
    } catch (error) {
      return { message: error.message, kind: error.kind, history: error.history, path: error.path };
    }
    return null;
  },
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { ask, ...question } = JSON.parse(line);
  console.log(JSON.stringify(await answers[ask](question)));
}
