// What is known of a run: asked for again and again, so that new points come by themselves.

import { get, post } from "../../api.js";

const POLL_MS = 5000;

/** The state of the view, which survives a change of views. */
export class Watch {
  constructor(app) {
    this.app = app;
    this.runs = null; // GET runs
    this.run = null; // one of them
    this.metrics = null; // {rows, state, iterations, updated_s, resume, nets}
    this.games = []; // the newest self-play games
    this.game = null; // one of them, move by move
    this.opinions = null; // {key, list} of the position on the board
    this.iteration = null; // that the user has chosen; null: the last one
    this.isBusy = false;
  }

  async open(id = null) {
    const { app } = this;
    try {
      this.runs = await get("runs");
      const fitting = this.runs.filter((run) => !run.problem);
      const known = fitting.find((run) => run.id === (id ?? this.run?.id)) ?? fitting.find((run) => run.game === app.session.game.id) ?? fitting[0];
      if (known && known.id !== this.run?.id) await this.choose(known);
      else await this.poll();
    } catch (error) {
      app.fail(error);
    }
    app.changed();
  }

  async choose(run) {
    Object.assign(this, { run, metrics: null, games: [], game: null, opinions: null, iteration: null });
    this.app.changed();
    if (run.game !== this.app.session.game.id) await this.app.setGame(run.game);
    await this.poll();
  }

  /** Asks for what is new. What the user has chosen stays. */
  async poll() {
    const { run } = this;
    if (!run || this.isBusy) return;
    this.isBusy = true;
    try {
      const after = this.metrics?.rows.at(-1)?.iteration ?? 0;
      const [found, games] = await Promise.all([
        get(`runs/${encodeURIComponent(run.id)}/metrics?after=${after}`),
        get(`runs/${encodeURIComponent(run.id)}/games?limit=30`),
      ]);
      if (run !== this.run) return;
      this.metrics = { ...found, rows: [...(this.metrics?.rows ?? []), ...found.rows] };
      this.games = games;
      if (!this.game && games.length) await this.show(games[0].id);
    } catch (error) {
      this.app.fail(error);
    } finally {
      this.isBusy = false;
      this.app.changed();
    }
  }

  start() {
    this.open();
    this.timer = setInterval(() => document.visibilityState === "visible" && this.poll(), POLL_MS);
  }

  stop() {
    clearInterval(this.timer);
  }

  /** Shows a self-play game on the board. */
  async show(id) {
    const { app, run } = this;
    try {
      const game = await get(`runs/${encodeURIComponent(run.id)}/games/${id}`);
      if (run !== this.run) return;
      this.game = game;
      if (game.start) app.toast({ text: "This game began at a position of its own; the board shows the beginning of the rules." });
      else await this.onBoard(game);
    } catch (error) {
      app.fail(error);
    }
    app.changed();
  }

  async onBoard(game) {
    const { session } = this.app;
    if (session.game.id !== game.game && this.run.sizes?.includes(game.game)) await this.app.setGame(game.game);
    const { GameTree } = await import("../../game/tree.js");
    const tree = new GameTree();
    let node = tree.root;
    for (const move of game.moves) node = tree.play(node, move);
    const place = Math.min(game.moves.length, game.opening_plies + Math.floor(game.plies.length / 2));
    await session.setTree(tree, String(place), { Event: this.run.name, Round: game.id });
  }

  /** What search and net thought of the position on the board; null if it is not of the game that is shown. */
  thought() {
    const { game } = this;
    const { session } = this.app;
    if (!game || game.start) return null;
    const { moves } = session;
    if (!moves.every((move, k) => game.moves[k] === move)) return null;
    return game.plies[moves.length - game.opening_plies] ?? null;
  }

  /** Asks the nets of the run for their opinion of the position on the board. */
  async askOpinions() {
    const { session } = this.app;
    const key = `${this.run?.id} ${session.game.id} ${session.moves.join(" ")} ${this.metrics?.nets.length}`;
    if (!this.run || this.opinions?.key === key || session.position?.to_move === null) return;
    this.opinions = { key, list: this.opinions?.list ?? [], isOld: true };
    try {
      const list = await post(`runs/${encodeURIComponent(this.run.id)}/opinions`, { game: session.game.id, moves: session.moves });
      if (this.opinions.key === key) this.opinions = { key, list };
    } catch {
      if (this.opinions.key === key) this.opinions = { key, list: [] };
    }
    this.app.changed();
  }

  get last() {
    return this.metrics?.rows.at(-1)?.iteration ?? 0;
  }

  get chosen() {
    return this.iteration ?? this.last;
  }

  chooseIteration = (iteration) => {
    this.iteration = iteration === null || iteration >= this.last ? null : Math.max(1, iteration);
    this.app.changed();
  };

  /** The agent that is the net of the chosen iteration: the last one that was promoted until then. */
  get agent() {
    const net = this.metrics?.nets.filter(({ iteration }) => iteration <= this.chosen).at(-1);
    return net?.agent ?? null;
  }
}
