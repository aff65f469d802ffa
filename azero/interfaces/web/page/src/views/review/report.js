// What a review says, from the moves that its stream has brought so far. Pure.

import { forFirst, scoreOf } from "../../score.js";

export const ERRORS = ["?!", "?", "??"];

export const isError = (move) => Boolean(move) && ERRORS.includes(move.mark);

/** The errors of a review: [{ply, ...move}], `ply` that of the move, from 1. */
export const errorsOf = (moves) => moves.flatMap((move, k) => (isError(move) ? [{ ...move, ply: k + 1 }] : []));

/** How many moves of each player have each glyph: {"?!": [2, 0], ...}; random moves do not count. */
export function countsOf(moves) {
  const own = (mark, player) => moves.filter((move) => move && !move.is_random && move.mark === mark && move.player === player).length;
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
