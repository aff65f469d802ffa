// The moves of the game, and the clicks of a move that takes several.

import { html, useApp, useEffect, useRef } from "../../html.js";
import { nameOf } from "../../score.js";
import { Icon, Stone } from "../../shell/icons.js";

export function Steps({ chosen, onBack }) {
  const { playing: play, session } = useApp();
  const { picture } = session.position;
  const done = [...picture.begun, ...chosen];
  if (picture.steps.length < 2 || !play.mayMove || !done.length) return null;
  const fitting = picture.actions.filter(({ cells }) => chosen.every((cell, k) => cells[k] === cell));
  const open = new Set(fitting.map(({ cells }) => cells[chosen.length])).size;
  const choice = open === 1 ? "one square is open" : `choose one of ${open} squares`;
  const detail = (k) => (k < done.length ? picture.cells[done[k]].name : k === done.length ? choice : "");
  return html`<div class="steps">
    <ol aria-label="Steps of this move">
      ${picture.steps.map(
        (name, k) => html`<li class=${k < done.length ? "done" : k === done.length ? "now" : ""}>
        <span class="step-mark">${k < done.length ? html`<${Icon} name="check" />` : k + 1}</span>
        <strong>${name}</strong>
        <span class="detail">${detail(k)}</span>
      </li>`,
      )}
    </ol>
    <p class="step-back">
      <button onClick=${onBack}><${Icon} name="left" />One step back</button>
      <span class="detail wide-only"><kbd>Esc</kbd> or <kbd>Backspace</kbd> on the board</span>
    </p>
  </div>`;
}

/** The rows of the list: [{number, cells: [node[] of first, node[] of second]}]; a turn may be several moves. */
export function rowsOf(line) {
  const rows = [];
  let last = null;
  line.forEach((node, k) => {
    const player = node.player ?? k % 2;
    if (player !== last && (player === 0 || rows.length === 0 || rows.at(-1).cells[1].length)) {
      rows.push({ number: rows.length + 1, cells: [[], []] });
    }
    rows.at(-1).cells[player].push(node);
    last = player;
  });
  return rows;
}

export function Moves() {
  const { session } = useApp();
  const line = session.tree.lineOf(session.node);
  const box = useRef(null);
  const showCurrent = () => {
    const current = box.current?.querySelector("[aria-current]"); // the list may be gone
    if (!current) return;
    const [outer, inner] = [box.current.getBoundingClientRect(), current.getBoundingClientRect()];
    box.current.scrollTop += Math.max(0, inner.bottom - outer.bottom + 8) + Math.min(0, inner.top - outer.top);
    box.current.scrollLeft += Math.max(0, inner.right - outer.right + 8) + Math.min(0, inner.left - outer.left);
  };
  useEffect(showCurrent, [session.node]);
  useEffect(() => {
    const observer = new ResizeObserver(showCurrent); // e.g. when the ending takes room from the list
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return html`<div class="moves" role="log" aria-label="Moves played" ref=${box}>
    <div class="moves-row moves-head"><span></span>${[0, 1].map((player) => html`<span title=${nameOf(session.game, player)}><${Stone} player=${player} /></span>`)}</div>
    ${rowsOf(line).map(
      ({ number, cells }) => html`<div class="moves-row" key=${number}>
      <span class="number">${number}</span>
      ${cells.map((nodes) => html`<span class="turn">${turnsOf(nodes, session).map((turn) => html`<${Turn} nodes=${turn} session=${session} />`)}</span>`)}
    </div>`,
    )}
  </div>`;
}

/** Where a turn is several actions, e.g. in Amazons, they are one entry; otherwise each stands for itself. */
const turnsOf = (nodes, session) =>
  session.game.board.steps.length > 1 && nodes.length ? [nodes] : nodes.map((node) => [node]);

const Turn = ({ nodes, session }) => html`<button
  class="move"
  aria-current=${nodes.includes(session.node) ? "step" : null}
  onClick=${() => session.goTo(nodes.at(-1))}
>${nodes.map(({ move }) => move).join("")}</button>`;
