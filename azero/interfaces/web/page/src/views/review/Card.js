// What the review says of the move in question, as a sentence with what can be done.

import { html } from "../../html.js";
import { isError, lossWord, scoreWord } from "./report.js";

/**
 * Props: review of the move, its ply, players, `attempt` (the judged try, "pending", or null), isTrying, showsLine, and
 * handlers onLine, onTry, onNext; `hasNext` whether there are errors.
 */
export function Card({ review, ply, players, attempt, isTrying, showsLine, hasNext, onLine, onTry, onNext }) {
  const hasError = isError(review);
  return html`<div class="review-card" role="status">
    <b class="card-glyph glyph-text" data-mark=${review.mark} aria-hidden="true">${review.mark}</b>
    <div>
      <p>${isTrying ? html`<${Trying} ...${{ review, ply, players, attempt }} />` : html`<${Sentence} ...${{ review, ply, players }} />`}</p>
      <p class="card-actions">
        ${!isTrying && html`<button class="chip" aria-pressed=${String(showsLine)} onClick=${onLine}>Show the line <kbd>L</kbd></button>`}
        ${hasError && html`<button class="chip" aria-pressed=${String(isTrying)} onClick=${onTry}>${isTrying ? "Show the answer" : "Try it yourself"} <kbd>T</kbd></button>`}
        ${hasNext && html`<button class="chip quiet" onClick=${onNext}>Next mistake <kbd>E</kbd></button>`}
      </p>
    </div>
  </div>`;
}

function Sentence({ review, ply, players }) {
  const who = players[review.player].name;
  const played = html`<strong>${review.move}</strong> (move ${ply})`;
  if (review.move === review.best) {
    return html`${played} is the best move${review.mark === "!" ? ", and the only good one" : ""}. ${who} has ${scoreWord(review.value)}${percent(review.value)}.`;
  }
  const then = review.line.slice(1, 5).join(" ");
  if (!isError(review)) {
    const cost = Math.round(50 * review.loss);
    return html`${played} costs ${who} ${cost ? points(cost) : "nothing"}. The engine prefers <strong class="better">${review.best}</strong>.`;
  }
  return html`${played} takes ${who} from ${scoreWord(review.value)} to ${scoreWord(review.played)}. Better is <strong class="better">${review.best}</strong>${then ? `, then ${then}` : ""}.`;
}

const percent = (value) => (Math.abs(value) === 1 ? "" : " %");
const points = (cost) => `${cost} ${cost === 1 ? "point" : "points"}`;

function Trying({ review, ply, players, attempt }) {
  const who = players[review.player].name;
  if (attempt === "pending") return html`Searching your move …`;
  if (!attempt) return html`Find a better move than <strong>${review.move}</strong> (move ${ply}) for ${who}, on the board.`;
  const cost = Math.round(50 * attempt.loss);
  if (attempt.isBest) return html`<strong>${attempt.move}</strong> is the engine's move, too.`;
  if (!attempt.mark) return html`<strong>${attempt.move}</strong> is good: ${cost ? `${points(cost)} behind the best move` : "as good as the best move"}.`;
  const isSame = attempt.move === review.move;
  return html`<b class="glyph-text" data-mark=${attempt.mark}>${attempt.mark}</b> <strong>${attempt.move}</strong> ${isSame ? "was played" : "loses"} (${lossWord(attempt.loss)}). Try another move.`;
}
