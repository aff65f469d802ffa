// How a game begins.

import { GameTree } from "../../game/tree.js";
import { PlayGame } from "./game.js";

/** Begins a game in the session: an empty board, these players, this clock. */
export async function beginGame(app, players, clock) {
  app.play?.stop();
  await app.session.setTree(new GameTree());
  app.play?.stop(); // the view may have begun one meanwhile
  app.play = new PlayGame(app, players, clock);
  app.play.onChange();
  app.setView("play");
}
