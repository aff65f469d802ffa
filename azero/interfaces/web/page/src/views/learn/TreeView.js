// The search tree, drawn. It is a tree for keys and screen readers, too.

import { html, useEffect, useMemo, useRef, useState } from "../../html.js";
import { Stone } from "../../shell/controls.js";
import { useLesson } from "./lesson.js";
import { signed } from "./words.js";

/** Returns a node. Values are the first player's. */
const newNode = (parent, move) => ({
  parent,
  move,
  path: parent ? [...parent.path, move] : [],
  depth: parent ? parent.depth + 1 : 0,
  children: [],
  N: 0,
  W: 0,
  P: null,
  proven: null,
  toMove: null,
  chooser: null,
  numMoves: null, // of its children, once they are in the tree
  isCurrent: false, // whether the simulation has come through it
});

function childOf(node, move) {
  let child = node.children.find((each) => each.move === move);
  if (!child) {
    child = newNode(node, move);
    node.children.push(child);
  }
  return child;
}

function nodesOnPath(root, path) {
  const nodes = [root];
  for (const move of path) nodes.push(childOf(nodes.at(-1), move));
  return nodes;
}

function expand(nodes, expansion) {
  if (!expansion) return;
  const node = nodes[expansion.depth];
  node.numMoves = expansion.children.length;
  node.priors = new Map(expansion.children.map(({ move, P }) => [move, P]));
}

function backUp(nodes, backup) {
  backup.forEach(({ N, W, proven }, depth) => Object.assign(nodes[depth], { N: N[1], W: W[1], proven: proven[1] }));
}

/** Returns the root of the tree as it stands at a step of simulation `at`. */
function treeAt(simulations, at, step) {
  const root = newNode(null, null);
  if (!step) return root;
  simulations.slice(0, at + 1).forEach((simulation, k) => {
    const isShown = k === at;
    const depth = isShown ? reached(simulation, step) : simulation.path.length;
    const nodes = nodesOnPath(root, simulation.path.slice(0, depth));
    simulation.backup.slice(0, nodes.length).forEach((each, place) => {
      Object.assign(nodes[place], { toMove: each.to_move, chooser: each.chooser });
    });
    if (!isShown || step.phase !== "select") expand(nodes, simulation.expansion);
    if (!isShown || step.phase === "backup") backUp(nodes, simulation.backup);
    if (isShown) nodes.forEach((node) => (node.isCurrent = true));
  });
  return root;
}

/** How many moves of its path a simulation has made at a step: a selection shows the move that it selects. */
const reached = (simulation, step) => (step.phase === "select" ? step.depth + 1 : simulation.path.length);

/** All nodes below and with `root`, parents first. */
function allNodes(root) {
  const nodes = [root];
  for (let k = 0; k < nodes.length; k++) nodes.push(...nodes[k].children);
  return nodes;
}

/** Sets x and y of each node, in units of a leaf's width and a row's height. Returns {width, height} in these units. */
function layOut(root) {
  let leaves = 0;
  let height = 0;
  const place = (node) => {
    node.children.sort((a, b) => collator.compare(a.move, b.move));
    node.children.forEach(place);
    const [first, last] = [node.children[0], node.children.at(-1)];
    node.x = first ? (first.x + last.x) / 2 : leaves++;
    node.y = node.depth;
    height = Math.max(height, node.depth);
  };
  place(root);
  return { width: Math.max(1, leaves), height: height + 1 };
}

const collator = new Intl.Collator("en", { numeric: true });

/** Q of a node for the first player; null without visits. */
const valueIn = (node) => (node.N ? (node.proven ? node.proven.result : node.W / node.N) : null);

const LEAF = 40; // pixels
const ROW = 64;
const TOP = 24;
const SIDE = 24;
const RADIUS = 15;

export function TreeView() {
  const lesson = useLesson();
  const { simulations, at, step, inspected } = lesson;
  const box = useRef(null);
  const { root, nodes, size } = useMemo(() => {
    const root = treeAt(simulations, at, step);
    const size = layOut(root);
    return { root, nodes: allNodes(root), size };
  }, [simulations, at, step?.phase, step?.depth]);
  const room = useRoom(box);
  const leaf = Math.max(LEAF, Math.min(76, (room - 2 * SIDE) / size.width));
  /** @returns {[number, number]} */
  const placed = (node) => [SIDE + (node.x + 0.5) * leaf, TOP + node.y * ROW];
  const width = Math.max(room, 2 * SIDE + size.width * leaf);
  const height = TOP + size.height * ROW - 12;
  const tip = nodes.filter((node) => node.isCurrent).at(-1) ?? root;
  const wanted = inspected ? nodes.find((node) => node.path.join(" ") === inspected.join(" ")) : null;
  useEffect(() => scrollTo(box.current, placed(wanted ?? tip)), [at, step?.phase, step?.depth, room, wanted]);

  const onKeyDown = (event) => {
    const from = wanted ?? tip;
    const siblings = from.parent?.children ?? [from];
    const k = siblings.indexOf(from);
    const to = {
      ArrowUp: from.parent,
      ArrowDown: from.children[0],
      ArrowLeft: siblings[k - 1],
      ArrowRight: siblings[k + 1],
      Home: root,
    }[event.key];
    if (event.key === "Escape") lesson.inspect(null);
    else if (to) lesson.inspect(to.path);
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    event.stopPropagation();
    if (to) requestAnimationFrame(() => box.current?.querySelector("[role=treeitem][tabindex='0']")?.focus());
  };
  return html`<div class="tree-box">
    <div class="tree-rows" style=${{ height: `${height}px` }}>${rowsOf(nodes).map(
      ({
        depth,
        player,
      }) => html`<span key=${depth} style=${{ top: `${TOP + depth * ROW}px` }} title=${`moves of ${lesson.names[player]}`}>
      <${Stone} player=${player} />
    </span>`,
    )}</div>
    <div class="tree-scroll" ref=${box}>
      <svg class="search-tree" role="tree" aria-label="Search tree" width=${width} height=${height} onKeyDown=${onKeyDown}>
        ${nodes.filter((node) => node.parent).map((node) => html`<${Edge} key=${`edge ${node.path.join(" ")}`} ...${{ node, placed }} />`)}
        ${nodes.map((node) => html`<${TreeNode} key=${node.path.join(" ")} ...${{ node, placed }} isTip=${node === tip} isFocus=${node === (wanted ?? tip)} isInspected=${node === wanted} />`)}
      </svg>
    </div>
  </div>`;
}

/** The width of the box, which follows the window. */
function useRoom(box) {
  const [room, setRoom] = useState(480);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setRoom(Math.floor(entry.contentRect.width)));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  return room;
}

/** The rows of the tree that all belong to one player: [{depth, player}]. */
function rowsOf(nodes) {
  const players = new Map();
  for (const { depth, chooser } of nodes)
    if (chooser !== null) players.set(depth, new Set([...(players.get(depth) ?? []), chooser]));
  return [...players].filter(([, set]) => set.size === 1).map(([depth, set]) => ({ depth, player: [...set][0] }));
}

function scrollTo(box, [x, y]) {
  if (!box) return;
  const margin = 60;
  if (x < box.scrollLeft + margin || x > box.scrollLeft + box.clientWidth - margin)
    box.scrollLeft = x - box.clientWidth / 2;
  const outer = box.parentElement;
  if (y < outer.scrollTop + 20 || y > outer.scrollTop + outer.clientHeight - 50)
    outer.scrollTop = y - outer.clientHeight / 2;
}

function Edge({ node, placed }) {
  const [[x1, y1], [x2, y2]] = [placed(node.parent), placed(node)];
  const top = y1 + RADIUS + (node.parent.parent && node.parent.N ? 15 : 0); // below the value
  const middle = (top + y2 - RADIUS) / 2;
  const d = `M${x1} ${top}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2 - RADIUS}`;
  return html`<path class="edge ${node.isCurrent ? "current" : ""}" d=${d} aria-hidden="true" />`;
}

function TreeNode({ node, placed, isTip, isFocus, isInspected }) {
  const lesson = useLesson();
  const [x, y] = placed(node);
  const value = valueIn(node);
  const unvisited = node.numMoves === null ? 0 : node.numMoves - node.children.length;
  const item = useRef(null);
  const onClick = () => {
    item.current.focus();
    lesson.inspect(isInspected ? null : node.path);
  };
  const classes = [
    "node",
    node.isCurrent && "current",
    isTip && "tip",
    isInspected && "inspected",
    node.proven && "proven",
    node.N === 0 && "new",
  ];
  return html`<g
    class=${classes.filter(Boolean).join(" ")}
    role="presentation"
    transform=${`translate(${x} ${y})`}
    onClick=${onClick}
  >
    <g
      ref=${item}
      role="treeitem"
      aria-level=${node.depth + 1}
      aria-selected=${String(isFocus)}
      aria-label=${labelOf(node, value, unvisited, lesson.names)}
      tabindex=${isFocus ? 0 : -1}
    >
      ${node.proven && html`<circle class="proof" r=${RADIUS + 3.5} />`}
      <circle class="disc" r=${RADIUS} />
    </g>
    <g aria-hidden="true">
      <text class="visits" dy="4.5">${node.N}</text>
      ${node.move !== null && html`<text class="tree-move" x=${-RADIUS + 3} y=${-RADIUS - 1}>${node.move}</text>`}
      ${value !== null && html`<text class=${node.parent ? "tree-value" : "tree-value beside"} x=${node.parent ? 0 : RADIUS + 5} y=${node.parent ? RADIUS + 12 : 4}>${signed(value)}</text>`}
      ${unvisited > 0 && node.N > 0 && node.parent && html`<text class="tree-more" x=${RADIUS + 4} dy="4">+${unvisited}</text>`}
    </g>
  </g>`;
}

/** What the numbers at a node say, in words: a screen reader hears these instead. */
function labelOf(node, value, unvisited, names) {
  const name = node.move === null ? "root" : node.path.join(" ");
  const parts = [name, `${node.N} ${node.N === 1 ? "visit" : "visits"}`];
  if (value !== null) parts.push(`${node.proven ? "proven " : ""}value ${signed(value)} for ${names[0]}`);
  if (unvisited) parts.push(`${unvisited} moves unvisited`);
  if (node.isCurrent) parts.push("on the path");
  return parts.join(", ");
}
