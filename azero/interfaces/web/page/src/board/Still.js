// A position that is only looked at, without a grid of cells.

import { html } from "../html.js";
import { Drawing } from "./Drawing.js";
import { stageOf } from "./geometry.js";
import { laid } from "./layout.js";
import { targets } from "./picking.js";

/** `from`: the name of a cell with a piece whose moves are shown; "" for none. Where a game shows targets, it does so here. */
export function Still({ position, from = "" }) {
  const picture = laid(position.picture, false);
  const chosen = picture.cells.flatMap(({ name }, cell) => (name === from ? [cell] : []));
  return html`<div class="board board-${picture.style}">
    <${Drawing}
      picture=${picture}
      view=${stageOf(picture)}
      pieceOn=${new Map(picture.pieces.map((piece) => [piece.cell, piece]))}
      mayClick=${targets(picture, chosen)}
      chosen=${chosen}
      position=${position}
      isInteractive=${position.to_move !== null}
      hovered=${null}
      overlay=${{}}
    />
  </div>`;
}
