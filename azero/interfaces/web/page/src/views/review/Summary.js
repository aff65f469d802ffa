// How both sides played: accuracy, mean loss, and how many glyphs. The first player is always on the left.

import { html } from "../../html.js";
import { Stone } from "../../shell/icons.js";
import { ERRORS, countsOf, meanLosses } from "./report.js";

const WORDS = { "?!": "inaccuracies", "?": "mistakes", "??": "blunders" };
const NOTE = "The constants of the accuracy come from chess. The mean loss is in points of score.";

export function Summary({ players, names, moves, whole }) {
  const counts = countsOf(moves);
  const losses = meanLosses(moves);
  const side = (player) => html`<div class="summary-side" data-player=${player}>
    <p class="summary-name"><${Stone} players=${players} player=${player} size=${1.2} /><strong class="player-name">${names[player]}</strong></p>
    <p class="summary-accuracy">${whole ? html`<strong>${whole.accuracy[player]?.toFixed(1) ?? "–"}</strong> <span>accuracy</span>` : "accuracy: at the end"}</p>
    <p class="summary-loss">${losses[player] === null ? "no moves yet" : `${losses[player].toFixed(1)} points lost a move`}</p>
  </div>`;
  return html`<div class="summary" role="group" aria-label="Accuracy">
    ${side(0)}
    <div class="summary-middle">
      <table class="counts" aria-label="Errors of each side"><tbody>
        ${ERRORS.map((mark) => html`<tr key=${mark}>
          <td class=${counts[mark][0] ? "some" : ""}>${counts[mark][0]}</td>
          <th scope="row"><b class="glyph-text" data-mark=${mark} aria-hidden="true">${mark}</b><span>${WORDS[mark]}</span></th>
          <td class=${counts[mark][1] ? "some" : ""}>${counts[mark][1]}</td>
        </tr>`)}
      </tbody></table>
    </div>
    ${side(1)}
  </div>
  <p class="chess-note">${NOTE}</p>`;
}
