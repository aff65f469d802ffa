// The tree of variations: the main line in rows, variations indented below the move that they replace.

import { html, useEffect, useRef, useState } from "../html.js";
import { nameOfNode, segmentsOf } from "./variations.js";

/** `asked` is a move that is talked about, and is framed; `scoreAt(node)` may return a short text after a move. */
export function VariationTree({ session, asked = null, scoreAt = () => "" }) {
  const [unfolded, setUnfolded] = useState(new Set());
  const box = useRef(null);
  const { tree, node: current } = session;
  const segments = segmentsOf(tree.root, current, unfolded);
  useEffect(() => {
    const item = box.current?.querySelector("[aria-current]");
    if (!item) return;
    if (box.current.contains(document.activeElement) && document.activeElement !== item) item.focus();
    keepInView(item);
  }, [current]);
  if (!segments.length) return html`<p class="tree-empty">Moves that you play on the board stand here, with their variations.</p>`;
  const unfold = (node) => setUnfolded(new Set([...unfolded, node.id]));
  const stop = tree.isMain(current) && current === tree.root ? segments[0].items[0].node : current;
  return html`<div class="tree" role="tree" aria-label="Variations" ref=${box}>
    ${segments.map(({ key, depth, items }) => html`<div class="segment depth-${Math.min(depth, 4)}" key=${key} role="presentation">
      ${items.map((item) => item.isFold
        ? html`<button role="treeitem" aria-level=${depth + 2} aria-expanded="false" tabindex="-1" class="fold" aria-label="${item.count} more variations" onClick=${() => unfold(item.node)}>+${item.count}</button>`
        : html`<${Item} key=${item.node.id} ...${{ item, depth, session, isCurrent: item.node === current, isAsked: item.node === asked, isStop: item.node === stop, score: scoreAt(item.node) }} />`)}
    </div>`)}
  </div>`;
}

function Item({ item, depth, session, isCurrent, isAsked, isStop, score }) {
  const { node, number } = item;
  const goTo = () => session.goTo(node);
  return html`<span class="item" role="presentation"><span class="item-move" role="presentation">
    ${node.name && html`<span class="node-name" aria-hidden="true">${node.name}</span>`}
    ${number !== null && html`<span class="ply" aria-hidden="true">${number}</span>`}
    <button
      role="treeitem"
      class="tree-move ${isAsked ? "asked" : ""}"
      tabindex=${isStop ? 0 : -1}
      aria-level=${depth + 1}
      aria-current=${isCurrent ? "step" : null}
      aria-selected=${String(isCurrent)}
      aria-label=${nameOfNode(item)}
      onClick=${goTo}
    >${node.move}</button>
    ${node.mark && html`<b class="glyph-text" data-mark=${node.mark} aria-hidden="true">${node.mark}</b>`}</span>
    ${score && html`<span class="tree-score" aria-hidden="true">${score}</span>`}
    ${node.comment && html`<span class="comment" aria-hidden="true">${node.comment}</span>`}
  </span>`;
}

/** Scrolls the tree or the panel, never the page. */
function keepInView(item) {
  for (const box of [item.closest(".tree"), item.closest(".panel-body")]) {
    if (!box || box.scrollHeight <= box.clientHeight + 1 || getComputedStyle(box).overflowY === "visible") continue;
    const [a, b] = [item.getBoundingClientRect(), box.getBoundingClientRect()];
    if (a.bottom > b.bottom) box.scrollTop += a.bottom - b.bottom + 4;
    else if (a.top < b.top) box.scrollTop += a.top - b.top - 4;
  }
}
