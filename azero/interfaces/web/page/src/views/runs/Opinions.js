// How the nets' opinion of the position on the board changed over the iterations.

import { html, useEffect } from "../../html.js";
import { formatScore, nameOf } from "../../score.js";

const MOST_ROWS = 7;

export function Opinions({ watch, session }) {
  useEffect(() => void watch.askOpinions());
  const { opinions } = watch;
  const { to_move: toMove } = session.position;
  if (toMove === null) return html`<p class="detail">The game is over here.</p>`;
  if (!opinions?.list.length) return html`<p class="detail">${opinions?.isOld ? "Asking the nets …" : "No net of this run has an opinion."}</p>`;
  const { list } = opinions;
  const moves = mostLiked(list);
  const own = list.filter(({ iteration }) => iteration <= watch.chosen).at(-1) ?? list[0];
  const [best] = Object.entries(own.prior).sort((a, b) => b[1] - a[1])[0];
  return html`<section class="opinions">
    <header><h3>This position, net by net</h3><small>prior of each move, iterations ${list[0].iteration} to ${list.at(-1).iteration}</small></header>
    <div class="opinions-body">
      <div class="heat" role="img" aria-label=${`Net ${own.iteration} prefers ${best}: ${Math.round(100 * own.prior[best])} % of its prior; score ${formatScore(own.value, 0)} % for ${nameOf(session.game, 0)}`}>
        <div class="heat-moves">${moves.map((move) => html`<span class=${move === best ? "best" : ""}>${move}</span>`)}</div>
        <div class="heat-columns">
          ${list.map((opinion) => html`<button
            class="heat-column ${opinion === own ? "own" : ""}"
            aria-label=${`Net of iteration ${opinion.iteration}`}
            title=${`net of iteration ${opinion.iteration}`}
            onClick=${() => watch.chooseIteration(opinion.iteration)}
          >${moves.map((move) => html`<span class="heat-cell" style=${{ opacity: 0.06 + 0.94 * (opinion.prior[move] ?? 0) }}></span>`)}</button>`)}
        </div>
      </div>
      <p class="opinion">
        <strong>${best}: ${Math.round(100 * own.prior[best])} %</strong><small>of net ${own.iteration}'s prior</small>
        <strong>score ${formatScore(own.value, 0)} %</strong><small>for ${nameOf(session.game, 0)}</small>
      </p>
    </div>
  </section>`;
}

/** The moves that some net liked most, in the order of the game's notation. */
function mostLiked(list) {
  const most = new Map();
  for (const { prior } of list) for (const [move, share] of Object.entries(prior)) most.set(move, Math.max(share, most.get(move) ?? 0));
  const liked = [...most].sort((a, b) => b[1] - a[1]).slice(0, MOST_ROWS).map(([move]) => move);
  return [...most.keys()].filter((move) => liked.includes(move));
}
