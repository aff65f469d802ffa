// The headline: how both sides stand. The first player is always on the left.

import { html } from "../html.js";
import { Stone } from "../shell/icons.js";
import { headlineOf, outcomesOf } from "./words.js";

/** With `first`, the name of the first of two agents, wins and draws that it expects, if it gives them. */
export function Headline({ players, opinion, first = null }) {
  const outcomes = first === null ? null : outcomesOf(opinion);
  if (outcomes) return html`<${Outcomes} ...${{ players, outcomes, agent: first }} />`;
  const { scores, note } = headlineOf(players, opinion);
  const side = (player) => html`<span class="headline-side" data-player=${player}>
    <${Stone} players=${players} player=${player} size=${1.3} />
    <span class="headline-score">${opinion && html`<strong>${scores[player]}</strong>`}<span class="percent">${opinion ? "%" : "–"}</span></span>
    <span class="headline-name">${players[player].name}</span>
  </span>`;
  return html`<div class="headline" role="group" aria-label="Score">
    ${side(0)}
    <span class="headline-note">${note && html`<span class="pill">${note}</span>`}</span>
    ${side(1)}
  </div>`;
}

/** "38 wins, 34 draws, wins 28": what an agent expects of a hundred games. */
function Outcomes({ players, outcomes: [first, draws, second], agent }) {
  const side = (player, wins) => html`<span class="headline-side" data-player=${player}>
    <${Stone} players=${players} player=${player} size=${1.3} />
    <span class="headline-score"><strong>${wins}</strong></span>
    <span class="headline-word"><span class="hidden">${players[player].name} </span>${wins === 1 ? "win" : "wins"}</span>
  </span>`;
  return html`<div class="headline" role="group" aria-label="Score">
    ${side(0, first)}
    <span class="headline-draws"><strong>${draws}</strong> <span class="headline-word">${draws === 1 ? "draw" : "draws"}</span><small>of 100 games<span class="wide-only">, by ${agent}</span></small></span>
    ${side(1, second)}
  </div>`;
}
