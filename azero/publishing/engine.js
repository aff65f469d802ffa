// The engine of a published page: one game, one agent, as a WebAssembly module that azero/publishing has made.
//
// It runs where WebAssembly does: in a worker of a page, in node. Nothing is asked of the network. Values are in
// [-1, 1].

const ONGOING = 2;
const UNPROVEN = 2;
const NODE_BYTES = 32; // of NODE_DTYPE in azero/mcts/tree.py, whose offsets follow
const NODE = {
  W: 0,
  N: 8,
  P: 12,
  firstChild: 16,
  action: 20,
  numChildren: 22,
  provenPlies: 28,
  proven: 30,
  player: 31,
};
const PAGE_BYTES = 65536;
const FIRST_NODES = 1 << 14;
const MOST_NODES = 1 << 24; // 512 MiB
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

/**
 * An entry has failed: the rules have raised an error, or a move is not legal. `history` has the actions that led
 * there; in a search, those that led to its root.
 */
export class EngineError extends Error {
  constructor(message, kind, entry, history) {
    super(message);
    this.name = "EngineError";
    this.kind = kind;
    this.entry = entry;
    this.history = history;
    this.isInSearch = false;
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
    if (this._places.weights) this._setWeights(weights);
    this.reset();
  }

  _setWeights(weights) {
    const { buffer, byteOffset, byteLength } = weights;
    const copy = buffer.slice(byteOffset, byteOffset + byteLength);
    const numbers = this.manifest.weights === "float16" ? widened(new Uint16Array(copy)) : new Float32Array(copy);
    for (const [at, length, value] of this._places.exact) numbers.fill(value, at, at + length);
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
    const { at, type, bytes } = name === "weights" ? this._places.weights : this._places.arrays[name];
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
    if (!this._entries.evaluate || this.outcome() !== null) return null;
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

  /** Makes room for nodes of the tree; returns whether there is enough. */
  _makeRoom(numNodes) {
    const begin = Math.ceil(this._places.end / 64) * 64,
      bytes = begin + numNodes * NODE_BYTES;
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
    this.method = engine._entries.walk ? method : "uct";
    this.numbers = numbers;
    this.isDone = false;
    engine._makeRoom(engine._numNodes);
    this._writeNumbers();
    // what the cache has changes the order of leaves
    if (this.method !== "uct" && numbers.leaves_per_tree > 1) engine._call("clear_cache");
    engine._call("start", BigInt.asUintN(64, seed));
    engine._call("begin", simulations, temperature);
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
      if (error instanceof EngineError) error.isInSearch = true;
      throw error;
    }
  }

  /** Reads an int32 of the tree's record. */
  _ofTree(name) {
    return new DataView(this.engine._memory.buffer).getInt32(this.engine._places.tree[name], true);
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

  get isProven() {
    return this._node(0).proven !== null;
  }

  _node(index) {
    return readNode(new DataView(this.engine._memory.buffer), this.engine._nodesAt, index);
  }

  /** Yields the children of a node. */
  _children(index) {
    const { firstChild, numChildren } = this._node(index);
    return firstChild ? Array.from({ length: numChildren }, (_, k) => this._node(firstChild + k)) : [];
  }

  /** Runs up to n simulations, or a few more; returns whether the search is over. */
  run(n = 100) {
    const target = this._ofTree("target"),
      until = Math.min(this.simulations + n, target);
    while (!this.isDone && this.simulations < until) {
      this._growIfNeeded();
      const left = Math.min(until - this.simulations, 64);
      if (this.method === "uct") this.isDone = this._call("simulate_by_rollouts", left) !== 0;
      else this._walk();
    }
    this.isDone ||= this.simulations >= target;
    return this.isDone;
  }

  /** Runs simulations until leaves have been evaluated, or the search is over. */
  _walk() {
    const rows = this._call("walk");
    if (rows < 0) this.isDone = true;
    for (let row = 0; row < rows; row++) this._evaluate(row);
    if (rows > 0) this._call("answer", rows);
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
    new DataView(this.engine._memory.buffer).setInt32(this.engine._places.tree.target, simulations, true);
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
      const child = this._node(index),
        line = engine._view("line", this._call("principal_variation", index));
      const proven = child.proven === null ? null : sign * child.proven;
      return {
        action: child.action,
        visits: child.N,
        value: proven ?? (child.N ? (sign * child.W) / child.N + 0 : 0),
        prior: child.P,
        proven: proven === null ? null : RESULTS[proven],
        provenPlies: proven === null ? null : child.provenPlies + 1,
        pv: Array.from(line),
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
    const before = new DataView(engine._memory.buffer.slice(engine._nodesAt, engine._nodesAt + numNodes * NODE_BYTES));
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
    const old = (index) => (index < numNodes ? readNode(before, 0, index) : null);
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
    const engine = this.engine,
      bytes = this.engine.manifest.game.stateBytes;
    engine._view("states").set(engine._view("root"), bytes);
    for (const { after } of path.slice(1, depth + 1)) engine._call("apply_action", 1, after.action);
    return engine._call("outcome", 1) === ONGOING ? engine._call("current_player", 1) : null;
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

/** Returns a node of a tree. Its W and `proven` are the first player's; `proven` is null without a proof. */
function readNode(data, begin, index) {
  const at = begin + index * NODE_BYTES,
    proven = data.getInt8(at + NODE.proven);
  return {
    W: data.getFloat64(at + NODE.W, true),
    N: data.getInt32(at + NODE.N, true),
    P: data.getFloat32(at + NODE.P, true),
    firstChild: data.getInt32(at + NODE.firstChild, true),
    action: data.getInt16(at + NODE.action, true),
    numChildren: data.getInt16(at + NODE.numChildren, true),
    provenPlies: data.getInt16(at + NODE.provenPlies, true),
    proven: proven === UNPROVEN ? null : proven,
    player: data.getInt8(at + NODE.player),
  };
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
  let n = 4;
  for (;;) {
    const begin = performance.now();
    if (search.run(n)) return;
    const took = performance.now() - begin;
    n = Math.max(1, Math.min(n * 2, Math.round((n * 20) / Math.max(took, 1))));
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
