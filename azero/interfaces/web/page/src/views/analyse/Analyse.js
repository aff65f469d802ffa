import { html } from "../../html.js";
import { PanelFrame, Stage } from "../../shell/layout.js";

export function Analyse({ session, app }) {
  return html`<${Stage} session=${session} app=${app} /><${PanelFrame} label="Analyse"></${PanelFrame}>`;
}
