// The engine of a published page: one game, one agent, as a WebAssembly module that azero/publishing has made.
//
// It runs where WebAssembly does: in a worker of a page, in node. Nothing is asked of the network. Values are in
// [-1, 1].

const ONGOING = 2;
const UNPROVEN = 2;
const PAGE_BYTES = 65536;
const FIRST_NODES = 1 << 14;
const MOST_NODES = 1 << 24; // 512 MiB
const POSITIONS = 250; // of the solver, in the time of a simulation, or less
const FIRST_ROUND = 1 << 10; // positions of each test of the solver, see azero/mcts/proving/root_solver.py
const GROWTH = 4; // from one round to the next
const SETTLED_AFTER = 10_000; // simulations of an analysis whose root is solved, see azero/arena/agents/analysis.py
const MOST_TRIED = 50_000; // positions in which the moves that led to an error are looked for
const RESULTS = { 1: "win", 0: "draw", "-1": "loss" };
const VIEWS = {
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
  record: Uint8Array,
  bool: Uint8Array,
};
const READERS = {
  int8: (data, at) => data.getInt8(at),
  int16: (data, at) => data.getInt16(at, true),
  int32: (data, at) => data.getInt32(at, true),
  float32: (data, at) => data.getFloat32(at, true),
  float64: (data, at) => data.getFloat64(at, true),
};

/**
 * An entry has failed: the rules have raised an error, or a move is not legal. `history` has the actions that led
 * there. In a search, they led to its root; `path` has those from the root on, and is empty if they are not known.
 */
export class EngineError extends Error {
  constructor(message, kind, entry, history) {
    super(message);
    this.name = "EngineError";
    this.kind = kind;
    this.entry = entry;
    this.history = history;
    this.isInSearch = false;
    this.path = [];
  }
}

/** Returns float16 numbers, as their bits, as float32. */
function widened(halves) {
  const out = new Float32Array(halves.length),
    bits = new Uint32Array(out.buffer);
  for (let k = 0; k < halves.length; k++) {
    const half = halves[k],
      sign = (half & 0x8000) << 16,
      exponent = (half >> 10) & 31,
      fraction = half & 1023;
    if (exponent > 0) bits[k] = sign | ((exponent + 112) << 23) | (fraction << 13);
    else out[k] = (sign ? -1 : 1) * fraction * 2 ** -24;
  }
  return out;
}

/** Returns the answer of a kept head: rows of the board, or a number. */
function headOf(answers, { at, shape, decimals }) {
  const rounded = (value) => Number(value.toFixed(decimals));
  if (shape.length === 1) return rounded(answers[at]);
  const [height, width] = shape;
  return Array.from({ length: height }, (_, row) =>
    Array.from(answers.subarray(at + row * width, at + (row + 1) * width), rounded),
  );
}

/** A game, an agent's search, and its net. It has one position and one search. */
export class Engine {
  /**
   * Opens what `azero.publishing.build` has made: the manifest, the bytes of the module, or the compiled module, and
   * the bytes of the weights.
   */
  static async open({ manifest, wasm, weights }) {
    const made = /** @type {any} */ (await WebAssembly.instantiate(wasm, {})); // a module gives its instance alone
    return new Engine(manifest, (made.instance ?? made).exports, weights);
  }

  constructor(manifest, exports, weights) {
    this.manifest = manifest;
    this._entries = exports;
    this._places = manifest.wasm;
    this._memory = exports.memory;
    this._history = [];
    this._search = null;
    this._numNodes = FIRST_NODES;
    this._mostNodes = MOST_NODES;
    this._call("prepare");
    this._hasNet = manifest.agent.method === "puct"; // the module of another agent may have one
    if (this._hasNet) this._setWeights(weights);
    this.reset();
  }

  _setWeights(weights) {
    const { buffer, byteOffset, byteLength } = weights;
    const copy = buffer.slice(byteOffset, byteOffset + byteLength);
    const numbers = this.manifest.weights === "float16" ? widened(new Uint16Array(copy)) : new Float32Array(copy);
    for (const [at, length, value] of this.manifest.exact) numbers.fill(value, at, at + length);
    this._view("weights").set(numbers);
  }

  /** Calls an entry; throws EngineError if it fails. */
  _call(name, ...values) {
    const result = this._entries[name](...values);
    const failed = new DataView(this._memory.buffer).getInt32(this._places.failed, true);
    if (failed) {
      new DataView(this._memory.buffer).setInt32(this._places.failed, 0, true);
      const [kind, text] = this._places.errors[failed] || ["Error", "the rules have failed"];
      throw new EngineError(text || kind, kind, name, [...this._history]);
    }
    return result;
  }

  /** Returns an array of the module. It is valid until memory grows. */
  _view(name, length) {
    const { at, type, bytes } = this._places.arrays[name];
    const View = VIEWS[type];
    return new View(this._memory.buffer, at, length ?? bytes / View.BYTES_PER_ELEMENT);
  }

  // --- the position ---

  /** The actions that led to the position. */
  get history() {
    return [...this._history];
  }

  /** Goes to the initial position. */
  reset() {
    this._view("states").fill(0);
    this._history = [];
    this._call("reset", 0);
  }

  /** Plays an action. */
  play(action) {
    if (!this.legal().includes(action)) {
      const over = this.outcome() === null ? `legal actions: ${this.legal().join(", ")}` : "the game is over";
      throw new EngineError(`action ${action} is not legal here; ${over}`, "BadInput", "play", this.history);
    }
    const before = this.state();
    try {
      this._call("apply_action", 0, action);
    } catch (error) {
      this._view("states").set(before); // the rules may have changed a part of it
      if (error instanceof EngineError) error.history.push(action);
      throw error;
    }
    this._history.push(action);
  }

  /** Goes to the position after these actions from the initial one. */
  goTo(actions) {
    const isBehind = this._history.length <= actions.length && this._history.every((each, k) => each === actions[k]);
    if (!isBehind) this.reset();
    for (const action of actions.slice(this._history.length)) this.play(action);
  }

  /** Returns the legal actions, in ascending order; none if the game is over. */
  legal() {
    if (this.outcome() !== null) return [];
    const count = this._call("legal_actions", 0);
    if (count === 0) {
      const message = "legal_actions finds 0 actions while the game goes on";
      throw new EngineError(message, "BrokenRules", "legal", this.history);
    }
    return Array.from(this._view("legal", count));
  }

  /** Returns the player to move, 0 or 1; null if the game is over. */
  toMove() {
    return this.outcome() === null ? this.player() : null;
  }

  /** Returns the player whose view the planes are of, also if the game is over. */
  player() {
    return this._call("current_player", 0);
  }

  /** Returns the first player's result, 1, 0 or -1; null while the game goes on. */
  outcome() {
    const outcome = this._call("outcome", 0);
    return outcome === ONGOING ? null : outcome;
  }

  /** Returns the margin by which the first player has won, in the game's units. */
  score() {
    return this._call("final_score", 0);
  }

  /** Returns the planes [C, H, W] for the player to move. */
  planes() {
    this._call("encode", 0);
    return this._view("planes").slice();
  }

  /** Returns the key of the position, a BigInt. */
  key() {
    return BigInt.asUintN(64, this._call("hash_key", 0));
  }

  /** Returns the cell of each legal action; a number beside the board if it has none. */
  targets() {
    if (this.outcome() !== null) return [];
    return Array.from(this._view("cells", this._call("targets", 0)));
  }

  /** Returns for each legal action: 1 if it wins at once, -1 if the opponent can win at once then, else 0. */
  winsInOne() {
    if (this.outcome() !== null) return [];
    return Array.from(this._view("kinds", this._call("wins_in_one", 0)));
  }

  /** Returns the bytes of the position's state. */
  state() {
    return this._view("states").slice(0, this.manifest.game.stateBytes);
  }

  /** Returns what the net says of the position without a search; null without a net. */
  judge() {
    if (!this._hasNet || this.outcome() !== null) return null;
    this._call("show", 0, 0);
    this._call("evaluate", 0);
    const A = this.manifest.game.numActions,
      answers = this._view("answers");
    const logits = Array.from(answers.subarray(A, A + 3)),
      highest = Math.max(...logits);
    const weights = logits.map((each) => Math.exp(each - highest)),
      total = weights[0] + weights[1] + weights[2];
    return {
      policy: answers.slice(0, A),
      results: weights.map((each) => each / total),
      value: this._view("values")[0],
      heads: Object.fromEntries(
        Object.entries(this._places.heads).map(([name, head]) => [name, headOf(answers, head)]),
      ),
    };
  }

  // --- the search ---

  /** Returns the settings of a kind of search: full, analysis, level or shown. */
  settings(name) {
    return { ...this.manifest.settings[name] };
  }

  /** Begins a search of the position, and ends the last one. */
  search(/** @type {any} */ { method, settings = "full", simulations, seed = 0, temperature = 0 } = {}) {
    const agent = this.manifest.agent;
    const numbers = typeof settings === "string" ? this.settings(settings) : settings;
    const count = simulations ?? agent.simulations;
    this._search = new Search(this, method ?? agent.method, numbers, count, BigInt(seed), temperature);
    return this._search;
  }

  /** Returns a node of a tree in `data`. Its W and `proven` are the first player's; `proven` is null without a proof. */
  _readNode(data, begin, index) {
    const { node, nodeBytes } = this._places,
      at = begin + index * nodeBytes;
    const read = (name) => READERS[node[name][1]](data, at + node[name][0]);
    const proven = read("proven");
    return {
      W: read("W"),
      N: read("N"),
      P: read("P"),
      firstChild: read("first_child"),
      action: read("action"),
      numChildren: read("num_children"),
      provenPlies: read("proven_plies"),
      proven: proven === UNPROVEN ? null : proven,
      player: read("player"),
    };
  }

  /** Makes room for nodes of the tree; returns whether there is enough. */
  _makeRoom(numNodes) {
    const begin = Math.ceil(this._places.end / 64) * 64,
      bytes = begin + numNodes * this._places.nodeBytes;
    const lacking = Math.ceil((bytes - this._memory.buffer.byteLength) / PAGE_BYTES);
    try {
      if (lacking > 0) this._memory.grow(lacking);
    } catch {
      return false; // the tree stays as large as it is
    }
    this._numNodes = numNodes;
    this._view("moved").set([begin, numNodes].map(BigInt));
    this._nodesAt = begin;
    return true;
  }
}

/** A search of one position. It ends when the engine begins another one. */
class Search {
  constructor(engine, method, numbers, simulations, seed, temperature) {
    this.engine = engine;
    this.method = engine._hasNet ? method : "uct";
    this.numbers = numbers;
    this.isDone = false;
    this._isToSolve = numbers.solve_nodes > 0;
    this._solver = null; // what `_solve` returns, while it works
    this._known = new Map(); // results of the root's solved moves, 1, 0 or -1, for the player to move
    this._winningLine = []; // after the solved move that wins
    engine._makeRoom(engine._numNodes);
    this._writeNumbers();
    // what the cache has changes the order of leaves
    if (this.method !== "uct" && numbers.leaves_per_tree > 1) engine._call("clear_cache");
    engine._call("start", BigInt.asUintN(64, seed));
    engine._call("begin", simulations, temperature);
    this._holdBack(simulations);
  }

  /** Lets the solver begin halfway, or after the number of simulations in the settings. */
  _holdBack(simulations) {
    const after = this.numbers.solves_after ?? simulations - Math.floor(simulations / 2);
    this._setOfTree("held_back", this._isToSolve ? Math.max(0, simulations - after) : 0);
  }

  _writeNumbers() {
    const data = new DataView(this.engine._memory.buffer);
    for (const [name, [at, type]] of Object.entries(this.engine._places.numbers)) {
      if (type === "int32") data.setInt32(at, Number(this.numbers[name]), true);
      else data.setFloat64(at, Number(this.numbers[name]), true);
    }
  }

  _call(name, ...values) {
    if (this.engine._search !== this) throw new Error("another search has begun");
    try {
      return this.engine._call(name, ...values);
    } catch (error) {
      if (error instanceof EngineError) {
        error.isInSearch = true;
        try {
          error.path = this._findFailure() ?? [];
        } catch {
          // rules that fail elsewhere, too, hide no error
        }
      }
      throw error;
    }
  }

  /** Returns actions from the root on after which the rules fail, of positions in the tree or a ply below; or null. */
  _findFailure() {
    const engine = this.engine,
      size = engine.manifest.game.stateBytes;
    let numTried = 0,
      open = [{ index: 0, state: engine._view("root").slice(), line: [] }];
    const put = (state) => engine._view("states").set(state, size);
    while (open.length) {
      const next = [];
      for (const { index, state, line } of open) {
        put(state);
        let below = index < 0 ? null : this._children(index);
        below ??= Array.from(engine._view("legal", engine._call("legal_actions", 1)), (action) => ({ action }));
        for (const child of below) {
          if (numTried++ === MOST_TRIED) return null;
          const after = [...line, child.action];
          try {
            put(state);
            engine._call("apply_action", 1, child.action);
            if (engine._call("outcome", 1) !== ONGOING) continue;
            if (engine._call("legal_actions", 1) === 0) return after;
            for (const entry of ["current_player", "encode", "hash_key"]) engine._call(entry, 1);
          } catch {
            return after;
          }
          if (index < 0) continue;
          const reached = engine._view("states").slice(size, 2 * size);
          next.push({ index: child.firstChild ? child.index : -1, state: reached, line: after });
        }
      }
      open = next;
    }
    return this.method === "uct" ? this._findFailingRollout() : null;
  }

  /** Returns the actions of a rollout in which the rules fail, with the last rollout's random numbers; or null. */
  _findFailingRollout() {
    const engine = this.engine,
      line = engine._view("line"),
      path = [];
    for (const index of engine._view("path").slice(1)) {
      const { firstChild, numChildren } = this._node(path.length ? path[path.length - 1].index : 0);
      if (!firstChild || index < firstChild || index >= firstChild + numChildren) break;
      path.push({ index, after: this._node(index) });
    }
    for (let depth = path.length; depth >= 0; depth--) {
      try {
        if (this._playerAt([{}, ...path], depth) === null) continue;
        line.fill(-1);
        engine._call("play_out", 1, engine._view("noted")[0]);
      } catch {
        const played = Array.from(line);
        const end = played.indexOf(-1);
        const actions = path.slice(0, depth).map(({ after }) => after.action);
        return [...actions, ...(end < 0 ? played : played.slice(0, end))];
      }
    }
    return null;
  }

  /** Reads an int32 of the tree's record. */
  _ofTree(name) {
    return new DataView(this.engine._memory.buffer).getInt32(this.engine._places.tree[name], true);
  }

  _setOfTree(name, number) {
    new DataView(this.engine._memory.buffer).setInt32(this.engine._places.tree[name], number, true);
  }

  get simulations() {
    return this._ofTree("simulations");
  }

  get evaluations() {
    return this._ofTree("evaluations");
  }

  get isFull() {
    return this._ofTree("is_full") !== 0;
  }

  /** Whether the solver works: its slices say nothing of how long simulations take. */
  get isSolving() {
    return this._solver !== null;
  }

  /** Whether the root is proven. A draw or a loss that the solver has found counts late: an opponent may go wrong. */
  get isProven() {
    if (this._node(0).proven !== null) return true;
    const isSolved = this._known.size > 0 && this._children(0).every((each) => this._resultOf(each) !== null);
    return isSolved && this.simulations >= SETTLED_AFTER;
  }

  _node(index) {
    return this.engine._readNode(new DataView(this.engine._memory.buffer), this.engine._nodesAt, index);
  }

  /** Returns the children of a node, with their places. */
  _children(index) {
    const { firstChild, numChildren } = this._node(index);
    if (!firstChild) return [];
    return Array.from({ length: numChildren }, (_, k) => ({ ...this._node(firstChild + k), index: firstChild + k }));
  }

  /** Returns the proven result of a child of the root, for the player to move there; null without a proof. */
  _resultOf({ action, proven }) {
    const sign = 1 - 2 * this._node(0).player;
    return this._known.get(action) ?? (proven === null ? null : sign * proven);
  }

  /** Runs up to n simulations, or a few more; returns whether the search is over. */
  run(n = 100) {
    const target = this._ofTree("target"),
      until = Math.min(this.simulations + n, target);
    while (!this.isDone) {
      if (this._solver) {
        if (!this._solver.next(n * POSITIONS).done) return false;
        this._solver = null;
        this._goOn();
        return false; // simulations take other times than the solver's slices
      } else if (this.simulations >= until && until < target) return false;
      this._growIfNeeded();
      const left = Math.min(until - this.simulations, 64);
      const isOver = this.method === "uct" ? this._call("simulate_by_rollouts", left) !== 0 : this._walk();
      if (isOver) this._end();
    }
    return true;
  }

  /** Runs simulations until leaves have been evaluated; returns whether the search is over instead. */
  _walk() {
    const rows = this._call("walk");
    for (let row = 0; row < rows; row++) this._evaluate(row);
    if (rows > 0) this._call("answer", rows);
    return rows < 0;
  }

  /** Ends the search, or its first part, after which the solver begins. */
  _end() {
    this.isDone = !this._isToSolve || this.simulations < (this.numbers.solves_after ?? 0);
    if (this.isDone) return;
    this._isToSolve = false;
    const { firstChild, proven } = this._node(0);
    if (firstChild && proven === null) this._solver = this._solve();
    else this._goOn();
  }

  /** Lets the search go on to its target. */
  _goOn() {
    this._setOfTree("held_back", 0);
    this.engine._view("is_open")[0] = 1;
  }

  // --- the solver of the root, as azero/mcts/proving/root_solver.py ---

  /** Solves the root's moves as far as the settings allow. It yields now and then, and gets a number of positions. */
  *_solve() {
    this._call("begin_solving");
    const open = this._children(0).filter((each) => each.proven === null);
    const actions = open.sort((a, b) => b.N - a.N || b.P - a.P).map((each) => each.action);
    const wins = yield* this._test(actions, 1);
    const best = actions.find((action) => wins.get(action));
    if (best !== undefined) {
      this._known.set(best, 1);
      this._winningLine = this._lineAfter(best);
    } else if (wins.size === actions.length) {
      const draws = yield* this._test(actions, 0);
      for (const [action, isDraw] of draws) this._known.set(action, isDraw ? 0 : -1);
    }
    this._writeProofs();
  }

  /** Tests which actions get a result; returns the answers by action. One win is enough. */
  *_test(actions, least) {
    const answers = new Map(),
      most = this.numbers.solve_nodes;
    let left = actions;
    for (let size = FIRST_ROUND; left.length; size *= GROWTH) {
      const open = [];
      for (const action of left) {
        const limit = Math.min(this._call("count_positions") + size, most);
        let answer = this._beginTest(action, least),
          numSeen = this._call("count_positions");
        while (answer < 0 && numSeen < limit) {
          const more = yield;
          answer = this._call("go_on", Math.min(numSeen + more, limit));
          numSeen = this._call("count_positions");
        }
        if (answer < 0 && numSeen >= most) return answers;
        if (answer < 0) open.push(action);
        else answers.set(action, answer === 1);
        if (answer === 1 && least === 1) return answers;
      }
      left = open;
    }
    return answers;
  }

  /** Begins to test whether an action gets a result; returns 1 or 0 if it ends the game, else -1. */
  _beginTest(action, least) {
    const sign = 1 - 2 * this._node(0).player,
      outcome = this._goTo([action]);
    if (outcome !== ONGOING) return Number(sign * outcome >= least);
    this._call("begin_test", 1, sign, least);
    return -1;
  }

  /** Returns the best play after an action, which has just been tested. */
  _lineAfter(action) {
    const line = [];
    let next = this._call("tested_action"),
      outcome = this._goTo([action]);
    while (outcome === ONGOING && this._legal().includes(next)) {
      line.push(next);
      this._call("apply_action", 1, next);
      outcome = this._call("outcome", 1);
      next = this._call("noted_in", 1);
    }
    return line;
  }

  /** Puts the position after actions from the root into `states[1]`; returns its outcome. */
  _goTo(actions) {
    this.engine._view("states").set(this.engine._view("root"), this.engine.manifest.game.stateBytes);
    for (const action of actions) this.engine._call("apply_action", 1, action);
    return this.engine._call("outcome", 1);
  }

  /** Returns the legal actions in `states[1]`. */
  _legal() {
    return Array.from(this.engine._view("legal", this._call("legal_actions", 1)));
  }

  /** Returns the principal variation from a child of the root on, and the end that a look-ahead has seen. */
  _variation(child) {
    const line = Array.from(this.engine._view("line", this._call("principal_variation", child.index)));
    if (this._goTo(line) !== ONGOING || !this._isProvenAfter(line)) return line;
    const sign = 1 - 2 * this._call("current_player", 1);
    const last = this._legal().find((action) => this._goTo([...line, action]) === sign);
    return last === undefined ? line : [...line, last];
  }

  /** Returns whether the node after actions from the root is proven. */
  _isProvenAfter(line) {
    let index = 0;
    for (const action of line) index = this._children(index).find((each) => each.action === action).index;
    return this._node(index).proven !== null;
  }

  /** Writes solved wins and losses into the tree, but not if all moves lose: an opponent may answer wrongly. */
  _writeProofs() {
    const engine = this.engine,
      { node, nodeBytes } = engine._places,
      data = new DataView(engine._memory.buffer);
    const children = this._children(0),
      sign = 1 - 2 * this._node(0).player,
      results = children.map((each) => this._known.get(each.action));
    const write = (index, result) => data.setInt8(engine._nodesAt + index * nodeBytes + node.proven[0], sign * result);
    const isLost = children.every((each) => this._resultOf(each) === -1);
    children.forEach(({ index }, k) => {
      if (results[k] !== 1 && (results[k] !== -1 || isLost)) return;
      write(index, results[k]);
      const longest = Math.min(engine.manifest.game.maxPlies, 32767);
      data.setInt16(engine._nodesAt + index * nodeBytes + node.proven_plies[0], longest, true);
      if (results[k] === 1) write(0, 1);
    });
  }

  /** Asks the net for a row of the batch. Tests have other evaluators. */
  _evaluate(row) {
    this._call("evaluate", row);
  }

  /** Gives the tree more memory in time. */
  _growIfNeeded() {
    const engine = this.engine,
      wanted = this._ofTree("num_nodes") + 128 * (engine.manifest.game.numActions + 1);
    if (wanted < engine._numNodes || engine._numNodes >= engine._mostNodes) return;
    let more = engine._numNodes;
    while (more <= wanted) more *= 2;
    if (!engine._makeRoom(Math.min(more, MOST_NODES))) engine._mostNodes = engine._numNodes;
  }

  /** Raises the number of simulations, so that the search goes on. */
  extend(simulations) {
    this._setOfTree("target", simulations);
    this._holdBack(simulations);
    this.engine._view("is_open")[0] = 1;
    this.isDone = false;
  }

  /** Returns the action that is played: the best one, or a random one at a temperature above 0. */
  choose(temperature = 0) {
    return this._call("choose", temperature);
  }

  /** Returns the moves of the position, best first, and what is known of it. */
  report() {
    this.choose();
    const root = this._node(0),
      sign = 1 - 2 * root.player,
      engine = this.engine;
    const order = Array.from(engine._view("order", this._call("rank")));
    const moves = order.map((index) => {
      const child = { ...this._node(index), index },
        line = this._variation(child),
        proven = this._resultOf(child),
        isSolved = this._known.has(child.action);
      return {
        action: child.action,
        visits: child.N,
        value: proven ?? (child.N ? (sign * child.W) / child.N + 0 : 0),
        prior: child.P,
        proven: proven === null ? null : RESULTS[proven],
        provenPlies: proven === null || isSolved ? null : child.provenPlies + 1,
        pv: isSolved && proven === 1 ? [child.action, ...this._winningLine] : line,
      };
    });
    let result = root.proven === null ? null : sign * root.proven;
    if (result === null && moves.length && moves.every((each) => each.proven))
      result = Math.max(...moves.map((each) => each.value));
    return {
      simulations: this.simulations,
      evaluations: this.evaluations,
      toMove: root.player,
      value: result ?? (root.N ? (sign * root.W) / root.N + 0 : 0),
      proven: result === null ? null : RESULTS[result],
      isFull: this.isFull,
      moves,
    };
  }

  // --- the search, shown one simulation at a time ---

  /** Does one more simulation and returns what it did; null if the root is proven, or the target is reached. */
  simulation() {
    const engine = this.engine,
      numNodes = this._ofTree("num_nodes");
    const before = new DataView(
      engine._memory.buffer.slice(engine._nodesAt, engine._nodesAt + numNodes * engine._places.nodeBytes),
    );
    const number = this.simulations + 1,
      evaluations = this.evaluations;
    const noted = engine._view("noted");
    noted[0] = 0n;
    const target = this._ofTree("target");
    if (this.isDone || number > target) return null;
    this.extend(number);
    this.run(1);
    if (this.simulations < number) return null;
    this.extend(target);
    const old = (index) => (index < numNodes ? engine._readNode(before, 0, index) : null);
    const path = this._path(old);
    const leaf = path[path.length - 1];
    let kind = leaf.before.N === 0 ? "over" : "proven";
    if (engine._view("noted")[0] !== 0n && this.method === "uct") kind = "rollout";
    else if (this.evaluations > evaluations) kind = "net";
    const isExpanded = leaf.after.firstChild > 0 && leaf.before.firstChild === 0;
    const last = path.findIndex((each) => each.after.firstChild > 0 && each.before.firstChild === 0);
    const expanded = isExpanded ? path.length - 1 : last;
    return {
      number,
      path: path.slice(1).map((each) => each.after.action),
      kind,
      value: leaf.after.W - leaf.before.W,
      leafToMove: this._playerAt(path, path.length - 1),
      choices: path.slice(0, -1).map((each, depth) => this._choice(each, depth, path[depth + 1].after.action, old)),
      expanded: expanded < 0 ? null : expanded,
      priors: expanded < 0 ? [] : this._children(path[expanded].index).map(({ action, P }) => ({ action, P })),
      rollout: kind === "rollout" ? this._rollout(path, leaf) : null,
      nodes: path.map((each, depth) => ({
        depth,
        player: this._playerAt(path, depth),
        before: { N: each.before.N, W: each.before.W, proven: each.before.proven, plies: each.before.provenPlies },
        after: { N: each.after.N, W: each.after.W, proven: each.after.proven, plies: each.after.provenPlies },
      })),
    };
  }

  /** Returns the nodes that the last simulation visited: those with one more visit. */
  _path(old) {
    const blank = { N: 0, W: 0, proven: null, provenPlies: 0, firstChild: 0, numChildren: 0 };
    const path = [{ index: 0, before: old(0), after: this._node(0) }];
    for (;;) {
      const { before, after } = path[path.length - 1];
      if (!after.firstChild) return path;
      const known = new Map();
      for (let k = 0; k < before.numChildren && before.firstChild; k++) {
        const child = old(before.firstChild + k);
        known.set(child.action, child);
      }
      let next = null;
      for (let k = 0; k < after.numChildren && !next; k++) {
        const child = this._node(after.firstChild + k);
        const earlier = known.get(child.action) ?? { ...blank, action: child.action };
        if (child.N > earlier.N) next = { index: after.firstChild + k, before: earlier, after: child };
      }
      if (!next) return path;
      path.push(next);
    }
  }

  /** Puts the position after the first `depth` actions of a path into `states[1]`; returns its player to move. */
  _playerAt(path, depth) {
    const outcome = this._goTo(path.slice(1, depth + 1).map(({ after }) => after.action));
    return outcome === ONGOING ? this.engine._call("current_player", 1) : null;
  }

  /** Returns how the search chose at a node, with the numbers of that time. */
  _choice({ before, after }, depth, chosen, old) {
    const isUct = this.method === "uct",
      n = this.numbers,
      sign = 1 - 2 * after.player;
    const children = [];
    for (let k = 0; k < after.numChildren; k++) {
      const earlier = before.firstChild ? old(before.firstChild + k) : null,
        { action, P } = this._node(after.firstChild + k);
      children.push(earlier ?? { action, N: 0, W: 0, P, proven: null });
    }
    const visited = children.reduce((sum, each) => sum + (each.N > 0 ? each.P : 0), 0);
    const Q = (sign * before.W) / Math.max(before.N, 1);
    const firstPlay = n.is_fpu_absolute ? n.fpu_value : Q - n.fpu_reduction * Math.sqrt(visited);
    const growth = Math.log((1 + before.N + n.c_puct_base) / n.c_puct_base);
    const constant = isUct ? n.c_uct : n.c_puct + n.c_puct_factor * growth;
    const candidates = children.map((each) => {
      let value = isUct ? 0 : firstPlay;
      if (each.proven !== null) value = sign * each.proven;
      else if (each.N > 0) value = (sign * each.W) / each.N;
      const isUnvisited = isUct && each.N === 0;
      let U = (constant * each.P * Math.sqrt(before.N)) / (1 + each.N);
      if (isUct) U = isUnvisited ? Infinity : Math.sqrt((constant * constant * Math.log(before.N)) / each.N);
      const isLeftOut = Boolean(n.is_proving) && each.proven === -sign && !isUnvisited;
      return {
        action: each.action,
        N: each.N,
        P: each.P,
        Q: value,
        U,
        score: value + U,
        proven: each.proven,
        isLeftOut,
      };
    });
    candidates.sort((a, b) => a.action - b.action);
    const best = Math.max(...candidates.filter((each) => !each.isLeftOut).map((each) => each.score));
    const numEqual = candidates.filter((each) => !each.isLeftOut && each.score === best).length;
    let reason = numEqual > 1 ? "equal" : "greatest";
    if (candidates.length === 1) reason = "only";
    else if (best === Infinity) reason = "unvisited";
    return { depth, player: after.player, N: before.N, Q: Q + 0, constant, candidates, chosen, reason, numEqual };
  }

  /** Returns the actions of the last rollout; null if the rules have played it in another way. */
  _rollout(path, leaf) {
    const engine = this.engine,
      end = engine._view("tree", 8).slice();
    if (this._playerAt(path, path.length - 1) === null) return [];
    const count = engine._call("play_out", 1, engine._view("noted")[0]);
    if (count < 0 || engine._call("outcome", 1) !== leaf.after.W - leaf.before.W) return null;
    const isSame = engine._view("rng").every((byte, k) => byte === end[k]);
    return isSame ? Array.from(engine._view("line", count)) : null;
  }
}

// --- levels, as in azero/arena/agents/levels/ ---

const LOST_ROLLOUTS = 1; // lost visits that are added to each move if values come from rollouts
const WATCHED = 16; // moves of the opponent that count for the adaptive level
const BLUR = 4; // points by which another search's scores may differ from the opponent's own
const LEAST_CHANCE = 0.02; // share of the moves that a level may make without any reason

/** Returns the scores of moves in points, in the order given; NaN for a move with neither visits nor proof. */
function scoresOf(moves, lost) {
  return moves.map(({ visits, value, proven }) => {
    if (proven) return 50 + 50 * value;
    return visits ? 50 + (50 * (visits * value - lost)) / (visits + lost) : NaN;
  });
}

/** Returns the probabilities of moves at a level, of those that are allowed. */
function weightsOf(moves, lost, level, allowed) {
  const scores = scoresOf(moves, lost).map((each, k) => (allowed[k] ? each : NaN));
  const known = scores.filter((each) => !Number.isNaN(each));
  let weights;
  if (!known.length) weights = moves.map(({ prior }, k) => (allowed[k] ? Math.max(prior, 1e-9) : 0));
  else {
    const best = Math.max(...known);
    weights = scores.map((score) => {
      const loss = best - score;
      if (!(loss <= level.cap)) return 0;
      return level.temperature > 0 ? Math.exp(-loss / level.temperature) : Number(loss === 0);
    });
  }
  const total = weights.reduce((a, b) => a + b, 0);
  return weights.map((each) => each / total);
}

/** Returns the probabilities with which a level plays the moves. `kinds` is that of `winsInOne`. */
export function chancesOf(moves, lost, level, kinds) {
  const blind = weightsOf(
    moves,
    lost,
    level,
    moves.map(() => true),
  );
  let seeing = blind;
  const wins = kinds.filter((each) => each === 1).length;
  if (wins) seeing = kinds.map((each) => Number(each === 1) / wins);
  else if (kinds.some((each) => each !== -1))
    seeing = weightsOf(
      moves,
      lost,
      level,
      kinds.map((each) => each !== -1),
    );
  return blind.map((each, k) => level.sight * seeing[k] + (1 - level.sight) * each);
}

/** Returns a function that gives random numbers in [0, 1), by splitmix64. */
function randomNumbers(seed) {
  let counter = BigInt.asUintN(64, BigInt(seed));
  return () => {
    counter = BigInt.asUintN(64, counter + 0x9e3779b97f4a7c15n);
    let word = counter;
    word = BigInt.asUintN(64, (word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n);
    word = BigInt.asUintN(64, (word ^ (word >> 27n)) * 0x94d049bb133111ebn);
    return Number((word ^ (word >> 31n)) >> 11n) / 2 ** 53;
  };
}

/** Runs a search to its end, in slices of about 20 ms. */
async function finish(search, slice) {
  const sizes = { true: 4, false: 4 };
  for (;;) {
    const { isSolving } = search;
    const begin = performance.now();
    const n = sizes[isSolving];
    if (search.run(n)) return;
    const took = performance.now() - begin;
    sizes[isSolving] = Math.max(1, Math.min(n * 2, 2048, Math.round((n * 20) / Math.max(took, 1))));
    await slice();
  }
}

/** Returns the moves of the position in the order of the legal actions, after a search of a level. */
async function judged(engine, simulations, seed, slice) {
  const search = engine.search({ settings: "level", simulations, seed: seed ^ engine.key() });
  await finish(search, slice);
  const report = search.report(),
    lost = search.method === "uct" ? LOST_ROLLOUTS : 0;
  return { report, lost, moves: [...report.moves].sort((a, b) => a.action - b.action) };
}

/** Rounds as Python does: a half to the even number. */
export function roundToEven(number) {
  const whole = Math.floor(number),
    rest = number - whole;
  return rest > 0.5 || (rest === 0.5 && whole % 2 !== 0) ? whole + 1 : whole;
}

/** Returns the level that best explains the opponent's last moves. */
async function adapted(engine, seed, slice) {
  const levels = engine.manifest.agent.levels,
    logs = levels.map(() => 0);
  const history = engine.history,
    player = engine.toMove(),
    turns = [];
  engine.reset();
  for (const action of history) {
    if (engine.toMove() !== player) turns.push(engine.history.length);
    engine.play(action);
  }
  for (const ply of turns.slice(-WATCHED)) {
    engine.goTo(history.slice(0, ply));
    const legal = engine.legal(),
      kinds = engine.winsInOne();
    if (legal.length < 2) continue;
    const { moves, lost } = await judged(engine, engine.manifest.agent.adaptive.simulations, seed, slice);
    levels.forEach((level, k) => {
      const blurred = { ...level, temperature: Math.hypot(level.temperature, BLUR), cap: level.cap + 3 * BLUR };
      const chance = chancesOf(moves, lost, blurred, kinds)[legal.indexOf(history[ply])];
      logs[k] += Math.log((1 - LEAST_CHANCE) * chance + LEAST_CHANCE / legal.length);
    });
  }
  engine.goTo(history);
  const most = Math.max(...logs),
    weights = logs.map((each) => Math.exp(each - most));
  const total = weights.reduce((a, b) => a + b, 0);
  return levels[roundToEven(weights.reduce((sum, each, k) => sum + k * each, 0) / total)];
}

/**
 * Plays at a level: an object of `manifest.agent.levels`, or "adaptive". Returns the report of its search, whose first
 * move is the one that is played, with its `action` and the `level`. `slice` is awaited now and then.
 */
export async function atLevel(engine, level, seed = 0n, slice = async () => {}) {
  const own = BigInt.asUintN(64, BigInt(seed));
  const chosen = level === "adaptive" ? await adapted(engine, own, slice) : level;
  if (chosen.isFull) {
    const search = engine.search({ simulations: chosen.simulations, seed: own });
    await finish(search, slice);
    const report = search.report();
    return { ...report, action: report.moves[0].action, level: chosen };
  }
  const kinds = engine.winsInOne(),
    { report, moves, lost } = await judged(engine, chosen.simulations, own, slice);
  const chances = chancesOf(moves, lost, chosen, kinds);
  let left = randomNumbers(own ^ engine.key())(),
    k = 0;
  while (k < moves.length - 1 && (left -= chances[k]) >= 0) k++;
  while (chances[k] === 0) k--;
  const drawn = moves[k];
  const ranked = [drawn, ...report.moves.filter((each) => each !== drawn)];
  return { ...report, moves: ranked, action: drawn.action, level: chosen };
}
