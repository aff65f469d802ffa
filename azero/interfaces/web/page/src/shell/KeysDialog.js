// All keys that act now.

import { html } from "../html.js";
import { activeKeys } from "../keys.js";
import { settings } from "../settings.js";
import { Dialog } from "./dialog.js";

const NAMES = { arrowleft: "←", arrowright: "→", arrowup: "↑", arrowdown: "↓", space: "Space", escape: "Esc", delete: "Del", enter: "Enter" };
const shown = (name) =>
  name.split(" ").map((part) => part.split("+").map((key) => NAMES[key] ?? (key === "shift" ? "Shift" : key.length > 1 ? key[0].toUpperCase() + key.slice(1) : key.toUpperCase())).join(" ")).join(" ");

export function KeysDialog({ app }) {
  const board = [["arrows", "move the cursor on the board"], ["enter", "pick a cell"], ["escape", "one step back"]];
  return html`<${Dialog} title="Keys" onClose=${app.closeDialog}>
    <label class="check">
      <input type="checkbox" checked=${settings.get("keys")} onChange=${(event) => settings.set("keys", event.target.checked)} />
      Single keys act
    </label>
    <dl class="keys">
      ${[...activeKeys(), ...board].map(([name, what]) => html`<div><dt><kbd>${shown(name)}</kbd></dt><dd>${what}</dd></div>`)}
    </dl>
  </${Dialog}>`;
}
