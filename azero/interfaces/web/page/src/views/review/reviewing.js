// Reviews of a line of the session: a stream brings the moves one by one. Stop keeps what is there.

import { stream } from "../../api.js";
import { Emitter } from "../../html.js";
import { Pacer } from "../../panel/calm.js";

/** The agent that reviews: a wanted one, or the first that judges positions; null if none does. */
export function reviewerOf(session, wanted) {
  const { judges } = session;
  return (judges.find(({ id }) => id === wanted) ?? judges[0])?.id ?? null;
}

export const SIMULATIONS = [50, 100, 400, 1000, 3000, 10_000];

/** The review that the view Review shows. */
export function reviewOf(session) {
  session.review ??= new LineReview(session);
  return session.review;
}

/** Opens the view Review; a review of the line on the page begins at once. */
export function showReview(app) {
  const { session } = app;
  const [review, agent] = [reviewOf(session), reviewerOf(session, app.agent)];
  review.takeUp();
  if (agent && !review.isOfLine) review.start(agent);
  app.setView("review");
}

export class LineReview extends Emitter {
  /** `marks`: whether it writes its glyphs into the session's tree. */
  constructor(session, { simulations = 400, marks = true } = {}) {
    super();
    this.session = session;
    this.simulations = simulations;
    this.marks = marks;
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
    this.searched = null; // simulations of each of its positions; `simulations` are those of the next review
    this.stage = null;
    this.error = null;
  }

  get isRunning() {
    return this.controller !== null;
  }

  get numReviewed() {
    return this.moves.filter(Boolean).length;
  }

  /** Whether it is about the tree that is on the page. */
  get isCurrent() {
    return this.tree !== null && this.tree === this.session.tree;
  }

  /** Whether it has reviewed the line on the page, or goes on with it. */
  get isOfLine() {
    const { tree, node } = this.session;
    return this.isCurrent && (this.whole !== null || this.isRunning) && this.nodes.at(-1) === tree.lineOf(node).at(-1);
  }

  /** The index in `nodes` of the move in question at the current node: the next of the line; -1 off the line. */
  get asked() {
    const { node, tree } = this.session;
    if (!this.isCurrent) return -1;
    return node === tree.root ? 0 : this.nodes.indexOf(node) + 1 || -1;
  }

  /** What is kept with the game; null if there is nothing, or if its moves have been deleted. */
  get kept() {
    const { tree, agent, searched, nodes, moves, whole, isRunning } = this;
    if (!this.isCurrent || !tree.has(nodes.at(-1))) return null;
    const place = tree.placeOf(nodes.at(-1));
    return {
      agent,
      searched,
      place,
      numMoves: nodes.length,
      moves,
      whole: whole && { ...whole, moves: undefined },
      isRunning,
    };
  }

  /** Goes on with the review that was kept with the game, if there is one; what was running begins again. */
  takeUp() {
    const { tree } = this.session;
    const { review } = tree.kept;
    if (!review) return;
    tree.kept.review = null;
    const nodes = tree.lineOf(tree.nodeAt(review.place)).slice(0, review.numMoves);
    if (!nodes.length) return;
    this.stop();
    this.clear();
    const { agent, searched, isRunning } = review;
    const moves = review.moves.slice(0, nodes.length);
    Object.assign(this, {
      tree,
      nodes,
      agent,
      searched,
      simulations: searched,
      moves,
      whole: review.whole && { ...review.whole, moves },
    });
    if (isRunning) this.start(agent, nodes);
    this.changed();
  }

  /** Reviews the line of the current node. */
  start(agent, nodes = this.session.tree.lineOf(this.session.node)) {
    this.stop();
    this.clear();
    if (!nodes.length) return;
    const { session } = this;
    const controller = new AbortController();
    Object.assign(this, { controller, tree: session.tree, nodes, agent, searched: this.simulations });
    const ifCurrent = (take) => (data) => {
      if (this.controller !== controller) return;
      take(data);
      this.pacer.push();
    };
    const body = { agent, game: session.game.id, moves: nodes.map((node) => node.move), simulations: this.searched };
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
    if (this.marks && (node.isMarkedByReview ?? !node.mark))
      Object.assign(node, { mark: move.mark, isMarkedByReview: true });
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
