// What a move looks like before the server has answered.

import { kindOf } from "../board/pieces.js";

/**
 * The position that the board shows while the server is asked for that of `node`: one's own piece lies there at once.
 * What is captured or turned over comes with the answer. Where `node` is no next move, it is `position` itself.
 */
export function expectedAt(position, node) {
  if (!position || node === position.node || node.parent !== position.node) return position;
  const { picture, ply, to_move: player } = position;
  const action = picture.actions.find(({ move }) => move === node.move);
  if (!action?.cells.length) return position;
  const pieces = movedPieces(picture, action.cells, player);
  return { ...position, ply: ply + 1, last: action.cells, picture: { ...picture, pieces, actions: [], buttons: [] } };
}

function movedPieces(picture, cells, player) {
  const { pieces, begun, step, steps } = picture;
  const [from, to] = [...begun, ...cells].slice(-2);
  const lies = (cell) => pieces.find((piece) => piece.cell === cell);
  const put = (piece) => [...pieces.filter(({ cell }) => cell !== piece.cell && !(steps.length > 1 && cell === from)), piece];
  if (steps.length === 1) return put({ cell: cells[0], player, kind: kindOf(picture, player), text: "" });
  if (steps[step] === "Shoots at") return [...pieces, { cell: cells[0], player: null, kind: "blocked", text: "" }];
  return to !== undefined && lies(from) ? put({ ...lies(from), cell: to }) : pieces;
}
