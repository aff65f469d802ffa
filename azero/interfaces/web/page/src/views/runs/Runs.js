import { html } from "../../html.js";
import { PanelFrame, Stage } from "../../shell/layout.js";

export function Runs({ session, app }) {
  return html`<${Stage} session=${session} app=${app} /><${PanelFrame} label="Runs"></${PanelFrame}>`;
}
