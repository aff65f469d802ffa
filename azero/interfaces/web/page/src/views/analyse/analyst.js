// The analysis of the position on the board, by one agent or by two. It follows the session, and lasts as long as it.

import { stream } from "../../api.js";
import { Emitter } from "../../html.js";
import { Pacer } from "../../panel/calm.js";
import { opinionOf, opinionOfResult } from "../../panel/Headline.js";

/** One agent's analysis of one position: a stream, its newest update, its stage. Other positions' updates are dropped. */
class Slot {
  /** `onChange(isAtOnce)` is called with each change; `onUpdate(update)` with each update, before it is shown. */
  constructor(onChange, onUpdate) {
    this.onChange = onChange;
    this.onUpdate = onUpdate;
    this.controller = null;
    this.key = null; // what the stream analyses
    this.openedFor = null; // key and limit of the last stream
    this.clear();
  }

  clear() {
    this.latest = null; // the newest update
    this.shown = null; // the update on the page
    this.stage = null;
    this.error = null;
    this.reason = null; // why it ended by itself
  }

  /** Whether its search has ended by itself. */
  get hasEnded() {
    return this.reason !== null || this.error !== null;
  }

  /** Analyses a position; `known` is shown until the first update comes. */
  open(key, body, known) {
    this.close();
    this.clear();
    this.key = key;
    this.latest = this.shown = known;
    const controller = new AbortController();
    this.controller = controller;
    const ifCurrent = (take) => (data) => {
      if (this.controller === controller) take(data);
    };
    stream("analyses", body, {
      signal: controller.signal,
      onStage: ifCurrent((stage) => {
        this.stage = stage.stage === "searching" ? null : stage;
        this.onChange(true);
      }),
      onUpdate: ifCurrent((update) => {
        this.latest = update;
        this.stage = null;
        this.onUpdate(key, update);
        this.onChange(false);
      }),
      onDone: ifCurrent(({ reason }) => {
        this.reason = reason;
        this.stage = null;
        this.onChange(false);
      }),
      onError: ifCurrent((error) => {
        this.error = error;
        this.stage = null;
        this.onChange(true);
      }),
    });
    this.onChange(true);
  }

  /** Ends the stream, and with it the search. What is shown stays. */
  close() {
    this.controller?.abort();
    this.controller = null;
    this.key = null;
    this.stage = null;
  }

  /** Ends the stream, and shows what is known of another position. */
  leave(known) {
    this.close();
    this.clear();
    this.latest = this.shown = known;
  }

  /** Shows the newest update. */
  show() {
    this.shown = this.latest;
  }
}

/**
 * Limits that can be chosen: [text, fields of the request].
 * @type {[string, {simulations?: number, seconds?: number}][]}
 */
export const LIMITS = [
  ["no limit", {}],
  ["100 simulations", { simulations: 100 }],
  ["1,000 simulations", { simulations: 1000 }],
  ["10,000 simulations", { simulations: 10_000 }],
  ["100,000 simulations", { simulations: 100_000 }],
  ["5 seconds", { seconds: 5 }],
  ["30 seconds", { seconds: 30 }],
  ["2 minutes", { seconds: 120 }],
];

const FIRST_LIMIT = LIMITS.findIndex(([text]) => text === "2 minutes"); // a page left open ends by itself
const GLANCE = 60; // simulations of a ply that the chart lacks
const HURRY_MS = 200; // a position that is shown for less is not analysed

const MOST = 3000; // opinions
const MOST_UPDATES = 200; // whole updates

/** What agents have said of positions. */
class Opinions {
  constructor() {
    this.opinions = new Map();
    this.updates = new Map();
  }

  static key = (agent, game, moves) => `${agent} ${game} ${moves.join(" ")}`;

  /** Notes an update; fewer simulations never replace more. */
  note(key, update) {
    const known = this.opinions.get(key);
    const opinion = opinionOf(update);
    if (!known || known.simulations <= opinion.simulations) put(this.opinions, key, opinion, MOST);
    const before = this.updates.get(key);
    if (!before || before.simulations <= update.simulations) put(this.updates, key, update, MOST_UPDATES);
  }

  opinion = (key) => this.opinions.get(key) ?? null;
  update = (key) => this.updates.get(key) ?? null;
}

function put(map, key, value, most) {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value);
}

/** The analyst of a session. What was kept of the analysis of its game counts from now on. */
export function analystOf(session) {
  session.analyst ??= new Analyst(session);
  const { kept } = session.tree;
  if (kept.analysis) {
    const { second = null, limit } = kept.analysis;
    Object.assign(session.analyst, { second, limit: LIMITS[limit] ? limit : FIRST_LIMIT });
    kept.analysis = null;
  }
  return session.analyst;
}

class Analyst extends Emitter {
  constructor(session) {
    super();
    this.session = session;
    this.follows = false; // whether it searches each position that the board shows
    this.isShown = false;
    this.limit = FIRST_LIMIT; // index of LIMITS
    this.first = null; // ids of agents
    this.second = null;
    this.opinions = new Opinions();
    this.pacer = new Pacer(() => this.show());
    const onChange = (isAtOnce) => (isAtOnce ? this.changed() : this.pacer.push());
    const onUpdate = (key, update) => this.opinions.note(key, update);
    this.slots = [new Slot(onChange, onUpdate), new Slot(onChange, onUpdate)];
    this.path = null;
    this.movedAt = 0;
    this.timer = null;
    this.glance = null; // AbortController of the request for the chart
    this.furtherAfter = []; // why the slots' searches ended that are to go on
  }

  /** What is kept with the game. */
  get kept() {
    const { second, limit } = this;
    return { second, limit };
  }

  show() {
    this.slots.forEach((slot) => slot.show());
    this.changed();
  }

  get agents() {
    return [this.first, this.second].filter((id) => id !== null);
  }

  /** Whether a search goes on, or begins as soon as the position is known. */
  get isRunning() {
    if (!this.follows || this.isOver) return false;
    return this.glance !== null || this.slots.slice(0, this.agents.length).some((slot) => !slot.hasEnded);
  }

  /** Whether there is nothing to search: the game is over. */
  get isOver() {
    return this.session.isSettled && this.session.position.result !== null;
  }

  key = (agent, node = this.session.node) => Opinions.key(agent, this.session.game.id, this.session.tree.pathTo(node));

  /** What the chart shows for a node: the first agent's opinion, or the result. */
  opinionAt(node) {
    const result = this.resultAt(node);
    return result ? opinionOfResult(result) : this.opinions.opinion(this.key(this.first, node));
  }

  /** The result of a position that has been shown and in which the game is over. */
  resultAt = (node) => (node.children.length ? null : (this.session.cached(node)?.result ?? null));

  set(fields) {
    Object.assign(this, fields);
    this.sync();
    this.changed();
  }

  /** Stops; or begins; or, where a limit was reached, goes on for as much again. */
  toggle = () => {
    if (this.isRunning) return this.set({ follows: false });
    this.follows = true;
    this.again();
  };

  /** Begins when the view opens. */
  begin() {
    Object.assign(this, { isShown: true, follows: true });
  }

  end() {
    this.isShown = false;
    this.sync();
  }

  /** Makes the streams those of what is on the page. Called after each change of session, agents, limit, visibility. */
  sync() {
    const { session } = this;
    const mayRun = this.follows && this.isShown && !document.hidden && session.isSettled && !this.isOver;
    const path = session.game ? this.key(this.agents.join(" ")) : null;
    const isMoved = path !== this.path;
    const now = performance.now();
    if (isMoved) {
      const isHurried = now - this.movedAt < HURRY_MS;
      [this.path, this.movedAt] = [path, now];
      this.slots.forEach((slot, k) => slot.leave(this.known(k)));
      this.stopGlance();
      clearTimeout(this.timer);
      this.timer = isHurried ? setTimeout(() => this.go(), HURRY_MS) : null;
    }
    if (!mayRun) {
      this.slots.forEach((slot) => slot.hasEnded || slot.close());
      this.stopGlance();
    } else if (this.timer === null) this.go();
  }

  known(k) {
    const agent = this.agents[k];
    return agent && this.session.game ? this.opinions.update(this.key(agent)) : null;
  }

  go() {
    this.timer = null;
    const { session } = this;
    if (!this.follows || !this.isShown || !session.isSettled || this.isOver) return;
    this.slots.forEach((slot, k) => {
      const agent = this.agents[k];
      const key = agent ? this.key(agent) : null;
      if (slot.openedFor === `${key} ${this.limit}` && slot.controller) return;
      if (!agent) return slot.leave(null);
      slot.openedFor = `${key} ${this.limit}`;
      const known = this.opinions.update(key);
      slot.open(key, { agent, game: session.game.id, moves: session.moves, ...this.limitOf(k, known) }, known);
    });
    this.fillChart();
  }

  /** Searches again: after an error, or beyond a limit. */
  again() {
    const ended = this.slots.map(({ reason }) => reason);
    this.slots.forEach((slot) => slot.leave(slot.latest));
    this.furtherAfter = ended;
    this.sync();
    this.furtherAfter = [];
    this.changed();
  }

  /** The limit of a slot's request; where its search has reached a number of simulations, as many again. */
  limitOf(k, known) {
    const [, limit] = LIMITS[this.limit];
    const isFurther = this.furtherAfter[k] === "simulations" && limit.simulations && known;
    return isFurther ? { simulations: known.simulations + limit.simulations } : limit;
  }

  /** Looks shortly at the plies of the line that the chart lacks, one after the other. */
  async fillChart() {
    if (this.glance || !this.first || !this.lacking()) return;
    const controller = new AbortController();
    this.glance = controller;
    const { session, first: agent } = this;
    for (let node = this.lacking(); node && !controller.signal.aborted; node = this.lacking()) {
      const key = this.key(agent, node);
      const body = { agent, game: session.game.id, moves: session.tree.pathTo(node), simulations: GLANCE };
      let isFound = false;
      await stream("analyses", body, {
        signal: controller.signal,
        onUpdate: (update) => {
          isFound = true;
          this.opinions.note(key, update);
          this.pacer.push();
        },
      });
      if (!isFound) break;
    }
    if (this.glance !== controller) return;
    this.glance = null;
    this.changed();
  }

  /** The last ply of the line that is known to be legal, goes on, and has no opinion; undefined if there is none. */
  lacking() {
    const { tree, node: current } = this.session;
    const line = [tree.root, ...tree.lineOf(current)];
    const here = line.indexOf(current);
    const mayAsk = (node, ply) => ply < here || (ply > here && this.session.cached(node) && !this.resultAt(node));
    return line.findLast((node, ply) => mayAsk(node, ply) && !this.opinions.opinion(this.key(this.first, node)));
  }

  stopGlance() {
    this.glance?.abort();
    this.glance = null;
  }
}
