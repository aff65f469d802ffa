// The steps of an action that takes several clicks, e.g. Amazon, Goes to, Shoots at.

import { html } from "../../html.js";
import { Icon } from "../../shell/icons.js";

export function Steps({ session, chosen, play, onBack }) {
  const { picture } = session.position;
  const done = [...picture.begun, ...chosen];
  if (picture.steps.length < 2 || !play.mayMove || !done.length) return null;
  const fitting = picture.actions.filter(({ cells }) => chosen.every((cell, k) => cells[k] === cell));
  const open = new Set(fitting.map(({ cells }) => cells[chosen.length])).size;
  const choice = open === 1 ? "one square is open" : `choose one of ${open} squares`;
  const detail = (k) => (k < done.length ? picture.cells[done[k]].name : k === done.length ? choice : "");
  return html`<div class="steps">
    <ol aria-label="Steps of this move">
      ${picture.steps.map((name, k) => html`<li class=${k < done.length ? "done" : k === done.length ? "now" : ""}>
        <span class="step-mark">${k < done.length ? html`<${Icon} name="check" />` : k + 1}</span>
        <strong>${name}</strong>
        <span class="detail">${detail(k)}</span>
      </li>`)}
    </ol>
    <p class="step-back">
      <button onClick=${onBack}><${Icon} name="left" />One step back</button>
      <span class="detail wide-only"><kbd>Esc</kbd> or <kbd>Backspace</kbd> on the board</span>
    </p>
  </div>`;
}
