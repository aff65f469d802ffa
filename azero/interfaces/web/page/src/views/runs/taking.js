// From the view Runs to the others: its board becomes theirs.

import { GameTree } from "../../game/tree.js";

/** Opens the game of the board in the other views; returns whether it is there. Their own game stays if it is the same one. */
export async function takeGame({ app, board }) {
  return app.session.game.id === board.game.id || app.setGame(board.game.id);
}

/** Shows the board's moves in the other views, in place of the user's game. */
export async function takeToViews(watch) {
  const { app, board } = watch;
  const { session } = app;
  if (board === session) return true;
  if (board.start) return takeGame(watch); // Runs alone can show its moves
  if (!(await takeGame(watch))) return false;
  await session.setTree(GameTree.fromText(board.tree.toText()), board.tree.placeOf(board.node), { ...board.tags });
  return true;
}
