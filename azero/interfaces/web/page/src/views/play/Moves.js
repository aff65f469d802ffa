// The moves that were played, in a column for each player.

import { html, useEffect, useRef } from "../../html.js";
import { Stone } from "../../shell/icons.js";

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

export function Moves({ session }) {
  const line = session.tree.lineOf(session.node);
  const box = useRef(null);
  const { players } = session.game;
  useEffect(() => {
    const current = box.current?.querySelector("[aria-current]");
    current?.scrollIntoView({ block: "nearest" });
  }, [session.node]);
  return html`<div class="moves" role="log" aria-label="Moves played" ref=${box}>
    <div class="moves-row moves-head"><span></span>${[0, 1].map((player) => html`<span title=${players[player].name}><${Stone} players=${players} player=${player} /></span>`)}</div>
    ${rowsOf(line).map(({ number, cells }) => html`<div class="moves-row">
      <span class="number">${number}</span>
      ${cells.map((nodes) => html`<span class="turn">${nodes.map((node) => html`<${MoveButton} node=${node} session=${session} />`)}</span>`)}
    </div>`)}
  </div>`;
}

const MoveButton = ({ node, session }) => html`<button
  class="move"
  aria-current=${node === session.node ? "step" : null}
  onClick=${() => session.goTo(node)}
>${node.move}</button>`;
