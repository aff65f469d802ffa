// Which run is watched, whether it trains, and what it does.

import { html } from "../../html.js";
import { formatCount } from "../../score.js";

export function RunHead({ watch }) {
  const { run, metrics, usable, runs } = watch;
  const hidden = runs.filter(({ problem }) => problem);
  return html`
    <div class="run-head">
      <select aria-label="Run" value=${run.id} onChange=${(event) => watch.choose(usable.find(({ id }) => id === event.target.value))}>
        ${usable.map(({ id, name }) => html`<option value=${id} selected=${id === run.id}>${name}</option>`)}
      </select>
      ${metrics && html`<span class="run-state state-${metrics.state}">${metrics.state}</span><span class="detail end">${whatItDoes(metrics, watch.last).map((line) => html`<span>${line}</span>`)}</span>`}
    </div>
    ${metrics?.state === "stopped" && html`<p class="detail resume">It goes on by <code>${metrics.resume}</code></p>`}
    ${hidden.map(({ id, problem }) => html`<p class="problem" key=${id}>${problem}</p>`)}`;
}

const WORDS = { train: "learning", gate: "playing the gate" };

/** One line or two. */
function whatItDoes({ state, activity, iterations, updated_s: age }, last) {
  if (state !== "training" || !activity) return [`iteration ${last} of ${iterations} · ${ago(age)}`];
  const { iteration, stage, games, games_wanted: wanted } = activity;
  const stageText = WORDS[stage] ?? `playing ${formatCount(games)} of ${formatCount(wanted)}`;
  return [`iteration ${iteration} of ${iterations}`, `${stageText} · ${ago(age)}`];
}

function ago(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  return seconds < 129_600 ? `${Math.round(seconds / 3600)} h ago` : `${Math.round(seconds / 86_400)} days ago`;
}
