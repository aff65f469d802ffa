// Reviews, as `azero/arena/reviews/review.py` makes them, but for its solver: only searches prove results here.

import { Refused } from "./positions.js";
import { MOST_SUGGESTED, run } from "./searches.js";

/** @type {[string, number][]} the least loss of each mark */
const THRESHOLDS = [
  ["??", 0.3],
  ["?", 0.2],
  ["?!", 0.1],
];
const CLOSE = 1e-9; // rounding: a loss of exactly 0.1 has its mark
const DECIDED = 0.9; // a value that another one beyond it does not make much better or worse
const VALUES = { win: 1, draw: 0, loss: -1 };

/** The mark of a move; empty for none. */
export function markOf(best, played, givesAway) {
  if (givesAway) return "??";
  if (Math.min(best, played) > DECIDED || Math.max(best, played) < -DECIDED) return "";
  return THRESHOLDS.find(([, least]) => best - played >= least - CLOSE)?.[0] ?? "";
}

const [A, B, C] = [103.1668, 0.04354, 3.1669];
const mean = (numbers) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

/** A player's accuracy in [0, 100] from losses in [0, 2] and the weights of the moves; null without moves. */
export function accuracyOf(losses, weights) {
  if (!losses.length) return null;
  const each = losses.map((loss) => Math.min(100, Math.max(0, A * Math.exp(-B * 50 * loss) - C + 1)));
  const harmonic = each.length / each.reduce((sum, accuracy) => sum + 1 / Math.max(accuracy, 1), 0);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return (each.reduce((sum, accuracy, k) => sum + accuracy * weights[k], 0) / total + harmonic) / 2;
}

/** The weight of each move of a game: how much the values vary around it. */
export function volatilitiesOf(values) {
  const points = values.map((value) => 50 * value);
  const size = Math.min(Math.max(Math.floor((points.length - 1) / 10), 2), 8);
  return points.slice(1).map((_, ply) => {
    const end = Math.max(ply + 2, size);
    const window = points.slice(end - size, end);
    const middle = mean(window);
    const deviation = Math.sqrt(mean(window.map((each) => (each - middle) ** 2)));
    return Math.min(Math.max(deviation, 0.5), 12);
  });
}

/** The stream of POST reviews. */
export function review(game, agent, asked, signal) {
  if (!agent.about.judges) throw new Refused(409, "no_judge", `agent ${agent.about.id} does not judge positions`);
  const line = game.goTo(asked);
  if (!line.moves.length) throw new Refused(422, "no_moves", "there is nothing to review: the game has no moves");
  return (send) =>
    agent.use(async (engine) => {
      send("stage", { stage: "searching", text: "Searching", elapsed_s: 0, expected_s: null, share: null });
      const reviewer = new Reviewer(game, engine, asked.simulations ?? agent.about.simulations, signal);
      send("done", await reviewer.review(line, (ply, move) => send("update", { ply, ...move })));
    });
}

class Reviewer {
  constructor(game, engine, simulations, signal) {
    this.game = game;
    this.engine = engine;
    this.signal = signal;
    this.simulations = Math.min(simulations, MOST_SUGGESTED);
    this.found = new Map(); // reports of searches by positions
  }

  async review({ actions, moves, movers }, onMove) {
    const first = actions.length - moves.length;
    const states = moves.map((_, ply) => actions.slice(0, first + ply));
    const reviews = [];
    for (let ply = 0; ply < moves.length; ply++) {
      reviews.push(await this.reviewMove(states[ply], actions[first + ply], movers[ply]));
      onMove(ply, reviews[ply]);
    }
    const values = [];
    for (const state of [...states, actions]) values.push(await this.valueForFirst(state));
    const weights = volatilitiesOf(values);
    const own = (player) => reviews.flatMap((move, ply) => (move.player === player ? [ply] : []));
    const of = (player, all) => own(player).map((ply) => all[ply]);
    const losses = reviews.map(({ loss }) => loss);
    const count = (mark) => [0, 1].map((player) => of(player, reviews).filter((move) => move.mark === mark).length);
    return {
      game: this.game.id,
      moves: reviews,
      accuracy: [0, 1].map((player) => accuracyOf(of(player, losses), of(player, weights))),
      mean_loss: [0, 1].map((player) => (own(player).length ? mean(of(player, losses)) : null)),
      inaccuracies: count("?!"),
      mistakes: count("?"),
      blunders: count("??"),
      values,
    };
  }

  async reviewMove(state, action, player) {
    const ranked = (await this.search(state)).moves;
    const own = await this.judged(state);
    const bestMove = await this.bestOf(state, ranked, own);
    const isBest = action === bestMove.action;
    const best = await this.after(state, bestMove.action, player);
    const played = await this.after(state, action, player);
    const value = own.isProven ? own.value : best.value; // the best move reaches what is proven
    let playedValue = isBest ? value : played.value;
    if (own.isProven) playedValue = Math.min(playedValue, value);
    const givesAway = (own.isProven || best.isProven) && played.isProven && playedValue < value;
    let mark = isBest || ranked.length === 1 ? "" : markOf(value, playedValue, givesAway);
    if (isBest && (await this.isOnlyMove(state, ranked, own.isProven, bestMove, value, player))) mark = "!";
    const [[text], line] = this.game.textsOf(state, [[action], bestMove.pv]);
    const loss = Math.max(0, value - playedValue);
    return { player, move: text, best: line[0], line, value, played: playedValue, loss, mark, is_random: false };
  }

  /** The first move in the ranking that is not proven to give away a proven result. */
  async bestOf(state, ranked, own) {
    if (!own.isProven) return ranked[0];
    const player = await this.moverAt(state);
    for (const move of ranked) {
      const after = await this.after(state, move.action, player);
      if (!after.isProven || after.value >= own.value) return move;
    }
    return ranked[0];
  }

  /** Whether every other move would be a blunder. */
  async isOnlyMove(state, ranked, isProven, best, value, player) {
    const others = ranked.filter(({ action }) => action !== best.action);
    for (const { action } of others) {
      const other = await this.after(state, action, player);
      if (markOf(value, other.value, isProven && other.isProven && other.value < value) !== "??") return false;
    }
    return others.length > 0;
  }

  moverAt(state) {
    this.engine.goTo(state);
    return this.engine.toMove();
  }

  /** The position after an action, for the player who moved. */
  async after(state, action, player) {
    const actions = [...state, action];
    this.engine.goTo(actions);
    const outcome = this.engine.outcome();
    if (outcome !== null) return { value: player === 0 ? outcome : 0 - outcome, isProven: true };
    const mover = this.engine.toMove();
    const { value, isProven } = await this.judged(actions);
    return { value: mover === player ? value : 0 - value, isProven };
  }

  async valueForFirst(state) {
    this.engine.goTo(state);
    const outcome = this.engine.outcome();
    if (outcome !== null) return outcome;
    const mover = this.engine.toMove();
    const { value } = await this.judged(state);
    return mover === 0 ? value : 0 - value;
  }

  async judged(state) {
    const { proven, value } = await this.search(state);
    return proven === null ? { value, isProven: false } : { value: VALUES[proven], isProven: true };
  }

  /** What the agent says of a position, which it searches once. */
  async search(state) {
    this.engine.goTo(state);
    const key = this.game.isHistoryFree ? String(this.engine.key()) : state.join(" ");
    if (!this.found.has(key)) {
      const search = this.engine.search({ settings: "full", simulations: this.simulations });
      await run(search, this.signal);
      this.found.set(key, search.report());
    }
    return this.found.get(key);
  }
}
