// What a review adds to the board: the move that was played, with its glyph, and the better one.

import { cellsOf, movesPieces, overlayOfLine } from "../../panel/lines.js";
import { isError, scoreWord } from "./report.js";

/** `isHidden` hides the better move; `attempt` is a judged try, which is marked instead of the move that was played. */
export function reviewOverlay({ picture, review, showsLine, isHidden, attempt }) {
  if (showsLine && !isHidden) return { hidesTargets: true, ...overlayOfLine(picture, review.player, review.line) };
  const marks = [];
  const arrows = [];
  const add = (move, kind, text, glyph) => {
    const cells = cellsOf(picture, { move, pv: [move] });
    if (!cells.length) return;
    const to = movesPieces(picture) ? (cells[1] ?? cells[0]) : cells.at(-1);
    if (movesPieces(picture) && cells[0] !== to) arrows.push({ from: cells[0], to, width: kind === "best" ? 0.14 : 0.1, kind });
    marks.push({ cells: [to], text, share: 0, kind, glyph });
  };
  const glyph = isError(review) ? review.mark : null;
  if (!isHidden) add(review.best, "best", scoreWord(review.value), review.move === review.best ? review.mark : null);
  if (attempt) add(attempt.move, attempt.mark ? "played" : "best", scoreWord(attempt.value), attempt.mark || "!");
  else if (review.move !== review.best) add(review.move, glyph ? "played" : "other", scoreWord(review.played), glyph);
  return { marks, arrows, hidesTargets: !isHidden };
}
