// The headline: how both sides stand. The first player is always on the left.

import { html } from "../html.js";
import { Stone } from "../shell/icons.js";
import { headlineOf } from "./words.js";

export function Headline({ players, opinion }) {
  const { scores, note } = headlineOf(players, opinion);
  const side = (player) => html`<span class="headline-side" data-player=${player}>
    <${Stone} players=${players} player=${player} size=${1.3} />
    <span class="headline-score"><strong>${scores[player]}</strong><span class="percent">%</span></span>
    <span class="headline-name">${players[player].name}</span>
  </span>`;
  return html`<div class="headline" role="group" aria-label="Score">
    ${side(0)}
    <span class="headline-note">${note && html`<span class="pill">${note}</span>`}</span>
    ${side(1)}
  </div>`;
}
