// The places of a view: the stage with the board, the gauge, the panel, and the bar at its foot.

import { Board } from "../board/Board.js";
import { expectedAt } from "../game/expected.js";
import { html, useMemo } from "../html.js";
import { settings } from "../settings.js";

/** The board of the session. Its place and size are the same in all views. */
export function Stage({ session, app, overlay, isInteractive = true, onAction, onBack, onChosen, controls, gauge }) {
  const { game, node } = session;
  const position = useMemo(() => expectedAt(session.position, node), [session.position, node]);
  const isTurned = Boolean(game && settings.get("turned")[game.family]);
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
        controls=${controls}
        onMessage=${app.setStatus}
      />`}
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
