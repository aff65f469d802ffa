// The review of a line of the session: a stream that brings the moves one by one. Stop keeps what is there.

import { stream } from "../../api.js";
import { Emitter } from "../../emitter.js";
import { Pacer } from "../../panel/calm.js";

const KNOWN = new WeakMap();

/** The agent that reviews: a wanted one, or the first that judges positions; null if none does. */
export function reviewerOf(session, wanted) {
  const { judges } = session;
  return (judges.find(({ id }) => id === wanted) ?? judges[0])?.id ?? null;
}

export const SIMULATIONS = [50, 100, 400, 1000, 3000, 10_000];

/** The review of a session. */
export function reviewOf(session) {
  if (!KNOWN.has(session)) KNOWN.set(session, new Review(session));
  return KNOWN.get(session);
}

class Review extends Emitter {
  constructor(session) {
    super();
    this.session = session;
    this.simulations = 400;
    this.pacer = new Pacer(() => this.changed());
    this.controller = null;
    this.clear();
  }

  clear() {
    this.tree = null; // whose line it is
    this.nodes = []; // the nodes of the line, one a move
    this.moves = []; // what is said of each move, as far as it has come
    this.whole = null; // the object of the review, once it is done
    this.agent = null;
    this.stage = null;
    this.error = null;
  }

  get isRunning() {
    return this.controller !== null;
  }

  get numReviewed() {
    return this.moves.length;
  }

  /** Whether it is about the tree that is on the page. */
  get isCurrent() {
    return this.tree !== null && this.tree === this.session.tree;
  }

  /** The index in `nodes` of the move in question at the current node: the next of the line; -1 off the line. */
  get asked() {
    const { node, tree } = this.session;
    if (!this.isCurrent) return -1;
    return node === tree.root ? 0 : this.nodes.indexOf(node) + 1 || -1;
  }

  /** Reviews the line of the current node. */
  start(agent) {
    this.stop();
    this.clear();
    const { session } = this;
    const controller = new AbortController();
    const nodes = session.tree.lineOf(session.node);
    Object.assign(this, { controller, tree: session.tree, nodes, agent });
    const ifCurrent = (take) => (data) => {
      if (this.controller !== controller) return;
      take(data);
      this.pacer.push();
    };
    const body = { agent, game: session.game.id, moves: nodes.map((node) => node.move), simulations: this.simulations };
    stream("reviews", body, {
      signal: controller.signal,
      onStage: ifCurrent((stage) => (this.stage = stage.stage === "searching" ? null : stage)),
      onUpdate: ifCurrent((move) => this.take(move)),
      onDone: ifCurrent((whole) => this.finish(whole)),
      onError: ifCurrent((error) => {
        this.error = error;
        this.stop();
      }),
    });
    this.changed();
  }

  take(move) {
    this.stage = null;
    this.moves[move.ply] = move;
    const node = this.nodes[move.ply];
    if (node.isMarkedByReview || !node.mark) Object.assign(node, { mark: move.mark, isMarkedByReview: Boolean(move.mark) });
  }

  finish(whole) {
    if (whole.moves) {
      this.whole = whole;
      whole.moves.forEach((move, ply) => this.take({ ...move, ply }));
    }
    this.controller = null;
  }

  /** Ends the stream; what has come stays. */
  stop = () => {
    this.controller?.abort();
    this.controller = null;
    this.stage = null;
    this.changed();
  };
}
