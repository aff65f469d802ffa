// The headline: how both sides stand. The first player is always on the left.

import { html } from "../html.js";
import { Stone } from "../shell/icons.js";
import { headlineOf, outcomesOf } from "./words.js";

/** With `isTwo`, when the headline is that of the first of two agents: wins and draws, if the agent tells them. */
export function Headline({ players, opinion, isTwo = false }) {
  const outcomes = isTwo ? outcomesOf(opinion) : null;
  if (outcomes) return html`<${Outcomes} players=${players} outcomes=${outcomes} />`;
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

/** "38 wins, 34 draws, wins 28": what is expected of a hundred games. */
function Outcomes({ players, outcomes: [first, draws, second] }) {
  const side = (player, wins) => html`<span class="headline-side" data-player=${player}>
    <${Stone} players=${players} player=${player} size=${1.3} />
    <span class="headline-score"><strong>${wins}</strong></span>
    <span class="headline-word"><span class="hidden">${players[player].name} </span>${wins === 1 ? "win" : "wins"}</span>
  </span>`;
  return html`<div class="headline" role="group" aria-label="Score" title="Expected of 100 games, by the first agent">
    ${side(0, first)}
    <span class="headline-draws"><strong>${draws}</strong> <span class="headline-word">${draws === 1 ? "draw" : "draws"}</span></span>
    ${side(1, second)}
  </div>`;
}
