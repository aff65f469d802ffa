// The menu of what can be copied: moves, link, commands, JSON, the board as SVG.

import { post } from "../api.js";
import { defaultAgent } from "../game/session.js";
import { html, useApp, useState } from "../html.js";
import { Dialog, DropDown } from "./controls.js";
import { Icon } from "./icons.js";
import { RecordDialog } from "./RecordDialog.js";

const COPIED = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-opacity",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "opacity",
  "font-size",
  "font-weight",
  "text-anchor",
  "paint-order",
  "stop-color",
  "display",
  "transform",
];

/** Returns the drawing's source, with the colours of the current theme written into it. */
function boardAsSvg() {
  const drawing = document.querySelector(".drawing");
  const copy = /** @type {SVGElement} */ (drawing.cloneNode(true));
  const [from, to] = [
    drawing.querySelectorAll("*"),
    /** @type {NodeListOf<SVGElement>} */ (copy.querySelectorAll("*")),
  ];
  to.forEach((element, k) => {
    const style = getComputedStyle(from[k]);
    for (const name of COPIED) {
      const value = style.getPropertyValue(name);
      if (value && value !== "none 0s ease 0s")
        element.style.setProperty(name, value.replace(/url\("[^"]*#/, 'url("#'));
    }
    element.removeAttribute("class");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("font-family", "system-ui, sans-serif");
  copy.removeAttribute("class");
  return new XMLSerializer().serializeToString(copy);
}

const SIMULATIONS = 400;

export function CopyMenu() {
  const app = useApp();
  const [isOpen, setOpen] = useState(false);
  const copy = (what, make) => async () => {
    let text = null;
    try {
      text = await make();
      await navigator.clipboard.writeText(text);
      app.toast({ text: `${what}: copied.` });
    } catch (error) {
      if (text === null) app.fail(error);
      else app.openDialog(() => html`<${Shown} what=${what} text=${text} />`);
    }
  };
  const command = isOpen && commandOf(app);
  const items = () => [
    { text: "Moves", onPick: copy("Moves", () => app.shown.moves.join(" ")) },
    { text: "Link", onPick: copy("Link", app.address) },
    "-",
    ...(command ? [{ text: "azero suggest …", onPick: copy("Command", () => command) }] : []),
    { text: "curl …", onPick: copy("Command", () => curlOf(app)) },
    {
      text: "JSON of a suggestion",
      onPick: copy("JSON", async () => JSON.stringify(await post("suggestions", asked(app)), null, 2)),
    },
    { text: "Board as SVG", onPick: copy("SVG", boardAsSvg) },
    "-",
    { text: "Save or load a record", onPick: () => app.openDialog(RecordDialog) },
  ];
  return html`<span class="opens">
    <button class="icon-button" aria-label="Copy and save" title="Copy and save" aria-haspopup="menu" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
      <${Icon} name="code" />
    </button>
    ${isOpen && html`<${DropDown} label="Copy and save" items=${items()} onClose=${() => setOpen(false)} />`}
  </span>`;
}

/** The agent of Analyse, or the first of a game that Runs shows alone. */
const agentOf = ({ agent, shown: { agents } }) => agents.find(({ id }) => id === agent)?.id ?? defaultAgent(agents);

const asked = (app) => ({
  agent: agentOf(app),
  game: app.shown.game.id,
  position: app.shown.start ?? undefined,
  moves: app.shown.moves,
  simulations: SIMULATIONS,
});

const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The command that asks the same; null if the agent or the game has no name that the server tells. */
function commandOf(app) {
  const session = app.shown;
  const agent = session.agents.find(({ id }) => id === agentOf(app));
  if (!agent?.name || session.game.is_own) return null;
  const words = ["azero", "suggest", quote(agent.kind === "random" ? agent.name : `${agent.name}@${SIMULATIONS}`)];
  if (agent.game !== session.game.id) words.push("--game", quote(session.game.id));
  if (session.start) words.push("--position", quote(session.start));
  if (session.ply) words.push("--moves", quote(session.moves.join(" ")));
  return words.join(" ");
}

const curlOf = (app) =>
  `curl -s ${location.origin}/api/v1/suggestions -H 'Content-Type: application/json' -d ${quote(JSON.stringify(asked(app)))}`;

/** Shows a text to copy by hand, where the browser refuses the clipboard. */
const Shown = ({ what, text }) => html`<${Dialog} title=${what}>
  <textarea class="shown" aria-label=${what} rows="8" readonly data-autofocus value=${text}></textarea>
</${Dialog}>`;
