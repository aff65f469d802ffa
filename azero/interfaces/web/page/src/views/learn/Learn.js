import { html } from "../../html.js";
import { PanelFrame, Stage } from "../../shell/layout.js";

export function Learn({ session, app }) {
  return html`<${Stage} session=${session} app=${app} /><${PanelFrame} label="Learn"></${PanelFrame}>`;
}
