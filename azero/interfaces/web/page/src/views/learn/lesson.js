// A lesson: the simulations of one search, and the step of them that is shown.

import { post } from "../../api.js";
import { Emitter, useApp } from "../../html.js";

const AHEAD = 6; // simulations that are asked for before they are needed
const MOST = 500; // of a lesson; the server gives no more
const MOST_POSITIONS = 300;

/** The steps of a simulation: [{phase, selection, depth}], with a step for each move that it selects. */
function stepsOf(simulation, method) {
  const { selections, expansion } = simulation;
  const isDrawn = (selection) => method === "uct" && expansion?.depth === selection.depth; // it belongs to the expansion
  return [
    ...selections
      .filter((each) => !isDrawn(each))
      .map((selection) => ({ phase: "select", depth: selection.depth, selection })),
    { phase: "expand", depth: expansion?.depth ?? simulation.path.length, selection: selections.find(isDrawn) ?? null },
    { phase: "evaluate", depth: simulation.path.length },
    { phase: "backup", depth: simulation.path.length },
  ];
}

/** The lesson that the view Learn shows. */
export function useLesson() {
  const { session } = useApp();
  session.lesson ??= new Lesson(session);
  return session.lesson;
}

/**
 * Attributes: `simulations` so far; `at`, the index of the one that is shown, and `stepAt` within it; `ended`: null, or
 * why there are no more: proven, limit; `inspected`: the path of a node that the board shows instead, or null.
 */
export class Lesson extends Emitter {
  positions = new Map();

  constructor(session) {
    super();
    this.session = session;
    this.reset(null);
  }

  reset(wanted) {
    this.asking?.abort();
    this.wanted = wanted;
    this.asking = null;
    this.pending = null;
    this.simulations = [];
    this.at = 0;
    this.stepAt = 0;
    this.rule = null;
    this.ended = null;
    this.error = null;
    this.rolloutPly = null;
    this.inspected = null;
  }

  /** Ends the lesson. */
  clear() {
    this.reset(null);
    this.changed();
  }

  /** Begins a lesson. `wanted`: {game, moves, method, agent?, c?, seed}; `place`: where, or null. */
  async begin(wanted, place = null) {
    this.reset(wanted);
    this.changed();
    await this.more();
    if (place && wanted === this.wanted) await this.goTo(place);
  }

  /** "12.3" for the third step of the twelfth simulation; null before there is one. */
  get place() {
    return this.current && `${this.at + 1}.${this.stepAt + 1}`;
  }

  /** Goes to such a place, or as near as there is one. */
  async goTo(place) {
    const [, number, step] = /^(\d{1,3})\.(\d{1,3})$/.exec(place) ?? [];
    if (!number) return;
    const { wanted } = this;
    await this.reach(Number(number) - 1);
    if (wanted !== this.wanted || !this.simulations.length) return;
    const at = Math.max(0, Math.min(this.simulations.length, Number(number)) - 1);
    const last = stepsOf(this.simulations[at], this.method).length - 1;
    this.show(at, Math.max(0, Math.min(last, Number(step) - 1)));
  }

  get method() {
    return this.wanted?.method ?? "uct";
  }

  /** The players' names. */
  get names() {
    return this.session.game.players.map(({ name }) => name);
  }

  get current() {
    return this.simulations[this.at] ?? null;
  }

  get steps() {
    return this.current ? stepsOf(this.current, this.method) : [];
  }

  get step() {
    return this.steps[this.stepAt] ?? null;
  }

  get isOver() {
    return this.ended !== null && this.at >= this.simulations.length - 1 && this.stepAt >= this.steps.length - 1;
  }

  /** Gets further simulations, if there are any. */
  more() {
    if (this.ended || !this.wanted) return Promise.resolve();
    if (this.pending) return this.pending;
    const pending = this.ask().finally(() => {
      if (this.pending === pending) this.pending = null; // a later lesson may have asked meanwhile
    });
    this.pending = pending;
    return pending;
  }

  async ask() {
    const { wanted } = this;
    const first = this.simulations.length + 1;
    this.asking = new AbortController();
    try {
      const answer = await post(
        "simulations",
        { ...wanted, first, count: first === 1 ? 4 : 30 },
        { signal: this.asking.signal },
      );
      if (wanted !== this.wanted) return;
      this.simulations = [...this.simulations, ...answer.simulations];
      this.rule = answer.rule;
      const isShort = answer.ended === "limit" && !answer.simulations.length;
      this.ended = answer.ended === "proven" ? "proven" : isShort || this.simulations.length >= MOST ? "limit" : null;
    } catch (error) {
      if (error.name === "AbortError" || wanted !== this.wanted) return;
      this.error = error;
      this.ended = "limit";
    }
    this.changed();
  }

  /** Goes to a simulation, getting it first if necessary; returns whether it is there. */
  async reach(at) {
    const { wanted } = this;
    while (at >= this.simulations.length && !this.ended && wanted && wanted === this.wanted) await this.more();
    if (at + AHEAD >= this.simulations.length) this.more();
    return at < this.simulations.length;
  }

  show(at, stepAt) {
    Object.assign(this, { at, stepAt, rolloutPly: null });
    this.changed();
    return true;
  }

  async next() {
    if (this.stepAt + 1 < this.steps.length) return this.show(this.at, this.stepAt + 1);
    return this.nextSimulation(0);
  }

  /** Shows the next simulation, at its first step, or at the last one if `stepAt` is -1. */
  async nextSimulation(stepAt = 0) {
    return this.run(1, stepAt);
  }

  back() {
    if (this.stepAt > 0) return this.show(this.at, this.stepAt - 1);
    return this.at > 0 && this.show(this.at - 1, stepsOf(this.simulations[this.at - 1], this.method).length - 1);
  }

  previousSimulation() {
    return this.show(this.stepAt > 0 ? this.at : Math.max(0, this.at - 1), 0);
  }

  /** Goes forward by `count` simulations, or as far as there are any; returns whether anything was left. */
  async run(count, stepAt = -1) {
    const { wanted } = this;
    const to = this.at + count;
    const isThere = await this.reach(to);
    if (wanted !== this.wanted || !this.simulations.length) return false;
    const at = isThere ? to : this.simulations.length - 1;
    const last = stepsOf(this.simulations[at], this.method).length - 1;
    if (!isThere && at === this.at && this.stepAt === last) return false;
    return this.show(at, isThere && stepAt >= 0 ? stepAt : last);
  }

  first() {
    return this.show(0, 0);
  }

  last() {
    return (
      this.simulations.length > 0 &&
      this.show(this.simulations.length - 1, stepsOf(this.simulations.at(-1), this.method).length - 1)
    );
  }

  /** Shows the position after so many moves of the rollout. */
  setRolloutPly(ply) {
    this.rolloutPly = ply;
    this.changed();
  }

  inspect(path) {
    this.inspected = path;
    this.changed();
  }

  /** The position after further moves; null while it is on its way, and if the server refuses it. */
  position(moves) {
    const key = moves.join(" ");
    if (!this.positions.has(key)) this.fetchPosition(key, moves);
    return this.positions.get(key);
  }

  async fetchPosition(key, moves) {
    const { wanted } = this;
    if (this.positions.size > MOST_POSITIONS) this.positions.clear();
    this.positions.set(key, null);
    const position = await post("positions", { game: wanted.game, moves: [...wanted.moves, ...moves] }).catch(
      () => null,
    );
    if (position === null || wanted !== this.wanted) return;
    this.positions.set(key, position);
    this.changed();
  }
}
