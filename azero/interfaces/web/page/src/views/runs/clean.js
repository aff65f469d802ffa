// A game of the best net against itself without noise and random openings, as the server's searches play it.

import { post } from "../../api.js";
import { forFirst } from "../../score.js";

const SIMULATIONS = 200;
const RESULT = { win: 1, draw: 0, loss: -1 };

/** Plays move by move. `game` has the form of the server's self-play games, and grows. */
export class CleanGame {
  constructor(watch) {
    const { run, metrics, app } = watch;
    Object.assign(this, { watch, app, agent: `run:${run.id}`, isPlaying: true, aborter: new AbortController() });
    const net = metrics.nets.at(-1)?.iteration ?? null;
    this.game = { id: "clean", game: app.session.game.id, iteration: null, net, given_plies: 0, opening_plies: 0, has_start: false, moves: [], plies: [], result: null };
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
        if (watch.game === game) await this.follow(found.best);
        app.changed();
      }
    } catch (error) {
      app.fail(error);
    }
    this.isPlaying = false;
    app.changed();
  }

  /** Adds a move to the board's tree; the board goes along if it showed the last position. */
  async follow(move) {
    const { session } = this.app;
    const line = session.tree.mainLine();
    const end = line.at(-1) ?? session.tree.root;
    if (session.tree.plyOf(end) + 1 !== this.game.moves.length) return;
    const next = session.tree.play(end, move);
    if (session.node === end) await session.goTo(next);
    else session.changed();
  }
}

/** The form of a move of self-play, of the answer of POST suggestions. */
function plyOf(found, toMove) {
  const total = found.moves.reduce((sum, { visits }) => sum + visits, 0) || 1;
  const best = found.moves[0];
  return {
    move: found.best,
    player: toMove,
    policy: Object.fromEntries(found.moves.filter(({ visits }) => visits).map(({ move, visits }) => [move, visits / total])),
    value: forFirst(found.value, toMove),
    proven: best?.proven ? forFirst(RESULT[best.proven], toMove) : null,
    is_learned: null,
    prior: Object.fromEntries(found.moves.map(({ move, prior }) => [move, prior])),
    net_value: null,
  };
}
