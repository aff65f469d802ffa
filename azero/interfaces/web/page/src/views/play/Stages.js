// What an agent does before it can play, and what to do if it cannot.

import { html } from "../../html.js";
import { Icon } from "../../shell/icons.js";

/** The stages of loading and compiling, as they come. `stages`: [{text, elapsed_s, expected_s}], the last one runs. */
export function Stages({ play }) {
  const { stages } = play;
  const now = stages.at(-1);
  const left = Math.max(0, (now.expected_s ?? 0) - now.elapsed_s);
  return html`<div class="stages" aria-label="Getting the engine ready" role="group">
    <h2 class="small">Getting the engine ready</h2>
    <p class="detail">You can move already; the reply comes when this is done.</p>
    <ol>
      ${stages.map((stage) => html`<li class=${stage === now ? "now" : "done"}>
        ${stage === now ? html`<span class="spinner" />` : html`<${Icon} name="check" />`}
        <span>${stage.text}</span>
        <span class="detail">${timeOf(stage, stage === now)}</span>
      </li>`)}
      <li><span class="spinner still" /><span>First reply</span><span></span></li>
    </ol>
    ${now.expected_s && html`<div class="progress">
      <progress max=${now.expected_s} value=${Math.min(now.elapsed_s, now.expected_s)} aria-label=${now.text}></progress>
      <span class="detail">${left > 0.5 ? `about ${Math.ceil(left)} s left` : "a little longer than usual"}</span>
    </div>`}
  </div>`;
}

function timeOf({ elapsed_s: elapsed, expected_s: expected }, isNow) {
  if (!isNow) return `${elapsed.toFixed(1)} s`;
  return expected ? `${elapsed.toFixed(1)} s of about ${Math.round(expected)} s` : `${elapsed.toFixed(1)} s`;
}

/** An agent that could not move: what happened, and what to do. */
export function Problem({ play, session }) {
  const { problem } = play;
  const others = session.agents.filter(({ id, kind }) => kind === "uct" && !play.players.some((player) => player.agent === id));
  return html`<div class="card problem-card" role="alert">
    <h2 class="small"><${Icon} name="warning" />The agent could not move</h2>
    <p class="detail">${problem.message}. The game is kept.</p>
    <div class="row">
      <button onClick=${() => play.retry()}>Try again</button>
      ${others.slice(0, 1).map(({ id, title }) => html`<button onClick=${() => play.replaceAgent(id)}>Use ${title}</button>`)}
    </div>
  </div>`;
}
