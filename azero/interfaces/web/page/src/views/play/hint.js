// Hints: the square of the best move, then the line that may follow.

import { post } from "../../api.js";
import { overlayOfLine } from "../../panel/overlays.js";

const SIMULATIONS = 400;

/** Shows the square of the best move; asked again, the line that may follow. `play.hint` is {move, line, isLine}. */
export async function askHint(play) {
  if (!play.mayMove) return;
  const { app, hint, session } = play;
  if (hint) {
    play.hint = { ...hint, isLine: true };
    app.announce(`Hint: ${hint.line.join(" ")}`);
    return play.changed();
  }
  try {
    const found = await hintOf(app.agent, session);
    if (!found) return;
    play.hint = { ...found, isLine: false };
    app.announce(`Hint: ${found.move}`);
  } catch (error) {
    app.fail(error);
  }
  play.changed();
}

/** Returns {move, line} of the best move in the session's position; null if it is shown no more. */
async function hintOf(agent, session) {
  const { node } = session;
  const body = { agent, game: session.game.id, moves: session.moves, simulations: SIMULATIONS };
  const [best] = (await post("suggestions", body)).moves;
  if (session.node !== node || !best) return null;
  return { move: best.move, line: best.pv };
}

/** What the board shows of a hint. */
export function hintOverlay(hint, { to_move: toMove, picture }) {
  if (!hint) return {};
  const { line, isLine } = hint;
  if (isLine) return overlayOfLine(picture, toMove, line);
  const cells = picture.actions.find(({ move }) => move === line[0])?.cells ?? [];
  return { marks: [{ cells: cells.slice(0, 1), text: "", share: 0, kind: "best" }] };
}
