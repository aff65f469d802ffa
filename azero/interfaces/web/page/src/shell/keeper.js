// The game on the board is kept, so that a reload, Back and another game lose nothing.

import { hide, keep, newId } from "../game/kept.js";
import { titleOf } from "../game/session.js";
import { pack } from "../router.js";
import { returnTo } from "./opening.js";

/**
 * A game is a tree of moves. One that takes the place of another is a new entry of the browser's history, unless
 * there was nothing to lose. Each entry has the id under which its game is kept.
 */
export class Keeper {
  constructor(app) {
    this.app = app;
    this.tree = null; // of the game that is kept
    this.id = null;
    this.last = null; // what was kept of it
    this.offered = null; // the earlier game to which a click returns: {id, title, numMoves, isOver}
    this.toast = null; // that says so
    this.arrivals = new WeakMap(); // trees that come from a link or were kept before; see `arrive`
    window.addEventListener("pagehide", () => {
      this.save();
      app.play?.clocks?.stop();
    });
    document.addEventListener("visibilitychange", this.save); // on a phone it may be the last event
    window.addEventListener("pageshow", ({ persisted }) => persisted && app.play?.onChange());
  }

  /**
   * Says how a tree comes to the page that will show it soon: whether the history has an entry for it already
   * (`isEntry`), under which `id` it stays, and under which one it was kept so far (`from`).
   */
  arrive(tree, { isEntry, id = null, from = null }) {
    this.arrivals.set(tree, { isEntry, id, from });
  }

  /** Keeps the game as it stands. */
  save = () => {
    const { app } = this;
    const { tree, game } = app.session;
    if (!game || app.numOpening) return;
    if (tree !== this.tree) this.turnTo(tree);
    this.last = describe(app);
    keep(this.id, this.last, this.last.numMoves > 0);
    const { from } = this.arrivals.get(tree) ?? {};
    if (from) hide(from);
    this.arrivals.delete(tree);
  };

  /** Another game has taken the place of the one that was kept. */
  turnTo(tree) {
    const { id: leftId, last: left } = this;
    const { isEntry = false, id = null, from = null } = this.arrivals.get(tree) ?? {};
    Object.assign(this, { tree, id: id ?? newId() });
    const isWorth = left?.numMoves > 0;
    history[isWorth && !isEntry ? "pushState" : "replaceState"]({ game: this.id }, "");
    if (isWorth && !id) this.offer({ ...left, id: leftId });
    else if (this.offered && [id, from].includes(this.offered.id)) this.offer(null);
  }

  /** Offers to return to a game that was kept; null: to none. */
  offer(game) {
    const { app } = this;
    if (this.toast) app.dropToast(this.toast);
    this.offered = game;
    const text = game && `Your game of ${game.title} (${game.numMoves} ${game.numMoves === 1 ? "move" : "moves"}) is kept.`;
    const button = { text: "Return to it", onPick: () => returnTo(app, game.id) };
    this.toast = game && !game.isOver ? app.toast({ text, button }) : null;
  }

  /** Makes the link in the address bar that of the page. */
  showLink = async () => {
    const { app, tree } = this;
    if (!tree || app.numOpening) return;
    const link = await pack(app.link);
    if (app.numOpening || app.session.tree !== tree) return; // another entry has come meanwhile
    app.ownHash = link;
    if (location.hash !== link) history.replaceState({ game: this.id }, "", link);
  };
}

/** A game as it is kept: its link, and what links do not hold. */
function describe({ session, play, link }) {
  const { tree, tags, game } = session;
  const line = tree.mainLine();
  return {
    link,
    title: titleOf(game),
    numMoves: line.length,
    isOver: play?.isOver ?? Boolean(line.length && session.cached(line.at(-1))?.result),
    tags,
    notes: tree.notes,
    play: play?.begun ?? tree.kept.play,
    review: tree.kept.review ?? session.review?.kept,
    analysis: tree.kept.analysis ?? session.analyst?.kept,
  };
}
