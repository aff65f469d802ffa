// How a game begins.

import { GameTree } from "../../game/tree.js";

/** Begins a game in the session: an empty board, these players, this clock. */
export async function beginGame(app, players, limit) {
  await app.session.setTree(new GameTree({ play: { players, limit } }));
  app.setView("play");
}
