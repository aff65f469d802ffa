// What an agent does before it can play, and what to do if it cannot.

import { html } from "../../html.js";
import { ONCE, doneOf } from "../../panel/StageLine.js";
import { showRules } from "../../shell/RulesDialog.js";
import { Icon } from "../../shell/icons.js";

/** The stages of loading and compiling, as they come. `stages`: [{text, elapsed_s, expected_s, share}], the last one runs. */
export function Stages({ play, session, app }) {
  const { stages } = play;
  const now = stages.at(-1);
  return html`<div class="stages" aria-label="Getting the engine ready" role="group">
    <h2 class="small">Getting the engine ready</h2>
    <ol>
      ${stages.map((stage) => html`<li class=${stage === now ? "now" : "done"}>
        ${stage === now ? html`<span class="spinner" />` : html`<${Icon} name="check" />`}
        <span>${stage.text}</span>
        <span class="detail">${stage.elapsed_s.toFixed(1)} s</span>
      </li>`)}
      <li><span class="spinner still" /><span>First reply</span><span></span></li>
    </ol>
    <progress max="1" value=${doneOf(now)} aria-label=${now.text}></progress>
    <p>You can move already; the reply comes when this is done. Or read the <button class="link" onClick=${() => showRules(app, session.game)}>rules</button> meanwhile.</p>
    ${now.stage === "compiling" && html`<p class="detail">${ONCE}</p>`}
  </div>`;
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
