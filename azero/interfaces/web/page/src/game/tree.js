// A tree of moves: the main line, variations, comments. Its text in links is "e5 e3 g4(c5 b6)c6".

const MOST_MOVES = 20_000; // of a text
const DEEPEST = 2000; // moves of a line: the server takes no longer game

const NOTES = {
  comment: "",
  mark: "",
  name: "",
  value: null,
  simulations: null,
  seconds: null,
  isMarkedByReview: undefined,
};

let lastId = 0;

function newNode(parent, move) {
  return { id: ++lastId, parent, move, player: null, children: [], ...NOTES };
}

/** `kept` holds what was kept with the game until the views take it up: {play, review, analysis}. */
export class GameTree {
  constructor(kept = {}) {
    this.root = newNode(null, null);
    this.kept = kept;
  }

  /** Returns the child of `node` for a move; adds it as the last variation if it is new. */
  play(node, move) {
    let child = node.children.find((each) => each.move === move);
    if (!child) {
      child = newNode(node, move);
      node.children.push(child);
    }
    return child;
  }

  /** The nodes that lead to `node`, without the root. */
  nodesTo(node) {
    const found = [];
    for (let each = node; each.parent; each = each.parent) found.push(each);
    return found.reverse();
  }

  /** The moves that lead to `node`. */
  pathTo(node) {
    return this.nodesTo(node).map(({ move }) => move);
  }

  plyOf(node) {
    return this.pathTo(node).length;
  }

  /** The nodes from the root's first child through `node` to the end of its line. */
  lineOf(node) {
    const before = this.nodesTo(node);
    for (let each = node; each.children.length; ) {
      each = each.children[0];
      before.push(each);
    }
    return before;
  }

  mainLine() {
    return this.lineOf(this.root);
  }

  isMain(node) {
    for (let each = node; each.parent; each = each.parent) if (each.parent.children[0] !== each) return false;
    return true;
  }

  /** Removes a node with all that follows, if it is still there; returns a function that puts it back. */
  remove(node) {
    const { parent } = node;
    const index = parent.children.indexOf(node);
    if (index < 0) return () => {};
    parent.children.splice(index, 1);
    return () => parent.children.splice(Math.min(index, parent.children.length), 0, node);
  }

  /** Writes a node's move as the server does. A word of a link may be several moves: then nodes come before it. */
  spell(node, moves) {
    if (node.move === moves.at(-1) || !this.has(node)) return;
    node.move = moves.at(-1);
    for (const move of moves.slice(0, -1)) {
      const { parent } = node;
      const before = newNode(parent, move);
      parent.children.splice(parent.children.indexOf(node), 1, before);
      before.children.push(node);
      node.parent = before;
    }
  }

  /** Makes the line to `node` the main line. */
  promote(node) {
    if (!this.has(node)) return;
    for (let each = node; each.parent; each = each.parent) {
      const { children } = each.parent;
      children.unshift(...children.splice(children.indexOf(each), 1));
    }
  }

  /** Whether a node is still in the tree, and not deleted. */
  has(node) {
    let each = node;
    while (each.parent?.children.includes(each)) each = each.parent;
    return each === this.root;
  }

  /** The node above at which the line of `node` left an earlier one; the root if it never did. */
  branchOf(node) {
    for (let each = node; each.parent; each = each.parent) if (each.parent.children.length > 1) return each.parent;
    return this.root;
  }

  /** The tree of a record's nodes; see `nodesOfRecord`. */
  static fromRecord(record) {
    const tree = new GameTree();
    const made = [tree.root];
    Object.assign(tree.root, { comment: record[0].comment ?? "", name: record[0].name ?? "" });
    for (const { parent, move, comment, mark, name, value, simulations, seconds } of record.slice(1)) {
      const child = newNode(made[parent], move);
      Object.assign(child, {
        comment: comment ?? "",
        mark: mark ?? "",
        name: name ?? "",
        value: value ?? null,
        simulations: simulations ?? null,
        seconds: seconds ?? null,
      });
      made[parent].children.push(child);
      made.push(child);
    }
    return tree;
  }

  /** "e5 e3 g4(c5 b6)c6": variations follow, in brackets, the move that they replace. */
  toText() {
    const write = (node) => {
      let text = "";
      for (let each = node; each.children.length; each = each.children[0]) {
        const [first, ...others] = each.children;
        text += (text && !text.endsWith(")") ? " " : "") + encodeMove(first.move);
        for (const other of others) text += `(${`${encodeMove(other.move)} ${write(other)}`.trim()})`;
      }
      return text;
    };
    return write(this.root);
  }

  /** The tree of such a text. Moves are not checked. Throws an Error with a line for people if it is too large. */
  static fromText(text) {
    const tree = new GameTree();
    const stack = [];
    let node = tree.root;
    let moves = 0;
    const plies = new Map([[node, 0]]);
    for (const [token] of text.matchAll(/[()]|[^\s()]+/g)) {
      if (token === "(") {
        stack.push(node);
        node = node.parent ?? tree.root;
      } else if (token === ")") node = stack.pop() ?? node;
      else {
        const ply = plies.get(node) + 1;
        if (++moves > MOST_MOVES || ply > DEEPEST) throw new Error("the link has too many moves");
        node = tree.play(node, decodeMove(token));
        plies.set(node, ply);
      }
    }
    return tree;
  }

  /** What the nodes have besides their moves, as far as they have it: [[index in `nodes`, {comment, mark, ...}], ...]. */
  get notes() {
    return this.nodes().flatMap((node, index) => {
      const own = Object.keys(NOTES).filter((name) => node[name] !== NOTES[name]);
      return own.length ? [[index, Object.fromEntries(own.map((name) => [name, node[name]]))]] : [];
    });
  }

  /** Writes such notes into the nodes. */
  annotate(notes) {
    const nodes = this.nodes();
    for (const [index, own] of notes) {
      for (const name of Object.keys(NOTES)) if (nodes[index]) nodes[index][name] = own[name] ?? NOTES[name];
    }
  }

  /** "22" for a ply of the main line, "19a2" for a ply in the first variation of ply 19, as links write it. */
  placeOf(node) {
    if (this.isMain(node)) return String(this.plyOf(node));
    let branch = node;
    let steps = 1;
    while (branch.parent.children[0] === branch) {
      branch = branch.parent;
      steps++;
    }
    const letter = String.fromCharCode(96 + branch.parent.children.indexOf(branch));
    return this.isMain(branch.parent)
      ? `${this.plyOf(branch)}${letter}${steps}`
      : `${this.pathTo(node).length}*${this.indexOf(node)}`;
  }

  indexOf(node) {
    return this.nodes().indexOf(node);
  }

  /** All nodes in the order of the text. */
  nodes() {
    const found = [];
    const visit = (node) => {
      found.push(node);
      node.children.forEach(visit);
    };
    visit(this.root);
    return found;
  }

  /** The node at a place; the end of the main line if there is no such place. */
  nodeAt(place) {
    const main = this.mainLine();
    const end = main.at(-1) ?? this.root;
    const [, ply, letter, steps] = /^(\d+)(?:([a-z])(\d+))?$/.exec(place ?? "") ?? [];
    const deep = /^\d+\*(\d+)$/.exec(place ?? "");
    if (deep) return this.nodes()[Number(deep[1])] ?? end;
    if (ply === undefined) return end;
    if (!letter) return Number(ply) === 0 ? this.root : (main[Number(ply) - 1] ?? end);
    const parent = Number(ply) === 1 ? this.root : main[Number(ply) - 2];
    const first = parent?.children[letter.charCodeAt(0) - 96];
    if (!first) return end;
    return this.lineOf(first)[Number(ply) + Number(steps) - 2] ?? first;
  }
}

/** The nodes of a tree as the server's records have them: [{comment}, {parent, move, ...}, ...], `parent` an index. */
export function nodesOfRecord(root) {
  const found = [[root, null]];
  for (let k = 0; k < found.length; k++) found.push(...found[k][0].children.map((child) => [child, k]));
  return found.map(([{ move, comment, mark, name, value, simulations, seconds }, parent]) => {
    if (parent === null) return { comment, name };
    const more = Object.entries({ comment, mark, name, value, simulations, seconds }).filter(
      ([, each]) => each !== "" && each !== null,
    );
    return { parent, move, ...Object.fromEntries(more) };
  });
}

const encodeMove = (move) =>
  move.replace(/[\s()%]/g, encodeURIComponent).replace(/[()]/g, (c) => (c === "(" ? "%28" : "%29"));

function decodeMove(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
