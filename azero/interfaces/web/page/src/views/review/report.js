// What a review says, from the moves that its stream has brought so far. Pure.

import { stream } from "../../api.js";
import { cellsOf, movesPieces, overlayOfLine } from "../../panel/overlays.js";
import { forFirst, scoreOf } from "../../score.js";

/**
 * Returns {move, value, loss, mark, isBest} of a try; `value` in [-1, 1] and `loss` in [0, 2] are for who moves, and
 * `mark` is the glyph of an error or empty. Throws AbortError if the signal is aborted.
 *
 * `position` is the text of the position before the move. `review` is what the review says of the move that was played.
 */
export async function judge({ game, agent, simulations, position, review, move, signal }) {
  if (move === review.best) return { move, value: review.value, loss: 0, mark: "", isBest: true };
  const judged =
    move === review.move ? review : await reviewOfMove({ agent, game, position, moves: [move], simulations }, signal);
  return { move, value: judged.played, loss: judged.loss, mark: isError(judged) ? judged.mark : "", isBest: false };
}

/** The review of a game of one move. */
async function reviewOfMove(body, signal) {
  let [found, problem] = [null, new DOMException("aborted", "AbortError")];
  await stream("reviews", body, {
    signal,
    onDone: ({ moves }) => ([found] = moves),
    onError: (error) => (problem = error),
  });
  if (!found) throw problem;
  return found;
}

/** `isHidden` hides the better move; `attempt` is a judged try, which is marked instead of the move that was played. */
export function reviewOverlay({ picture, review, showsLine, isHidden, attempt }) {
  if (showsLine && !isHidden) return { hidesTargets: true, ...overlayOfLine(picture, review.player, review.line) };
  const marks = [];
  const arrows = [];
  const add = (move, kind, text, glyph) => {
    const cells = cellsOf(picture, { move, pv: [move] });
    if (!cells.length) return;
    const to = movesPieces(picture) ? (cells[1] ?? cells[0]) : cells.at(-1);
    if (movesPieces(picture) && cells[0] !== to)
      arrows.push({ from: cells[0], to, width: kind === "best" ? 0.14 : 0.1, kind });
    marks.push({ cells: [to], text, share: 0, kind, glyph });
  };
  const glyph = isError(review) ? review.mark : null;
  if (!isHidden) add(review.best, "best", scoreWord(review.value), review.move === review.best ? review.mark : null);
  if (attempt) add(attempt.move, attempt.mark ? "played" : "best", scoreWord(attempt.value), attempt.mark || "!");
  else if (review.move !== review.best) add(review.move, glyph ? "played" : "other", scoreWord(review.played), glyph);
  return { marks, arrows, hidesTargets: !isHidden };
}

export const ERRORS = ["?!", "?", "??"];

export const isError = (move) => Boolean(move) && ERRORS.includes(move.mark);

/** The errors of a review: [{ply, ...move}], `ply` that of the move, from 1. */
export const errorsOf = (moves) => moves.flatMap((move, k) => (isError(move) ? [{ ...move, ply: k + 1 }] : []));

/** How many moves of each player have each glyph: {"?!": [2, 0], ...}; random moves do not count. */
export function countsOf(moves) {
  const own = (mark, player) =>
    moves.filter((move) => move && !move.is_random && move.mark === mark && move.player === player).length;
  return Object.fromEntries(ERRORS.map((mark) => [mark, [own(mark, 0), own(mark, 1)]]));
}

/** The mean loss of both players in points, null for a player without moves; random moves do not count. */
export function meanLosses(moves) {
  return [0, 1].map((player) => {
    const own = moves.filter((move) => move && !move.is_random && move.player === player);
    return own.length ? (50 * own.reduce((sum, move) => sum + move.loss, 0)) / own.length : null;
  });
}

/** The opinions of the chart, one a ply from 0; `values` are those of a whole review, for the first player. */
export function opinionsOf(moves, values, length) {
  const opinions = new Array(length + 1).fill(null);
  const put = (ply, value) => (opinions[ply] = { value, outcomes: null });
  if (values) values.forEach((value, ply) => put(ply, value));
  else
    moves.forEach((move, ply) => {
      if (!move) return;
      put(ply, forFirst(move.value, move.player));
      put(ply + 1, forFirst(move.played, move.player));
    });
  return opinions;
}

/** The next error after a ply, or the one before it; wraps around. `ply` is that of the move in question. */
export function nextError(errors, ply, step) {
  if (!errors.length) return null;
  const found = step > 0 ? errors.find((error) => error.ply > ply) : errors.findLast((error) => error.ply < ply);
  return found ?? errors.at(step > 0 ? 0 : -1);
}

/** "52", or "won" and "lost" where nothing is left to doubt. */
export function scoreWord(value) {
  if (value === 1) return "won";
  if (value === -1) return "lost";
  return scoreOf(value).toFixed(0);
}

/** "−19" */
export const lossWord = (loss) => `−${(50 * loss).toFixed(0)}`;

/** A copy of the record of a tree, with the review's glyphs, losses and better lines along its nodes. */
export function annotated(tree, nodes, moves) {
  const copies = new Map();
  const copy = (node) => {
    const made = { ...node, children: node.children.map(copy) };
    copies.set(node, made);
    return made;
  };
  const root = copy(tree.root);
  nodes.forEach((node, k) => {
    const [made, review] = [copies.get(node), moves[k]];
    if (!made || !review) return;
    if (node.isMarkedByReview !== false) made.mark = review.mark || made.mark; // otherwise it was set by hand
    if (!isError(review)) return;
    const remark = `loses ${(50 * review.loss).toFixed(0)} points; ${review.best} was better`;
    if (!made.comment.includes(remark)) made.comment = made.comment ? `${made.comment}; ${remark}` : remark;
    addLine(copies.get(node.parent), review.line);
  });
  return root;
}

function addLine(parent, line) {
  let at = parent;
  for (const move of line) {
    let child = at.children.find((each) => each.move === move);
    if (!child) {
      child = { move, comment: "", mark: "", name: "", value: null, children: [] };
      at.children.push(child);
    }
    at = child;
  }
}
