// What a step does, in words and numbers: one part for each phase.

import { html } from "../../html.js";
import { Stone } from "../../shell/icons.js";
import { Terms } from "./Terms.js";
import { backupText, evaluationText, expansionText, plain, signed, whyChosen } from "./words.js";

const MOST_PRIORS = 60;

export function Details({ lesson, game }) {
  const { current, step, method, rule } = lesson;
  const names = game.players.map(({ name }) => name);
  const shared = { simulation: current, game, names, method };
  if (step.phase === "select") {
    const { selection } = step;
    return html`<p class="says"><${Stone} players=${game.players} player=${selection.to_move} /> ${whyChosen(selection, names, method)}</p>
      <${Terms} key=${`${current.number} ${step.depth}`} selection=${selection} rule=${rule} names=${names} />`;
  }
  if (step.phase === "expand") return html`<${Expansion} ...${shared} step=${step} />`;
  if (step.phase === "evaluate") return html`<${Evaluation} ...${shared} lesson=${lesson} />`;
  return html`<${Backup} ...${shared} />`;
}

function Expansion({ simulation, names, method }) {
  const { expansion } = simulation;
  const drawn = method === "uct" ? simulation.path.at(-1) : null;
  return html`<p class="says">${expansionText(simulation, names, method)}</p>
    ${expansion && method === "puct" && html`<${Priors} children=${expansion.children} />`}
    ${expansion && method === "uct" && html`<ul class="chips" aria-label="Moves that join the tree">
      ${expansion.children.map(({ move }) => html`<li class=${move === drawn ? "drawn" : ""}>${move}${move === drawn && html`<span class="hidden"> drawn</span>`}</li>`)}
    </ul>`}`;
}

function Priors({ children }) {
  const rows = [...children].sort((a, b) => (children.length > 9 ? b.P - a.P : 0)).slice(0, MOST_PRIORS);
  const most = Math.max(...rows.map(({ P }) => P));
  return html`<table class="terms priors" aria-label="Priors of the net">
    <thead><tr><th scope="col">move</th><th scope="col"><var>P</var></th><th aria-hidden="true"></th></tr></thead>
    <tbody>${rows.map(({ move, P }) => html`<tr key=${move}>
      <th scope="row">${move}</th><td>${plain(P, 3)}</td>
      <td class="bar-cell" aria-hidden="true"><svg class="term-bar" viewBox="0 0 100 12" preserveAspectRatio="none"><rect class="bar-q" x="0" y="3" width=${(100 * P) / most} height="6" /></svg></td>
    </tr>`)}</tbody>
  </table>`;
}

function Evaluation({ simulation, game, names, lesson }) {
  const { evaluation, path } = simulation;
  const { rollout, value } = evaluation;
  const ply = lesson.rolloutPly ?? rollout?.length;
  return html`<p class="says">${evaluationText(simulation, names)}</p>
    <${Scale} value=${value} game=${game} names=${names} />
    ${rollout && rollout.length > 0 && html`<label class="rollout-ply">
      <span>After ${ply} of ${rollout.length} random moves</span>
      <input type="range" min="0" max=${rollout.length} value=${ply} onInput=${(event) => lesson.setRolloutPly(Number(event.target.value))} />
    </label>
    <p class="rollout" aria-label="Moves of the rollout"><span class="rollout-tree">${path.join(" ")}</span> ${rollout.map((move, k) => html`<span class=${k < ply ? "" : "later"}>${move} </span>`)}</p>`}`;
}

/** A value between a loss and a win of the first player. */
function Scale({ value, game, names }) {
  return html`<div class="scale" role="img" aria-label=${`${signed(value)} for ${names[0]}, on a scale from −1 to +1`}>
    <span class="scale-end"><${Stone} players=${game.players} player=${1} /> ${names[1]} wins −1</span>
    <span class="scale-end right">+1 ${names[0]} wins <${Stone} players=${game.players} player=${0} /></span>
    <svg viewBox="0 0 200 16" preserveAspectRatio="none">
      <rect class="scale-line" x="0" y="7" width="200" height="2" />
      <rect class="scale-zero" x="99.5" y="3" width="1" height="10" />
      <rect class="scale-at" x=${100 + 97 * value - 3} y="0" width="6" height="16" rx="2" />
    </svg>
  </div>`;
}

function Backup({ simulation, game, names }) {
  const { backup, path } = simulation;
  const first = names[0];
  const leafFirst = [...backup].reverse();
  return html`<p class="says">${backupText(simulation, names)}</p>
    <table class="terms backup" aria-label="Backup, the new position first">
      <thead><tr><th scope="col">position after</th><th scope="col">chosen by</th><th scope="col">it counts</th><th scope="col"><var>N</var></th><th scope="col"><var>Q</var> for ${first}</th></tr></thead>
      <tbody>${leafFirst.map((node) => html`<${BackupRow} key=${node.depth} ...${{ node, path, game, names, value: simulation.evaluation.value }} />`)}</tbody>
    </table>`;
}

function BackupRow({ node, path, game, names, value }) {
  const { depth, chooser, N, W, proven } = node;
  const mean = (k) => (!N[k] ? null : proven[k] ? proven[k].result : W[k] / N[k]);
  const [before, after] = [mean(0), mean(1)];
  return html`<tr>
    <th scope="row">${depth ? path[depth - 1] : "root"}</th>
    <td class="who-chose">${chooser === null ? "–" : html`<${Stone} players=${game.players} player=${chooser} /> ${names[chooser]}`}</td>
    <td class=${value === 0 ? "" : (value > 0) === (chooser !== 1) ? "good" : "bad"}>${chooser === null ? `${signed(value)} for ${names[0]}` : `${signed(chooser === 1 ? -value : value)} for ${names[chooser]}`}</td>
    <td>${N[0]} → <b>${N[1]}</b></td>
    <td>${before === null ? "–" : signed(before)} → <b>${signed(after)}</b>${proven[1] && html`<abbr title="proven">!</abbr>`}</td>
  </tr>`;
}
