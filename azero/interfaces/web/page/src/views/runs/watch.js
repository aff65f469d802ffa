// What Runs knows of a run, and a game of its best net against itself.

import { get, post } from "../../api.js";
import { Session } from "../../game/session.js";
import { GameTree } from "../../game/tree.js";
import { forFirst } from "../../score.js";

const SIMULATIONS = 200;
const RESULT = { win: 1, draw: 0, loss: -1 };

/** Plays move by move. `game` has the form of the server's self-play games, and grows. */
class CleanGame {
  constructor(watch) {
    const { run, metrics, app } = watch;
    this.watch = watch;
    this.app = app;
    this.agent = `run:${run.id}`;
    this.isPlaying = true;
    this.aborter = new AbortController();
    const net = metrics.nets.at(-1)?.iteration ?? null;
    this.game = {
      id: "clean",
      game: watch.board.game.id,
      iteration: null,
      net,
      given_plies: 0,
      opening_plies: 0,
      has_start: false,
      moves: [],
      plies: [],
      result: null,
    };
  }

  stop() {
    this.isPlaying = false;
    this.aborter.abort();
    this.app.changed();
  }

  async play() {
    const { game, app, watch } = this;
    const { signal } = this.aborter;
    try {
      while (this.isPlaying) {
        const asked = { game: game.game, moves: game.moves };
        const position = await post("positions", asked, { signal });
        if (position.result) {
          game.result = position.result;
          break;
        }
        const found = await post("suggestions", { agent: this.agent, ...asked, simulations: SIMULATIONS }, { signal });
        game.plies.push(plyOf(found, position.to_move));
        game.moves.push(found.best);
        if (watch.game === game) await this.follow();
        app.changed();
      }
    } catch (error) {
      app.fail(error);
    }
    this.isPlaying = false;
    app.changed();
  }

  /** Adds to the tree of its board what it lacks; the board goes along if it showed the last position. */
  async follow() {
    const { own } = this.watch;
    let end = own.tree.root; // of what the tree has
    let next = end;
    for (const move of this.game.moves) {
      const known = next.children.find((child) => child.move === move);
      if (known && end === next) end = known;
      next = known ?? own.tree.play(next, move);
    }
    if (own.node === end) await own.goTo(next);
    else own.changed();
  }
}

/** The form of a move of self-play, of the answer of POST suggestions. */
function plyOf(found, toMove) {
  const total = found.moves.reduce((sum, { visits }) => sum + visits, 0) || 1;
  return {
    move: found.best,
    player: toMove,
    policy: Object.fromEntries(
      found.moves.filter(({ visits }) => visits).map(({ move, visits }) => [move, visits / total]),
    ),
    value: forFirst(found.value, toMove),
    proven: found.proven ? forFirst(RESULT[found.proven], toMove) : null,
    is_learned: null,
    prior: Object.fromEntries(found.moves.map(({ move, prior }) => [move, prior])),
    net_value: null,
  };
}

const POLL_MS = 5000;
const LISTED = 30; // games

/** The state of the view, which survives a change of views. */
export class Watch {
  constructor(app) {
    this.app = app;
    this.runs = null; // GET runs
    this.run = null; // one of them
    this.metrics = null; // the last answer of metrics, with all rows
    this.list = { games: [], noise: null, problems: [] }; // the newest self-play games
    this.game = null; // the game on the board, move by move
    this.own = null; // the session of that game: the user's own game stays as it is
    this.beside = null; // the user's game when it was opened
    this.asked = 0; // number of the last game that was asked for
    this.clean = null; // a game without noise
    this.opinions = null; // {key, opinions, isWhole, problems} of the position on the board
    this.iteration = null; // that is selected; null: the last one
    this.isBusy = false;
  }

  /** The session that the board shows: that of the run's game, unless the user has chosen another game in the header since. */
  get board() {
    const { own } = this;
    const { session } = this.app;
    return own && (session.game === this.beside || session.game.id === own.game.id) ? own : session;
  }

  path = (rest) => `runs/${encodeURIComponent(this.run.id)}/${rest}`;

  get usable() {
    return (this.runs ?? []).filter((run) => !run.problem);
  }

  async open() {
    const { app } = this;
    try {
      this.runs = await get("runs");
      const ofGame = this.usable.find((run) => run.sizes.includes(app.session.game.id));
      const same = this.usable.find((run) => run.id === this.run?.id);
      const known = same ?? ofGame ?? this.usable[0];
      if (known && known.id !== this.run?.id) await this.choose(known);
      else if (this.run) await this.poll();
    } catch (error) {
      app.fail(error);
    }
    app.changed();
  }

  async choose(run) {
    this.clean?.stop();
    Object.assign(this, { run, metrics: null, game: null, own: null, clean: null, opinions: null, iteration: null });
    this.list = { games: [], noise: null, problems: [] };
    this.app.changed();
    if (!run.sizes.includes(this.app.session.game.id))
      await this.openBoard(run.game, new GameTree()).catch(this.app.fail);
    await this.poll();
  }

  /** Asks for what is new, runs among it. What the user has chosen stays. */
  async poll() {
    const { run } = this;
    if (this.isBusy) return;
    if (!run) return this.open();
    this.isBusy = true;
    try {
      const [runs, found, list] = await Promise.all([
        get("runs"),
        this.newMetrics(),
        get(this.path(`games?limit=${LISTED}`)),
      ]);
      if (run !== this.run) return;
      this.runs = runs;
      this.metrics = found;
      this.list = list;
      if (!this.game && list.games.length) await this.show(list.games[0].id);
    } catch (error) {
      if (run === this.run) this.app.fail(error);
      if (run === this.run && error.code === "unknown_run") this.run = null; // its folder has gone
    } finally {
      this.isBusy = false;
      this.app.changed();
      if (run !== this.run) this.poll();
    }
  }

  /** The metrics with their new rows; all of them if another run has begun in the folder, or the run went back. */
  async newMetrics() {
    const { metrics } = this;
    const known = metrics?.rows ?? [];
    const last = known.at(-1)?.iteration ?? 0;
    const found = await get(this.path(`metrics?after=${last}`));
    if (last && (found.mark !== metrics.mark || found.last < last)) return get(this.path("metrics"));
    return { ...found, rows: [...known, ...found.rows] };
  }

  start() {
    this.open();
    this.timer = setInterval(() => document.visibilityState === "visible" && this.poll(), POLL_MS);
  }

  stop() {
    clearInterval(this.timer);
    this.clean?.stop();
  }

  /** Shows a self-play game on the board, and selects the net that played it. */
  async show(id) {
    const { app, run } = this;
    const asked = ++this.asked;
    try {
      const game = id === "clean" ? this.clean.game : await get(this.path(`games/${id}`));
      if (run === this.run && asked === this.asked) await this.onBoard(game);
    } catch (error) {
      app.fail(error);
    }
    app.changed();
  }

  /** Puts a game of the run on the board. */
  async onBoard(game) {
    const tree = new GameTree();
    let node = tree.root;
    for (const move of game.moves) node = tree.play(node, move);
    const before = game.given_plies + game.opening_plies;
    const place = String(
      game.id === "clean" ? game.moves.length : Math.min(game.moves.length, before + Math.floor(game.plies.length / 3)),
    );
    const { start = null } = game;
    const tags = { Event: this.run.name, Round: game.id };
    await this.openBoard(game.game, tree, { start, place, tags }, () =>
      Object.assign(this, { game, iteration: game.net }),
    );
  }

  /** Shows a tree in a session of its own; `then` is called with it, unless another game was asked for meanwhile. */
  async openBoard(id, tree, { start = null, place = null, tags = {} } = {}, then = null) {
    const { app, asked, run } = this;
    const own = new Session();
    const known = [this.own, app.session].find((session) => session?.game.id === id);
    Object.assign(own, { start, games: app.session.games });
    if (known) {
      Object.assign(own, { game: known.game, agents: known.agents });
      await own.setTree(tree, place);
    } else await own.setGame(id, tree, place);
    if (!own.position) throw own.error;
    if (run !== this.run || asked !== this.asked) return;
    own.tags = tags;
    own.subscribe(() => app.changed());
    Object.assign(this, { own, beside: app.session.game });
    then?.();
    app.changed();
  }

  /** Whether the board shows a position of the game that is shown. */
  get isOnGame() {
    const { board, game } = this;
    return Boolean(game) && board === this.own && board.moves.every((move, k) => game.moves[k] === move);
  }

  /** Whether the run plays the game on the board. */
  get isOfRun() {
    return Boolean(this.run?.sizes.includes(this.board.game.id));
  }

  /** What search and net thought of the position on the board; null if it is not of the game that is shown. */
  get thought() {
    if (!this.isOfRun || !this.board.isSettled || !this.isOnGame) return null;
    return this.game.plies[this.board.ply - this.game.given_plies - this.game.opening_plies] ?? null;
  }

  /** The prior of the selected net; of a game's own net it comes with the game. */
  get prior() {
    const { game, net, thought } = this;
    if (thought?.prior && (net?.iteration === game.net || game.id === "clean")) return thought.prior;
    return this.isOfRun && this.isHeard ? this.opinion.prior : null;
  }

  /** Lets the best net play a game without noise and random openings, move by move. */
  playClean() {
    this.clean?.stop();
    this.clean = new CleanGame(this);
    this.show("clean");
    this.clean.play();
  }

  /** Names the position on the board and the nets that may be asked of it; null if there is nothing to ask. */
  get keyOfBoard() {
    const { board } = this;
    if (!this.run || !board.isSettled || board.position.to_move === null) return null;
    return JSON.stringify([this.run.id, board.game.id, board.start, board.moves, this.metrics?.nets.length]);
  }

  /** Whether `opinions` are about the position on the board. */
  get isHeard() {
    return (
      this.keyOfBoard !== null &&
      this.opinions?.key === this.keyOfBoard &&
      !this.opinions.isOld &&
      this.opinions.opinions.length > 0
    );
  }

  /** Asks the nets of the run for their opinion of the position on the board. */
  async askOpinions() {
    const { board } = this;
    const key = this.keyOfBoard;
    if (key === null || this.opinions?.key === key) return;
    this.opinions = { opinions: [], problems: [], ...this.opinions, key, isWhole: false, isOld: true };
    const asked = { game: board.game.id, position: board.start, moves: board.moves };
    for (let isWhole = false; !isWhole && this.opinions?.key === key; ) {
      try {
        const found = await post(this.path("opinions"), asked);
        if (this.opinions?.key !== key) return;
        isWhole = found.is_whole;
        this.opinions = { key, isWhole, opinions: found.opinions, problems: found.problems };
      } catch (error) {
        if (this.opinions?.key !== key) return;
        isWhole = true;
        this.opinions = { key, isWhole, opinions: [], problems: [error.message] };
      }
      this.app.changed();
    }
  }

  get last() {
    return this.metrics?.rows.at(-1)?.iteration ?? 0;
  }

  /** The iteration that is selected everywhere; 0 is the first net. */
  get chosen() {
    return this.iteration ?? this.last;
  }

  chooseIteration = (iteration) => {
    this.iteration = Math.max(0, Math.min(this.last, iteration));
    this.app.changed();
  };

  /** The net of the selected iteration: the last one that was promoted until then. */
  get net() {
    return (
      this.metrics?.nets.filter(({ iteration }) => iteration <= this.chosen).at(-1) ?? this.metrics?.nets[0] ?? null
    );
  }

  /** The opinion of the net of the selected iteration, or of the nearest earlier one that was asked. */
  get opinion() {
    const { opinions = [] } = this.opinions ?? {};
    return opinions.filter(({ iteration }) => iteration <= this.chosen).at(-1) ?? opinions[0] ?? null;
  }
}
