// The gauge beside the board: the first player from below, draws in the middle, the second player from above.

import { html } from "../html.js";
import { heightOf, sharesOf } from "./areas.js";

export function Gauge({ players, opinion }) {
  if (!opinion) return html`<div class="gauge" aria-hidden="true"></div>`;
  const { first, draw } = sharesOf(opinion);
  const percent = (share) => `${100 * share}%`;
  return html`<div class="gauge" aria-hidden="true">
    <span class="gauge-part area-${players[1].colour}" style=${{ height: percent(1 - first - draw) }}></span>
    <span class="gauge-part area-draw" style=${{ height: percent(draw) }}></span>
    <span class="gauge-part area-${players[0].colour}" style=${{ height: percent(first) }}></span>
    <span class="gauge-tick" style=${{ bottom: percent(heightOf(opinion)) }}></span>
  </div>`;
}
