// What a step does, in words and numbers: one part for each phase.

import { html, useState } from "../../html.js";
import { Stone } from "../../shell/controls.js";
import { useLesson } from "./lesson.js";
import { backupText, evaluationText, expansionText, plain, signed, whyChosen } from "./words.js";

const MOST_ROWS = 60;

/** The formula and the table. `selection` is one of the server's. */
function Terms({ selection }) {
  const [looked, setLooked] = useState(null); // the index of a child
  const chosen = selection.children[looked ?? selection.chosen] ?? selection.children[selection.chosen];
  const isUct = useLesson().method === "uct";
  return html`
    <${Formula} ...${{ selection, isUct }} child=${chosen} />
    <${Table} ...${{ selection, isUct, looked }} onLook=${setLooked} />
    ${!isUct && selection.children.some(({ N }) => N === 0) && html`<p class="aside">A move without a visit has no mean yet. It starts with a Q a little below the position's own (first-play urgency).</p>`}
    ${selection.children.some(({ is_left_out: isLeftOut }) => isLeftOut) && html`<p class="aside">Moves that are proven to lose get no more visits.</p>`}`;
}

/** The score of one child: symbols, then numbers. */
function Formula({ selection, child, isUct }) {
  const { names } = useLesson();
  const { N, constant, to_move: toMove } = selection;
  const isOpen = child.U === null;
  const symbols = isUct
    ? html`<var>Q</var> + <var>c</var> · √( ln <var>N</var> / <var>n</var> )`
    : html`<var>Q</var> + <var>c</var> · <var>P</var> · √<var>N</var> / ( 1 + <var>n</var> )`;
  const numbers = isUct
    ? html`${signed(child.Q)} + ${plain(constant)} · √( ln ${N} / ${child.N} )`
    : html`${signed(child.Q)} + ${plain(constant)} · ${plain(child.P)} · √${N} / ( 1 + ${child.N} )`;
  return html`<div class="formula">
    <p class="formula-line"><span class="formula-name">${child.move}</span><span>${symbols}</span></p>
    ${
      isOpen
        ? html`<p class="formula-line"><span class="formula-name">=</span><span>∞, since <var>n</var> = 0: it goes first</span></p>`
        : html`<p class="formula-line"><span class="formula-name">=</span><span>${numbers} = <b class="term-q">${signed(child.Q)}</b> + <b class="term-u">${plain(child.U)}</b> = <b>${signed(child.score)}</b></span></p>`
    }
    <dl class="legend">
      <div><dt><i class="swatch swatch-q"></i><var>Q</var></dt><dd>how good it was so far: the mean result for ${names[toMove]}</dd></div>
      <div><dt><i class="swatch swatch-u"></i><var>U</var></dt><dd>${
        isUct
          ? html`how little it is known: <var>n</var> of the <var>N</var> = ${N} visits went to it`
          : html`what the net hopes for (prior <var>P</var>) while it is little known: <var>n</var> of <var>N</var> = ${N} visits`
      }</dd></div>
    </dl>
  </div>`;
}

/** Visited moves and those with a finite score first if there are many; in the order of moves if there are few. */
function rowsOf(selection) {
  const rows = selection.children.map((child, index) => ({ child, index }));
  if (rows.length <= 9) return rows;
  const score = ({ child, index }) => (index === selection.chosen ? Infinity : (child.score ?? -Infinity));
  return rows.sort((a, b) => score(b) - score(a)).slice(0, MOST_ROWS);
}

function Table({ selection, isUct, looked, onLook }) {
  const { names } = useLesson();
  const rows = rowsOf(selection);
  const finite = selection.children.filter(({ score }) => score !== null);
  const least = Math.min(0, ...finite.map(({ Q }) => Q));
  const most = Math.max(0.1, ...finite.map(({ Q, score }) => Math.max(Q, score)));
  const hidden = selection.children.length - rows.length;
  return html`<table class="terms" aria-label=${`Terms of the moves, for ${names[selection.to_move]}`}>
    <thead><tr>
      <th scope="col">move</th><th scope="col"><var>n</var></th>${!isUct && html`<th scope="col"><var>P</var></th>`}
      <th scope="col"><var>Q</var></th><th scope="col"><var>U</var></th><th scope="col"><var>Q</var>+<var>U</var></th><th aria-hidden="true"></th>
    </tr></thead>
    <tbody onPointerLeave=${() => onLook(null)} onKeyDown=${walkRows}>
      ${rows.map(
        ({ child, index }) => html`<tr
        key=${child.move}
        class=${`${index === selection.chosen ? "chosen" : ""} ${index === looked ? "looked" : ""} ${child.is_left_out ? "left-out" : ""}`}
        tabindex=${index === (looked ?? selection.chosen) ? 0 : -1}
        onPointerEnter=${() => onLook(index)}
        onFocus=${() => onLook(index)}
      >
        <th scope="row">${child.move}${index === selection.chosen && html`<span class="hidden"> chosen</span>`}</th>
        <td>${child.N}</td>
        ${!isUct && html`<td>${plain(child.P)}</td>`}
        <td title=${child.proven ? `proven ${child.proven}` : null}>${isUct && child.N === 0 ? "–" : signed(child.Q)}${child.proven && html`<abbr title=${`proven ${child.proven}`}>!</abbr>`}</td>
        <td>${child.U === null ? "∞" : plain(child.U)}</td>
        <td class="sum">${child.score === null ? "∞" : signed(child.score)}</td>
        <td class="bar-cell" aria-hidden="true">${child.score !== null && html`<${Bar} ...${{ child, least, most }} />`}</td>
      </tr>`,
      )}
    </tbody>
  </table>
  ${hidden > 0 && html`<p class="aside">and ${hidden} more moves with lower sums</p>`}`;
}

/** The up and down arrows go from row to row, and the formula with them. */
function walkRows(event) {
  const to = { ArrowUp: "previousElementSibling", ArrowDown: "nextElementSibling" }[event.key];
  if (!to) return;
  event.target.closest("tr")[to]?.focus();
  event.preventDefault();
}

/** Q from zero, and below it U from where Q ends: it goes back over a Q below zero. */
function Bar({ child, least, most }) {
  const x = (value) => (100 * (value - least)) / (most - least);
  const [zero, q, sum] = [x(0), x(child.Q), x(child.score)];
  return html`<svg class="term-bar" viewBox="0 0 100 12" preserveAspectRatio="none">
    <rect class="bar-q" x=${Math.min(zero, q)} y="1" width=${Math.max(0.8, Math.abs(q - zero))} height="5" />
    <rect class="bar-u" x=${q} y="6" width=${Math.max(0, sum - q)} height="5" />
    <rect class="bar-zero" x=${zero - 0.3} y="0" width="0.6" height="12" />
  </svg>`;
}

const MOST_PRIORS = 60;

export function Details() {
  const lesson = useLesson();
  const { current, step } = lesson;
  if (step.phase === "select") {
    const { selection } = step;
    return html`<p class="says"><${Stone} player=${selection.to_move} /> ${whyChosen(lesson)}</p>
      <${Terms} key=${`${current.number} ${step.depth}`} selection=${selection} />`;
  }
  if (step.phase === "expand") return html`<${Expansion} />`;
  if (step.phase === "evaluate") return html`<${Evaluation} />`;
  return html`<${Backup} />`;
}

function Expansion() {
  const lesson = useLesson();
  const { current, method } = lesson;
  const { expansion, path } = current;
  const drawn = method === "uct" ? path.at(-1) : null;
  return html`<p class="says">${expansionText(lesson)}</p>
    ${expansion && method === "puct" && html`<${Priors} children=${expansion.children} />`}
    ${
      expansion &&
      method === "uct" &&
      html`<ul class="chips" aria-label="Moves that join the tree">
      ${expansion.children.map(({ move }) => html`<li class=${move === drawn ? "drawn" : ""}>${move}${move === drawn && html`<span class="hidden"> drawn</span>`}</li>`)}
    </ul>`
    }`;
}

function Priors({ children }) {
  const rows = [...children].sort((a, b) => (children.length > 9 ? b.P - a.P : 0)).slice(0, MOST_PRIORS);
  const most = Math.max(...rows.map(({ P }) => P));
  return html`<table class="terms priors" aria-label="Priors of the net">
    <thead><tr><th scope="col">move</th><th scope="col"><var>P</var></th><th aria-hidden="true"></th></tr></thead>
    <tbody>${rows.map(
      ({ move, P }) => html`<tr key=${move}>
      <th scope="row">${move}</th><td>${plain(P, 3)}</td>
      <td class="bar-cell" aria-hidden="true"><svg class="term-bar" viewBox="0 0 100 12" preserveAspectRatio="none"><rect class="bar-q" x="0" y="3" width=${(100 * P) / most} height="6" /></svg></td>
    </tr>`,
    )}</tbody>
  </table>`;
}

function Evaluation() {
  const lesson = useLesson();
  const { evaluation, path } = lesson.current;
  const { rollout, value } = evaluation;
  const ply = lesson.rolloutPly ?? rollout?.length;
  return html`<p class="says">${evaluationText(lesson)}</p>
    <${Scale} value=${value} />
    ${
      rollout &&
      rollout.length > 0 &&
      html`<label class="rollout-ply">
      <span>After ${ply} of ${rollout.length} random moves</span>
      <input type="range" min="0" max=${rollout.length} value=${ply} onInput=${(event) => lesson.setRolloutPly(Number(event.target.value))} />
    </label>
    <p class="rollout" aria-label="Moves of the rollout"><span class="rollout-tree">${path.join(" ")}</span> ${rollout.map((move, k) => html`<span class=${k < ply ? "" : "later"}>${move} </span>`)}</p>`
    }`;
}

/** A value between a loss and a win of the first player. */
function Scale({ value }) {
  const { names } = useLesson();
  return html`<div class="scale" role="img" aria-label=${`${signed(value)} for ${names[0]}, on a scale from −1 to +1`}>
    <span class="scale-end"><${Stone} player=${1} /> ${names[1]} wins −1</span>
    <span class="scale-end right">+1 ${names[0]} wins <${Stone} player=${0} /></span>
    <svg viewBox="0 0 200 16" preserveAspectRatio="none">
      <rect class="scale-line" x="0" y="7" width="200" height="2" />
      <rect class="scale-zero" x="99.5" y="3" width="1" height="10" />
      <rect class="scale-at" x=${100 + 97 * value - 3} y="0" width="6" height="16" rx="2" />
    </svg>
  </div>`;
}

function Backup() {
  const lesson = useLesson();
  const { backup, path, evaluation } = lesson.current;
  const leafFirst = [...backup].reverse();
  return html`<p class="says">${backupText(lesson)}</p>
    <table class="terms backup" aria-label="Backup, the new position first">
      <thead><tr><th scope="col">position after</th><th scope="col">chosen by</th><th scope="col">it counts</th><th scope="col"><var>N</var></th><th scope="col"><var>Q</var> for ${lesson.names[0]}</th></tr></thead>
      <tbody>${leafFirst.map((node) => html`<${BackupRow} key=${node.depth} ...${{ node, path }} value=${evaluation.value} />`)}</tbody>
    </table>`;
}

function BackupRow({ node, path, value }) {
  const { names } = useLesson();
  const { depth, chooser, N, W, proven } = node;
  const mean = (k) => (!N[k] ? null : proven[k] ? proven[k].result : W[k] / N[k]);
  const [before, after] = [mean(0), mean(1)];
  return html`<tr>
    <th scope="row">${depth ? path[depth - 1] : "root"}</th>
    <td class="who-chose">${chooser === null ? "–" : html`<${Stone} player=${chooser} /> ${names[chooser]}`}</td>
    <td class=${value === 0 ? "" : value > 0 === (chooser !== 1) ? "good" : "bad"}>${chooser === null ? `${signed(value)} for ${names[0]}` : `${signed(chooser === 1 ? -value : value)} for ${names[chooser]}`}</td>
    <td>${N[0]} → <b>${N[1]}</b></td>
    <td>${before === null ? "–" : signed(before)} → <b>${signed(after)}</b>${proven[1] && html`<abbr title="proven">!</abbr>`}</td>
  </tr>`;
}
