// The game on the board: one session for all views.

import { get, post } from "../api.js";
import { Emitter } from "../html.js";
import { GameTree } from "./tree.js";

const MOST_CACHED = 400; // positions

/**
 * What all views share. `position` is the answer of POST positions for `node`; it lags behind `node` while a request
 * is under way.
 */
export class Session extends Emitter {
  constructor() {
    super();
    this.games = []; // GET games
    this.game = null; // GET games/{id}
    this.agents = []; // GET agents of this game
    this.start = null; // text of the position before the moves; null for the initial one
    this.tree = new GameTree();
    this.node = this.tree.root;
    this.position = null;
    this.tags = {}; // of a loaded record
    this.error = null;
    this.cache = new Map();
    this.asked = 0; // number of the last request for a position
    this.opening = 0; // number of the last request for a game
    this.onReplace = () => {}; // called before another tree takes the place of this one
  }

  get moves() {
    return this.tree.pathTo(this.node);
  }

  get ply() {
    return this.moves.length;
  }

  /** The agents whose values mean something. */
  get judges() {
    return this.agents.filter((agent) => agent.judges);
  }

  /** Whether `position` is that of `node`. */
  get isSettled() {
    return this.position !== null && this.position.node === this.node;
  }

  async loadGames() {
    this.games = await get("games");
    this.changed();
  }

  /**
   * Shows the start of a game; its id is one of GET games, or a built-in game with other parameters. A game that the
   * server refuses changes nothing.
   */
  async setGame(id, tree = new GameTree(), place = null, tags = {}) {
    const opening = ++this.opening;
    const [game, agents] = await Promise.all([
      get(`games/${encodeURIComponent(id)}`),
      get(`agents?game=${encodeURIComponent(id)}`),
    ]);
    if (opening !== this.opening) return; // another game was chosen meanwhile
    this.onReplace();
    Object.assign(this, { game, agents, tree, tags, position: null, error: null, cache: new Map() });
    await this.goTo(tree.nodeAt(place));
    this.knowLine();
  }

  /** Gets the agents again, with those that were added. */
  async refreshAgents() {
    const { game } = this;
    const listed = await get(`agents?game=${encodeURIComponent(game.id)}`);
    const added = () => this.agents.filter(({ id }) => !listed.some((agent) => agent.id === id));
    const found = await Promise.all(added().map((agent) => agentOf(agent.id, game).catch(() => agent)));
    if (this.game !== game) return; // another one was opened meanwhile
    this.agents = [...listed, ...added().map((agent) => found.find(({ id }) => id === agent.id) ?? agent)];
    this.changed();
  }

  /** Adds an agent that the list lacks, such as an earlier net of a run. */
  async addAgent(id) {
    const { game } = this;
    const isKnown = () => this.game !== game || this.agents.some((agent) => agent.id === id);
    if (isKnown()) return;
    const agent = await agentOf(id, game);
    if (!isKnown()) this.agents = [...this.agents, agent];
  }

  /** Replaces the tree, e.g. by a new game or a loaded record. */
  async setTree(tree, place = null, tags = {}) {
    this.onReplace();
    Object.assign(this, { tree, tags });
    await this.goTo(tree.nodeAt(place));
    this.knowLine();
  }

  /** Gets to know who played the moves that follow, and whether the game is over at their end. */
  async knowLine() {
    const end = this.tree.lineOf(this.node).at(-1) ?? this.node;
    if (end === this.node) return;
    const position = await this.positionOf(end).catch(() => null); // a move that is not legal is told when it is reached
    if (position) this.note(position);
  }

  /** Moves to a node, and gets its position. If a move before it is illegal, stops at the last legal position. */
  async goTo(node) {
    this.node = node;
    this.error = null;
    const asked = ++this.asked;
    const known = this.cached(node);
    if (known) {
      this.show(known);
      return;
    }
    this.changed();
    try {
      const position = await this.positionOf(node);
      if (asked !== this.asked) return;
      this.show(position);
    } catch (error) {
      if (asked === this.asked) await this.stopAtError(node, error);
    }
  }

  show(position) {
    this.position = position;
    this.note(position);
  }

  /** Writes into the nodes that lead to a position who played them. */
  note({ node, movers }) {
    let each = node;
    for (let k = movers.length - 1; k >= 0 && each.parent; k--, each = each.parent) each.player = movers[k];
    this.changed();
  }

  /** Shows the legal part of a line of which a move is not legal; the start if nothing is shown yet. */
  async stopAtError(node, error) {
    const legal = error.at ?? null;
    if (legal === null || legal >= this.tree.plyOf(node)) {
      if (this.position && this.tree.has(this.position.node)) this.node = this.position.node;
      else if (node !== this.tree.root) await this.goTo(this.tree.root);
      this.error = error;
      this.changed();
      return;
    }
    const line = this.tree.pathTo(node);
    let last = this.tree.root;
    for (const move of line.slice(0, legal)) last = this.tree.play(last, move);
    const bad = last.children.find((child) => child.move === line[legal]);
    if (bad) this.tree.remove(bad);
    await this.goTo(last);
    this.error = error;
    this.changed();
  }

  forgetError() {
    this.error = null;
    this.changed();
  }

  /** Plays moves from the current node. They are gone again if the server refuses them. */
  async play(...moves) {
    const { node: begin, tree } = this;
    const known = new Set(begin.children);
    await this.goTo(moves.reduce((at, move) => tree.play(at, move), begin));
    if (this.error && this.node === begin)
      begin.children.filter((child) => !known.has(child)).forEach((child) => tree.remove(child));
  }

  back = () => this.node.parent && this.goTo(this.node.parent);
  forward = () => this.node.children.length && this.goTo(this.node.children[0]);
  first = () => this.goTo(this.tree.root);
  last = () => this.goTo(this.tree.lineOf(this.node).at(-1) ?? this.node);

  cached(node) {
    const known = this.cache.get(this.keyOf(node));
    return known ? { ...known, node } : null;
  }

  keyOf(node) {
    return this.tree.pathTo(node).join(" ");
  }

  /** Returns the position of a node of the tree, from the cache or the server. */
  async positionOf(node) {
    const known = this.cached(node);
    if (known) return known;
    const { cache, tree } = this; // of this game: the answer may come after another one was opened
    const nodes = tree.nodesTo(node);
    const position = await post("positions", {
      game: this.game.id,
      position: this.start,
      moves: nodes.map(({ move }) => move),
    });
    let at = 0;
    position.counts.forEach((count, k) => tree.spell(nodes[k], position.moves.slice(at, (at += count))));
    if (cache.size >= MOST_CACHED) cache.delete(cache.keys().next().value);
    cache.set(position.moves.join(" "), position);
    return { ...position, node };
  }
}

const agentOf = (id, game) => get(`agents/${encodeURIComponent(id)}?game=${encodeURIComponent(game.id)}`);

/** "Go, 9 × 9, komi 7.5" */
export const titleOf = ({ title, subtitle }) => [title, subtitle].filter(Boolean).join(", ");

/** The strongest agent that judges positions: a net of this game, else a search. */
export function defaultAgent(agents) {
  const judges = agents.filter((agent) => agent.judges);
  return (
    (
      judges.find((agent) => agent.kind === "net") ??
      judges.find((agent) => agent.kind === "uct") ??
      judges[0] ??
      agents[0]
    )?.id ?? null
  );
}
