// Try it yourself: a move in the place of a mistake, judged by a search of the position after it, with the same
// simulations as the review's.

import { post } from "../../api.js";
import { markOf } from "./report.js";

const PROVEN = { win: 1, draw: 0, loss: -1 };

/**
 * Returns {move, value, loss, mark, isBest} of a try; `value` in [-1, 1] and `loss` in [0, 2] are for who moves.
 *
 * `review` is what the review says of the move that was played.
 */
export async function judge({ game, agent, simulations, moves, review, move, signal }) {
  const { value: best, player } = review;
  if (move === review.best) return { move, value: best, loss: 0, mark: "", isBest: true };
  if (move === review.move) return { move, value: review.played, loss: review.loss, mark: review.mark, isBest: false };
  const after = [...moves, move];
  const { value, isProven } = await valueAfter({ game, agent, simulations, after, player, signal });
  const givesAway = isProven && Math.abs(best) === 1 && value < best;
  return { move, value, loss: Math.max(0, best - value), mark: markOf(best, value, givesAway), isBest: false };
}

async function valueAfter({ game, agent, simulations, after, player, signal }) {
  const position = await post("positions", { game, moves: after }, { signal });
  if (position.result) {
    const { winner } = position.result;
    return { value: winner === null ? 0 : winner === player ? 1 : -1, isProven: true };
  }
  const found = await post("suggestions", { agent, game, moves: after, simulations }, { signal });
  const value = found.proven ? PROVEN[found.proven] : found.value;
  return { value: found.to_move === player ? value : -value, isProven: Boolean(found.proven) };
}
