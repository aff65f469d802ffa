// The search tree after some simulations, and its layout.

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
export function treeAt(simulations, at, step) {
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
export function allNodes(root) {
  const nodes = [root];
  for (let k = 0; k < nodes.length; k++) nodes.push(...nodes[k].children);
  return nodes;
}

/** Sets x and y of each node, in units of a leaf's width and a row's height. Returns {width, height} in these units. */
export function layOut(root) {
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
export const valueOf = (node) => (node.N ? (node.proven ? node.proven.result : node.W / node.N) : null);
