// How the nets' opinion of the position on the board changed over the iterations.

import { html, useEffect } from "../../html.js";
import { formatScore, nameOf } from "../../score.js";

const MOST_ROWS = 7;
const FULL = 0.5; // the least share that has the full colour
const percent = (share) => Math.round(100 * share);

export function Opinions({ watch, session }) {
  useEffect(() => void watch.askOpinions());
  const { opinions: list = [], isWhole, problems = [] } = watch.opinions ?? {};
  const own = watch.opinion;
  const isOver = session.position.to_move === null;
  return html`<section class="opinions">
    <header><h2 class="small">This position, net by net</h2><small>${isOver || !own ? "" : captionOf(list, isWhole)}</small></header>
    ${isOver ? html`<p class="detail heat-place">The game is over here.</p>` : own ? html`<${Heat} ...${{ watch, session, list, own }} />` : html`<p class="detail heat-place">${isWhole ? "No net of this run has an opinion." : "Opening the nets …"}</p>`}
    ${problems.map((problem) => html`<p class="problem">${problem}</p>`)}
  </section>`;
}

const captionOf = (list, isWhole) => `prior of each move, iterations ${list[0].iteration} to ${list.at(-1).iteration}${isWhole ? "" : ", opening more …"}`;

function Heat({ watch, session, list, own }) {
  const moves = mostLiked(list);
  const [best, share] = Object.entries(own.prior).reduce((a, b) => (b[1] > a[1] ? b : a));
  const first = nameOf(session.game, 0);
  const every = Math.ceil(list.length / 12);
  const most = Math.max(FULL, ...moves.flatMap((move) => list.map(({ prior }) => prior[move] ?? 0)));
  return html`<div class="opinions-body ${watch.opinions.isOld ? "old" : ""}">
    <div class="heat">
      <div class="heat-moves" aria-hidden="true">${moves.map((move) => html`<span class=${move === best ? "best" : ""}>${move}</span>`)}</div>
      <div class="heat-columns" role="group" aria-label="Nets by iteration">
        ${list.map((opinion, k) => html`<button
          key=${opinion.iteration}
          class="heat-column ${opinion === own ? "own" : ""}"
          tabindex=${opinion === own ? 0 : -1}
          aria-pressed=${String(opinion === own)}
          aria-label=${`Net of iteration ${opinion.iteration}: ${spoken(opinion, session)}`}
          onClick=${() => watch.chooseIteration(opinion.iteration)}
        >
          ${moves.map((move) => html`<span class="heat-cell" style=${{ "--share": (opinion.prior[move] ?? 0) / most }}></span>`)}
          <span class="heat-tick">${k % every === 0 || opinion === own ? opinion.iteration : ""}</span>
        </button>`)}
      </div>
    </div>
    <p class="opinion">
      <strong>${best}: ${percent(share)} %</strong><small>of the prior</small>
      <strong>score ${formatScore(own.value, 0)} %</strong><small>for ${first}</small>
    </p>
    <details class="as-table"><summary>as a table</summary><${Table} ...${{ moves, list, first }} /></details>
  </div>`;
}

const Table = ({ moves, list, first }) => html`<table aria-label="Opinions of the nets">
  <thead><tr><th scope="col">net</th>${moves.map((move) => html`<th scope="col">${move}</th>`)}<th scope="col">score for ${first}</th></tr></thead>
  <tbody>${list.map(({ iteration, prior, value }) => html`<tr><th scope="row">${iteration}</th>${moves.map((move) => html`<td>${percent(prior[move] ?? 0)}%</td>`)}<td>${formatScore(value, 0)}%</td></tr>`)}</tbody>
</table>`;

function spoken({ prior, value }, session) {
  const [best, share] = Object.entries(prior).reduce((a, b) => (b[1] > a[1] ? b : a));
  return `${best} has ${percent(share)} percent, score ${formatScore(value, 0)} percent for ${nameOf(session.game, 0)}`;
}

/** The moves that some net liked most, in the order of the game's notation. */
function mostLiked(list) {
  const most = new Map();
  for (const { prior } of list) for (const [move, share] of Object.entries(prior)) most.set(move, Math.max(share, most.get(move) ?? 0));
  const liked = [...most].sort((a, b) => b[1] - a[1]).slice(0, MOST_ROWS).map(([move]) => move);
  return [...most.keys()].filter((move) => liked.includes(move));
}
