// The menu of what can be copied: moves, link, commands, JSON, the board as SVG.

import { post } from "../api.js";
import { html, useState } from "../html.js";
import { RecordDialog } from "../records/RecordDialog.js";
import { DropDown } from "../shell/dialog.js";
import { Icon } from "../shell/icons.js";
import { boardAsSvg } from "./svg.js";

const SIMULATIONS = 400;

export function CopyMenu({ app, session }) {
  const [isOpen, setOpen] = useState(false);
  const copy = (what, make) => async () => {
    try {
      await navigator.clipboard.writeText(await make());
      app.toast({ text: `${what}: copied.` });
    } catch (error) {
      if (error.status) app.fail(error);
      else app.openDialog(() => html`<${Shown} app=${app} what=${what} make=${make} />`);
    }
  };
  const items = () => [
    { text: "Moves", onPick: copy("Moves", () => session.moves.join(" ")) },
    { text: "Link", onPick: copy("Link", async () => new URL(await app.link(), location.href).href) },
    "-",
    { text: "azero suggest …", onPick: copy("Command", () => commandOf(app, session)) },
    { text: "curl …", onPick: copy("Command", () => curlOf(app, session)) },
    { text: "JSON of a suggestion", onPick: copy("JSON", async () => JSON.stringify(await post("suggestions", asked(app, session)), null, 2)) },
    { text: "Board as SVG", onPick: copy("SVG", boardAsSvg) },
    "-",
    { text: "Save or load a record", onPick: () => app.openDialog(() => html`<${RecordDialog} app=${app} session=${session} />`) },
  ];
  return html`<span class="opens">
    <button class="icon-button" aria-label="Copy and save" title="Copy and save" aria-haspopup="menu" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
      <${Icon} name="code" />
    </button>
    ${isOpen && html`<${DropDown} label="Copy and save" items=${items()} onClose=${() => setOpen(false)} />`}
  </span>`;
}

const asked = (app, session) => ({ agent: app.agent, game: session.game.id, moves: session.moves, simulations: SIMULATIONS });

const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function commandOf(app, session) {
  const agent = session.agents.find(({ id }) => id === app.agent);
  const words = ["azero", "suggest", quote(`${app.agent.replace(/@.*/, "")}@${SIMULATIONS}`)];
  if (!agent?.game) words.push("--game", quote(session.game.id));
  if (session.ply) words.push("--moves", quote(session.moves.join(" ")));
  return words.join(" ");
}

const curlOf = (app, session) =>
  `curl -s ${location.origin}/api/v1/suggestions -H 'Content-Type: application/json' -d ${quote(JSON.stringify(asked(app, session)))}`;

/** Shows a text to copy by hand, where the browser refuses the clipboard. */
function Shown({ app, what, make }) {
  const [text, setText] = useState(null);
  if (text === null) Promise.resolve(make()).then(setText, (error) => setText(error.message));
  return html`<div class="veil"><div class="dialog" role="dialog" aria-modal="true" aria-label=${what}>
    <h2>${what}</h2>
    <textarea class="shown" aria-label=${what} rows="8" readonly value=${text ?? ""}></textarea>
    <div class="dialog-foot"><button class="primary" onClick=${app.closeDialog}>Close</button></div>
  </div></div>`;
}
