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
    this.game = { id: "clean", game: watch.board.game.id, iteration: null, net, given_plies: 0, opening_plies: 0, has_start: false, moves: [], plies: [], result: null };
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
    policy: Object.fromEntries(found.moves.filter(({ visits }) => visits).map(({ move, visits }) => [move, visits / total])),
    value: forFirst(found.value, toMove),
    proven: found.proven ? forFirst(RESULT[found.proven], toMove) : null,
    is_learned: null,
    prior: Object.fromEntries(found.moves.map(({ move, prior }) => [move, prior])),
    net_value: null,
  };
}
