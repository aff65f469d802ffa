// The places of a view: the stage with the board, the gauge, the panel, and the bar at its foot.

import { Board } from "../board/Board.js";
import { html } from "../html.js";
import { settings } from "../settings.js";

/** The board of the session. Its place and size are the same in all views. */
export function Stage({ session, app, overlay, isInteractive = true, onAction, onBack, onChosen, gauge }) {
  const { position, game } = session;
  const isTurned = Boolean(game && settings.get("turned")[game.family ?? game.id]);
  const onMove = onAction ?? ((action) => session.play(action.move));
  return html`<section class="stage" aria-label="Position">
      ${position && html`<${Board}
        position=${position}
        isInteractive=${isInteractive && session.isSettled && position.to_move !== null}
        isTurned=${isTurned}
        overlay=${overlay}
        onAction=${onMove}
        onBack=${onBack}
        onChosen=${onChosen}
        onMessage=${app.setStatus}
      />`}
    </section>
    <div class="gauge-place">${gauge}</div>`;
}

/** The panel beside the board. `bar` stays at its foot. */
export const PanelFrame = ({ label, children, bar }) => html`<section class="panel" aria-label=${label}>
  <div class="panel-body">${children}</div>
  ${bar && html`<div class="panel-bar">${bar}</div>`}
</section>`;
