// All keys that act now.

import { html } from "../html.js";
import { activeKeys } from "../keys.js";
import { settings } from "../settings.js";
import { Dialog } from "./dialog.js";

const NAMES = { arrowleft: "←", arrowright: "→", arrowup: "↑", arrowdown: "↓", space: "Space", escape: "Esc", delete: "Del", enter: "Enter" };
const shown = (name) =>
  name.split(" ").map((part) => part.split("+").map((key) => NAMES[key] ?? (key === "shift" ? "Shift" : key.length > 1 ? key[0].toUpperCase() + key.slice(1) : key.toUpperCase())).join(" ")).join(" ");

export function KeysDialog({ app }) {
  const board = [[["arrows"], "move the cursor on the board, reached by Tab"], [["enter"], "pick a cell"], [["escape", "backspace"], "one step back"]];
  return html`<${Dialog} title="Keys" onClose=${app.closeDialog}>
    <label class="check">
      <input type="checkbox" checked=${settings.get("keys")} onChange=${(event) => settings.set("keys", event.target.checked)} />
      Single keys act
    </label>
    <dl class="keys">
      ${[...activeKeys(), ...board].map(([names, what]) => html`<div><dt>${keysOf(names)}</dt><dd>${what}</dd></div>`)}
    </dl>
  </${Dialog}>`;
}

/** All keys of a row; many of them, e.g. 1 to 9, as a range. */
function keysOf(names) {
  const key = (name) => html`<kbd>${shown(name)}</kbd> `;
  return names.length > 3 ? html`${key(names[0])}to ${key(names.at(-1))}` : names.map(key);
}
