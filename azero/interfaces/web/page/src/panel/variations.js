// The tree of variations as lines of moves: the main line, and variations below the move that they replace. Pure.

const DEEPEST = 2; // levels of variations that are shown

/**
 * Returns segments in the order in which they are shown: {depth, key, items}.
 *
 * An item is {node, ply, number, isFold, count}: `number` is the ply's number where it is shown, before the first
 * player's moves and at the begin of a segment. A fold stands for variations deeper than two levels, which are shown if
 * `current` is in them or their parent's id is in `unfolded`.
 */
export function segmentsOf(root, current, unfolded = new Set()) {
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
export function sibling(node, step) {
  const others = node.parent?.children ?? [];
  if (others.length < 2) return null;
  return others[(others.indexOf(node) + step + others.length) % others.length];
}

/** Glyphs of moves, and their names. */
export const GLYPHS = { "!!": "brilliant", "!": "good", "!?": "interesting", "?!": "inaccuracy", "?": "mistake", "??": "blunder" };

/** The name of a move for screen readers: "21 h4, mistake, comment: ...". */
export function nameOfNode({ node, ply }) {
  const parts = [`${ply} ${node.move}`, GLYPHS[node.mark], node.name, node.comment && `comment: ${node.comment}`];
  return parts.filter(Boolean).join(", ");
}
