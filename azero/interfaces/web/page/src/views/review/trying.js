// Try it yourself: a move in the place of a mistake, judged by a review of this move alone.

import { stream } from "../../api.js";
import { isError } from "./report.js";

/**
 * Returns {move, value, loss, mark, isBest} of a try; `value` in [-1, 1] and `loss` in [0, 2] are for who moves, and
 * `mark` is the glyph of an error or empty. Throws AbortError if the signal is aborted.
 *
 * `position` is the text of the position before the move. `review` is what the review says of the move that was played.
 */
export async function judge({ game, agent, simulations, position, review, move, signal }) {
  if (move === review.best) return { move, value: review.value, loss: 0, mark: "", isBest: true };
  const judged = move === review.move ? review : await reviewOf({ agent, game, position, moves: [move], simulations }, signal);
  return { move, value: judged.played, loss: judged.loss, mark: isError(judged) ? judged.mark : "", isBest: false };
}

/** The review of a game of one move. */
async function reviewOf(body, signal) {
  let [found, problem] = [null, new DOMException("aborted", "AbortError")];
  await stream("reviews", body, { signal, onDone: ({ moves }) => ([found] = moves), onError: (error) => (problem = error) });
  if (!found) throw problem;
  return found;
}
