// The places of a view: the stage with the board, the gauge, the panel, and the bar at its foot.

import { Board } from "../board/Board.js";
import { kindOf } from "../board/Drawing.js";
import { html, useApp, useMemo } from "../html.js";
import { settings } from "../settings.js";

/**
 * The position that the board shows while the server is asked for that of `node`: one's own piece lies there at once.
 * What is captured or turned over comes with the answer. Where `node` is no next move, it is `position` itself.
 */
function expectedAt(position, node) {
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
  const put = (piece) => [
    ...pieces.filter(({ cell }) => cell !== piece.cell && !(steps.length > 1 && cell === from)),
    piece,
  ];
  if (steps.length === 1) return put({ cell: cells[0], player, kind: kindOf(picture, player), text: "" });
  if (steps[step] === "Shoots at") return [...pieces, { cell: cells[0], player: null, kind: "blocked", text: "" }];
  return to !== undefined && lies(from) ? put({ ...lies(from), cell: to }) : pieces;
}

/** The board, with the position of the session or another one. Its place and size are the same in all views. */
export function Stage({ position: given, overlay, isInteractive = true, onAction, onBack, onChosen, controls, gauge }) {
  const app = useApp();
  const session = app.shown;
  const { game, node } = session;
  const expected = useMemo(() => expectedAt(session.position, node), [session.position, node]);
  const position = given ?? expected;
  const isTurned = Boolean(game && settings.get("turned")[game.family]);
  const onMove = onAction ?? ((action) => session.play(action.move));
  return html`<section class="stage" aria-label="Position">
      ${
        position &&
        html`<${Board}
        position=${position}
        isInteractive=${isInteractive && session.isSettled && position.to_move !== null}
        isTurned=${isTurned}
        overlay=${overlay}
        onAction=${onMove}
        onBack=${onBack}
        onChosen=${onChosen}
        controls=${controls}
        onMessage=${app.setStatus}
      />`
      }
    </section>
    <div class="gauge-place">${gauge}</div>`;
}

/** Shows the boards of this family from the other side. */
export function turnBoard({ game: { family } }) {
  settings.set("turned", { ...settings.get("turned"), [family]: !settings.get("turned")[family] });
}

/** The panel beside the board. `bar` stays at its foot, and `foot` below it. */
export const PanelFrame = ({ label, children, bar, foot }) => html`<section class="panel" aria-label=${label}>
  <div class="panel-body">${children}</div>
  ${bar && html`<div class="panel-bar">${bar}</div>`}
  ${foot}
</section>`;
