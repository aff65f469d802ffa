// The tree of variations: the main line in rows, variations indented below the move that they replace.

import { html, useApp, useEffect, useRef, useState } from "../html.js";
import { stepKeys, useKeys } from "../keys.js";
import { Icon } from "../shell/controls.js";

const other = (session, step) => {
  const next = sibling(session.node, step);
  return next ? session.goTo(next) : false;
};

/** Deletes the move of the current node with all that follows; a toast offers to undo it. */
function deleteFromHere(app) {
  const { session } = app;
  const { node, tree } = session;
  if (!node.parent) return;
  const putBack = tree.remove(node);
  session.goTo(node.parent);
  app.toast({
    text: `Deleted ${node.move}${node.children.length ? " and what follows" : ""}.`,
    seconds: 10,
    button: {
      text: "Undo",
      onPick: () => {
        putBack();
        if (session.tree === tree) session.goTo(node);
      },
    },
  });
}

function makeMain(session) {
  const { tree, tags, node } = session;
  if (!tree.isMain(node)) for (const name of ["Result", "Termination"]) delete tags[name]; // of another end
  tree.promote(node);
  session.changed();
}

/** The keys that walk the tree, and those that change it, which act if `mayChange`. */
export function useTreeKeys(onComment, mayChange = true) {
  const app = useApp();
  const { session } = app;
  useKeys({
    ...stepKeys(session),
    arrowup: ["previous variation", () => other(session, -1)],
    arrowdown: ["next variation", () => other(session, 1)],
    "shift+arrowleft": ["back to the branch", () => void session.goTo(session.tree.branchOf(session.node))],
    delete: ["delete from here", () => deleteFromHere(app), mayChange],
    "shift+arrowup": ["make main line", () => makeMain(session), mayChange],
    c: ["comment", onComment, mayChange],
  });
}

/** First, back, forward, last. */
export function Navigation() {
  const { session } = useApp();
  const isFirst = !session.node.parent;
  const isLast = !session.node.children.length;
  const button = (
    name,
    label,
    isOff,
    go,
  ) => html`<button class="icon-button" aria-label=${label} title=${label} disabled=${isOff} onClick=${go}>
    <${Icon} name=${name} />
  </button>`;
  return html`<span class="navigation" role="group" aria-label="Moves">
    ${button("first", "First move", isFirst, () => session.first())}
    ${button("back", "Back", isFirst, () => session.back())}
    ${button("forward", "Forward", isLast, () => session.forward())}
    ${button("last", "Last move", isLast, () => session.last())}
  </span>`;
}

/** `isOpen` shows the fields; `onOpen(isOpen)` changes it. */
export function NodeEditor({ isOpen, onOpen }) {
  const app = useApp();
  const { session } = app;
  const { node, tree } = session;
  const area = useRef(null);
  useEffect(() => {
    if (isOpen) area.current?.focus();
  }, [isOpen]);
  const change = (fields) => {
    Object.assign(node, fields);
    session.changed();
  };
  const setMark = (glyph) => {
    const isCleared = node.mark === glyph;
    change({ mark: isCleared ? "" : glyph, isMarkedByReview: isCleared ? undefined : false }); // a review leaves what is set by hand
  };
  const onKeyDown = (event) => {
    if (event.key !== "Escape" && !(event.key === "Enter" && (event.ctrlKey || event.metaKey))) return;
    event.preventDefault();
    event.stopPropagation();
    onOpen(false);
  };
  const isRoot = !node.parent;
  return html`<div class="editor">
    <div class="editor-tools" role="group" aria-label="This move">
      ${Object.entries(GLYPHS).map(
        ([
          glyph,
          name,
        ]) => html`<button class="glyph-button glyph-text" data-mark=${glyph} disabled=${isRoot} aria-pressed=${String(node.mark === glyph)}
        aria-label="${glyph}, ${name}" title=${name} onClick=${() => setMark(glyph)}>${glyph}</button>`,
      )}
      <button class="quiet small" aria-expanded=${String(isOpen)} onClick=${() => onOpen(!isOpen)} title="Comment and name (C)">Comment</button>
      ${!tree.isMain(node) && html`<button class="quiet small" onClick=${() => makeMain(session)} title="Make main line (Shift ↑)">Main line</button>`}
      <button class="quiet small icon-button" disabled=${isRoot} aria-label="Delete from here" title="Delete from here (Del)" onClick=${() => deleteFromHere(app)}><${Icon} name="bin" /></button>
    </div>
    ${
      isOpen &&
      html`<div class="editor-fields" onKeyDown=${onKeyDown} key=${node.id}>
      <textarea ref=${area} rows="2" maxlength="4000" aria-label="Comment" placeholder="Comment" value=${node.comment} onInput=${(event) => change({ comment: event.target.value })}></textarea>
      ${!isRoot && html`<input type="text" maxlength="80" aria-label="Name of this variation" placeholder="Name of this variation" value=${node.name} onInput=${(event) => change({ name: event.target.value })} />`}
    </div>`
    }
  </div>`;
}

const DEEPEST = 2; // levels of variations that are shown

/**
 * Returns segments in the order in which they are shown: {depth, key, items}.
 *
 * An item is {node, ply, number, isFold, count}: `number` is the ply's number where it is shown, before the first
 * player's moves and at the begin of a segment. A fold stands for variations deeper than two levels, which are shown if
 * `current` is in them or their parent's id is in `unfolded`.
 */
function segmentsOf(root, current, unfolded = new Set()) {
  const onPath = new Set();
  for (let node = current; node; node = node.parent) onPath.add(node);
  const segments = [];

  function write(first, ply, depth) {
    let segment = begin(first, depth);
    let isFirst = true;
    let node = first;
    for (; node; ply++) {
      segment.items.push({ node, ply, number: isFirst || ply % 2 === 1 ? ply : null });
      isFirst = Boolean(node.comment);
      const next = node.children[0] ?? null;
      const others = node.parent.children[0] === node ? node.parent.children.slice(1) : [];
      if (others.length) {
        writeOthers(segment, others, ply, depth);
        isFirst = true;
      }
      if (next && (others.length || node.comment)) segment = begin(next, depth);
      node = next;
    }
  }

  function begin(node, depth) {
    const segment = { key: node.id, depth, items: [] };
    segments.push(segment);
    return segment;
  }

  function writeOthers(segment, others, ply, depth) {
    const parent = others[0].parent;
    const isOpen = depth < DEEPEST || unfolded.has(parent.id) || others.some((node) => onPath.has(node));
    if (isOpen) others.forEach((node) => write(node, ply, depth + 1));
    else segment.items.push({ node: parent, ply, isFold: true, count: others.length });
  }

  if (root.children.length) write(root.children[0], 1, 0);
  return segments;
}

/** The next or previous of the moves that may be played instead of `node`; null if there is no other. */
function sibling(node, step) {
  const others = node.parent?.children ?? [];
  if (others.length < 2) return null;
  return others[(others.indexOf(node) + step + others.length) % others.length];
}

/** Glyphs of moves, and their names. */
const GLYPHS = {
  "!!": "brilliant",
  "!": "good",
  "!?": "interesting",
  "?!": "inaccuracy",
  "?": "mistake",
  "??": "blunder",
};

/** The name of a move for screen readers: "21 h4, mistake, comment: ...". */
function nameOfNode({ node, ply }) {
  const parts = [`${ply} ${node.move}`, GLYPHS[node.mark], node.name, node.comment && `comment: ${node.comment}`];
  return parts.filter(Boolean).join(", ");
}

/** `asked` is a move that is talked about, and is framed. */
export function VariationTree({ asked = null }) {
  const { session } = useApp();
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
  if (!segments.length)
    return html`<p class="tree-empty">Moves that you play on the board stand here, with their variations.</p>`;
  const unfold = (node) => setUnfolded(new Set([...unfolded, node.id]));
  const stop = tree.isMain(current) && current === tree.root ? segments[0].items[0].node : current;
  return html`<div class="tree" role="tree" aria-label="Variations" ref=${box}>
    ${segments.map(
      ({ key, depth, items }) => html`<div class="segment depth-${Math.min(depth, 4)}" key=${key} role="presentation">
      ${items.map((item) =>
        item.isFold
          ? html`<button role="treeitem" aria-level=${depth + 2} aria-expanded="false" tabindex="-1" class="fold" aria-label="${item.count} more variations" onClick=${() => unfold(item.node)}>+${item.count}</button>`
          : html`<${Item} key=${item.node.id} ...${{ item, depth, isAsked: item.node === asked, isStop: item.node === stop }} />`,
      )}
    </div>`,
    )}
  </div>`;
}

function Item({ item, depth, isAsked, isStop }) {
  const { session } = useApp();
  const { node, number } = item;
  const isCurrent = node === session.node;
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
      onClick=${() => session.goTo(node)}
    >${node.move}</button>
    ${node.mark && html`<b class="glyph-text" data-mark=${node.mark} aria-hidden="true">${node.mark}</b>`}</span>
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
