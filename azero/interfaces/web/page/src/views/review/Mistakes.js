// The table of mistakes.

import { html, useEffect, useRef } from "../../html.js";
import { Stone } from "../../shell/icons.js";
import { lossWord, scoreWord } from "./report.js";

/** `asked` is the ply of the move in question; `hidden` hides the better moves of that ply. */
export function Mistakes({ players, errors, asked, isHidden, onPick }) {
  const body = useRef(null);
  useEffect(() => {
    const row = body.current?.querySelector("tr.active");
    const box = body.current?.closest(".mistakes-box");
    if (!row || !box) return;
    const [a, b] = [row.getBoundingClientRect(), box.getBoundingClientRect()];
    if (a.bottom > b.bottom) box.scrollTop += a.bottom - b.bottom;
    else if (a.top < b.top + 27) box.scrollTop += a.top - b.top - 27;
  }, [asked]);
  const onKeyDown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.shiftKey) return;
    const buttons = [...body.current.querySelectorAll("button")];
    buttons[buttons.indexOf(event.target) + step]?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  const tabStop = errors.some((error) => error.ply === asked) ? asked : errors[0]?.ply;
  return html`<div class="mistakes-box"><table class="mistakes" aria-label="Mistakes">
    <thead><tr>
      <th scope="col" class="col-ply">move</th><th scope="col" class="col-played">played</th><th scope="col" class="col-loss">loss</th>
      <th scope="col" class="col-scores">score %</th><th scope="col" class="col-better">better</th>
    </tr></thead>
    <tbody ref=${body} onKeyDown=${onKeyDown}>
      ${errors.map((error) => html`<tr key=${error.ply} class=${error.ply === asked ? "active" : ""} aria-current=${error.ply === asked ? "true" : null} onClick=${() => onPick(error.ply)}>
        <th scope="row" class="col-ply"><button tabindex=${error.ply === tabStop ? 0 : -1} aria-label="Show move ${error.ply}">${error.ply}</button></th>
        <td class="col-played"><${Stone} players=${players} player=${error.player} /><span class="hidden">${players[error.player].name} </span><strong>${error.move}</strong> <b class="glyph-text" data-mark=${error.mark}>${error.mark}</b></td>
        <td class="col-loss">${lossWord(error.loss)}</td>
        <td class="col-scores">${scoreWord(error.value)} <span>to</span> ${scoreWord(error.played)}</td>
        <td class="col-better">${isHidden && error.ply === asked ? html`<span>…</span>` : html`<strong>${error.best}</strong> ${error.line.slice(1).join(" ")}`}</td>
      </tr>`)}
    </tbody>
  </table></div>`;
}
