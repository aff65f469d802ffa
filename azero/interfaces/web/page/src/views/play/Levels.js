// The levels of an agent as bars of Elo.

import { html } from "../../html.js";
import { radio, radioKeys } from "../../shell/radios.js";
import { firstLevel } from "./choices.js";

export function Levels({ agent, level, onLevel }) {
  const { levels, anchors } = agent;
  const chosen = level === "adaptive" ? agent.adaptive : levels.find((each) => each.level === level);
  const isRated = levels.every((each) => each.elo !== null && each.elo !== undefined);
  const elos = levels.map((each) => (isRated ? each.elo : 100 * each.level));
  const most = Math.max(...elos, 1);
  const part = (elo) => Math.max(0, elo) / most; // of the height
  const anchor = isRated && anchors?.find(({ name, elo }) => name !== "random" && elo > 0 && elo < most);
  return html`<div class="levels">
    <p class="levels-head">
      <strong>${level === "adaptive" ? chosen.name : `Level ${level}, ${chosen.name}`}</strong>
      <span class="detail">${!isRated ? "not yet measured: the bars tell only the order" : level === "adaptive" ? "not yet measured" : source(chosen)}</span>
    </p>
    <div class="bars" role="radiogroup" aria-label="Level" onKeyDown=${radioKeys}>
      ${anchor && html`<span class="anchor" style=${{ "--part": part(anchor.elo) }}></span>`}
      ${levels.map((each, k) => html`<button ...${radio(each.level === level, level === "adaptive" && k === 0)} class="level"
        aria-label="Level ${each.level}, ${each.name}${isRated ? `, ${format(each.elo)} Elo` : ""}" onClick=${() => onLevel(each.level)}>
        ${isRated && html`<small>${format(each.elo)}</small>`}
        <span class="level-bar" style=${{ "--part": part(elos[k]) }}></span>
        <span>${each.level}</span>
      </button>`)}
    </div>
    ${anchor && html`<p class="anchor-text"><span class="anchor-key" aria-hidden="true"></span>${anchor.name} has ${format(anchor.elo)}</p>`}
    <p class="level-text">${chosen.text}</p>
    ${agent.adaptive && html`<label class="check"><input type="checkbox" checked=${level === "adaptive"} onChange=${(event) => onLevel(event.target.checked ? "adaptive" : firstLevel(levels))} /> Adapt to how I play</label>`}
  </div>`;
}

const format = (elo) => Math.round(elo).toLocaleString("en-US");

function source({ elo, elo_ci95: interval, games }) {
  const half = interval ? `, ± ${Math.round((interval[1] - interval[0]) / 2)}` : "";
  return `${format(elo)} Elo above random${half}, ${games} games`;
}
