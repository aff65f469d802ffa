// Suggestions, analyses and lessons, in slices: between them the worker hears what else is asked, and what is no more.

import { atLevel } from "../engine.js";
import { Refused } from "./positions.js";

const SLICE_MS = 25;
const FIRST_SLICE = 8; // simulations
const MOST_SLICE = 2048; // also where slices take no time, as the solver's first rounds
const MOST_SIMULATIONS = 10_000_000; // of an analysis
const MOST_SUGGESTED = 20_000; // simulations of a suggestion, or of each position of a review
const SUGGESTION_S = 10;
const ANALYSIS_S = 3600;
const INTERVAL_S = 0.2; // from one report to the next
const FIRST_REPORT_S = 0.06;
const MOST_ENGINES = 3; // of an agent; further searches wait

const HARMLESS = ["EngineError", "Refused", "AbortError"]; // after others an engine may be in any state

const waiting = [];
let turns = null; // a MessageChannel: its messages come after those that wait already, and without the delay of timers

/** Lets messages come in; throws AbortError if the signal is aborted. */
export async function pause(signal) {
  if (!turns) {
    turns = new MessageChannel();
    turns.port1.onmessage = () => waiting.shift()();
  }
  await new Promise((/** @type {(nothing?: any) => void} */ resolve) => {
    waiting.push(resolve);
    turns.port2.postMessage(null);
  });
  signal?.throwIfAborted();
}

/** An agent of the file: what the page knows of it, and engines, each of which searches one position at a time. */
export class Agent {
  #free = [];
  #numOpened = 0;
  #waiting = [];

  /** `open()` returns a promise of an engine. */
  constructor({ about, manifest, open }) {
    this.about = about;
    this.manifest = manifest;
    this.open = open;
  }

  /** Calls `work(engine)` with an engine that nobody else uses. */
  async use(work) {
    const engine = await this.#take();
    let isSound = true;
    try {
      return await work(engine);
    } catch (error) {
      isSound = HARMLESS.includes(error.name);
      throw error;
    } finally {
      if (isSound) this.#free.push(engine);
      else this.#numOpened--;
      this.#waiting.shift()?.();
    }
  }

  async #take() {
    while (!this.#free.length && this.#numOpened === MOST_ENGINES)
      await new Promise((/** @type {(nothing?: any) => void} */ resolve) => this.#waiting.push(resolve));
    if (this.#free.length) return this.#free.pop();
    this.#numOpened++;
    try {
      return await this.open();
    } catch (error) {
      this.#numOpened--;
      this.#waiting.shift()?.();
      throw error;
    }
  }
}

/**
 * Runs a search until it is done, or until `isOver()` says so after a slice.
 * @param {() => boolean} isOver
 */
export async function run(search, signal, isOver = () => false) {
  const sizes = { true: FIRST_SLICE, false: FIRST_SLICE }; // by whether the solver works
  while (!search.isDone) {
    const isSolving = Boolean(search.isSolving);
    const size = sizes[isSolving];
    const begin = performance.now();
    search.run(size);
    const took = performance.now() - begin;
    sizes[isSolving] = Math.max(1, Math.min(2 * size, MOST_SLICE, Math.round((size * SLICE_MS) / Math.max(took, 0.1))));
    if (isOver()) return;
    await pause(signal);
  }
}

/** The object of POST suggestions, from what a search reports of the position after `actions`. */
export function toJson(game, actions, report, elapsed, about) {
  const lines = game.textsOf(
    actions,
    report.moves.map(({ pv }) => pv),
  );
  const moves = report.moves.map((move, k) => ({
    move: lines[k][0],
    visits: move.visits,
    value: move.value,
    prior: move.prior,
    proven: move.proven,
    pv: lines[k],
    is_bound: false,
    proven_plies: move.provenPlies,
  }));
  return {
    game: game.id,
    to_move: report.toMove,
    simulations: report.simulations,
    elapsed_s: elapsed,
    value: report.value,
    best: moves[0].move,
    moves,
    runtime: about.kind === "net" ? "wasm" : null,
    precision: about.kind === "net" ? "fp32" : null,
    ownership: report.heads?.ownership ?? null,
    score: report.heads?.score ?? null,
    simulations_per_s: null,
    proven: report.proven,
  };
}

const secondsSince = (begin) => (performance.now() - begin) / 1000;

/** The line of moves of a request, if the game goes on after it. */
function lineOf(game, asked) {
  const line = game.goTo(asked);
  if (game.engine.toMove() === null)
    throw new Refused(409, "game_over", "there is nothing to search: the game is over");
  return line;
}

/** The answer to POST suggestions. */
export async function suggest(game, agent, asked, signal) {
  const { actions } = lineOf(game, asked);
  return agent.use(async (engine) => {
    signal.throwIfAborted();
    const begin = performance.now();
    engine.goTo(actions);
    const heads = engine.judge()?.heads;
    const report = asked.level
      ? await playAt(engine, agent, asked, signal)
      : await search(engine, agent, asked, signal);
    const elapsed = secondsSince(begin);
    return { ...toJson(game, actions, { ...report, heads }, elapsed, agent.about), seconds: elapsed };
  });
}

function playAt(engine, agent, { level, seed = 0 }, signal) {
  const { levels } = agent.manifest.agent;
  if (!levels) throw new Refused(409, "no_levels", `agent ${agent.about.id} has no levels`);
  const found = level === "adaptive" ? level : levels[level - 1];
  return atLevel(engine, found, BigInt(seed), () => pause(signal));
}

async function search(engine, agent, { simulations, seconds, seed = 0 }, signal) {
  const begin = performance.now();
  const most = simulations ?? agent.about.simulations;
  const found = engine.search({
    settings: "full",
    simulations: Math.min(most || MOST_SUGGESTED, MOST_SUGGESTED),
    seed,
  });
  const limit = Math.min(seconds ?? SUGGESTION_S, SUGGESTION_S);
  await run(found, signal, () => secondsSince(begin) >= limit);
  return found.report();
}

const SEARCHING = { stage: "searching", text: "Searching", elapsed_s: 0, expected_s: null, share: null };

/** The stream of POST analyses; `send(event, data)`. */
export function analyse(game, agent, asked, signal) {
  const { actions } = lineOf(game, asked);
  const limits = {
    simulations: Math.min(asked.simulations ?? MOST_SIMULATIONS, MOST_SIMULATIONS),
    seconds: Math.min(asked.seconds ?? ANALYSIS_S, ANALYSIS_S),
  };
  return (send) =>
    agent.use(async (engine) => {
      signal.throwIfAborted();
      send("stage", SEARCHING);
      const begin = performance.now();
      engine.goTo(actions);
      const { results, heads } = engine.judge() ?? {};
      const draws = results?.[1] ?? null;
      const found = engine.search({ settings: "analysis", simulations: limits.simulations });
      let next = FIRST_REPORT_S;
      let reason = null;
      const tell = (isLast) => {
        const elapsed = secondsSince(begin);
        const report = { ...found.report(), heads };
        const json = toJson(game, actions, report, elapsed, agent.about);
        const outcomes = draws === null ? null : outcomesOf(draws, report.toMove === 0 ? report.value : -report.value);
        const rate = elapsed > 0 ? report.simulations / elapsed : null;
        send("update", { ...json, simulations_per_s: rate, outcomes, is_last: isLast });
      };
      await run(found, signal, () => {
        const elapsed = secondsSince(begin);
        reason = reasonOf(found, limits, elapsed);
        if (reason === null && elapsed >= next && found.simulations > 0) {
          next = elapsed + INTERVAL_S;
          tell(false);
        }
        return reason !== null;
      });
      tell(true);
      send("done", { reason: reason ?? reasonOf(found, limits, 0) ?? "simulations" });
    });
}

function reasonOf(search, { simulations, seconds }, elapsed) {
  if (search.isProven) return "proven";
  if (search.simulations >= simulations) return "simulations";
  if (elapsed >= seconds) return "seconds";
  return search.isFull ? "memory" : null;
}

/** Shares of wins of the first player, draws, and wins of the second; see `outcomes_of` of the server. */
function outcomesOf(draws, value) {
  const d = Math.min(draws, 1 - Math.abs(value));
  return [(1 - d + value) / 2, d, (1 - d - value) / 2];
}

export { lineOf, MOST_SUGGESTED };
