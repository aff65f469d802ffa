// The header: the game, the views, and what acts on the whole page, e.g. all that can be copied of it.

import { post } from "../api.js";
import { earlier } from "../game/kept.js";
import { defaultAgent } from "../game/session.js";
import { html, useApp, useState } from "../html.js";
import { IS_REVIEW, published } from "../published.js";
import { settings } from "../settings.js";
import { VIEWS } from "../views/index.js";
import { Dialog, DropDown, Icon, Logo } from "./controls.js";
import { AboutDialog, KeysDialog, RulesDialog } from "./dialogs.js";
import { turnBoard } from "./layout.js";
import { returnTo } from "./opening.js";
import { RecordDialog } from "./RecordDialog.js";

const MOST_KEPT = 6; // games that are listed

export function Header({ title }) {
  const app = useApp();
  const session = app.shown;
  const [open, setOpen] = useState(null); // "games", "views"
  const toggle = (name) => setOpen(open === name ? null : name);
  const close = () => setOpen(null);
  const { game } = session;
  const { offered } = app.keeper;
  const isDark = document.documentElement.dataset.theme === "dark";
  const name = html`<strong title=${game?.title}>${game?.title ?? "…"}</strong> <span class="subtitle">${game?.subtitle ?? ""}</span>`;
  return html`<header class="header">
    <h1 class="hidden">azero: ${title}</h1>
    <span class="brand"><${Logo} /><span class="brand-name">azero</span></span>
    ${
      IS_REVIEW
        ? html`<span class="game-name">${name}</span>`
        : html`<span class="opens">
      <button class="quiet game-button" aria-haspopup="menu" aria-expanded=${open === "games"} onClick=${() => toggle("games")}>
        ${name}<${Icon} name="down" />
      </button>
      ${open === "games" && html`<${DropDown} label="Games" items=${gameItems(app)} onClose=${close} />`}
    </span>`
    }
    ${
      offered &&
      html`<button class="icon-button wide-only" aria-label="Return to your game of ${offered.title}" title="Return to your game of ${offered.title}" onClick=${() => returnTo(app, offered.id)}>
      <${Icon} name="undo" />
    </button>`
    }
    <button class="rules-button" disabled=${!game} onClick=${() => app.openDialog(RulesDialog)}>Rules</button>
    <nav class="views" aria-label="Views">
      ${VIEWS.map((view) => html`<button class="tab" aria-current=${app.view === view.id ? "page" : null} onClick=${() => app.setView(view.id)}>${view.title}</button>`)}
    </nav>
    <span class="tools">
      <button class="icon-button wide-only" aria-label="Copy link" title="Copy link" onClick=${() => copyLink(app)}><${Icon} name="link" /></button>
      <${CopyMenu} />
      <button class="icon-button roomy-only" aria-label="Turn the board" title="Turn the board" onClick=${() => turnBoard(session)}><${Icon} name="turn" /></button>
      <button class="icon-button roomy-only" aria-label=${isDark ? "Light theme" : "Dark theme"} title="Theme" onClick=${() => settings.set("theme", isDark ? "light" : "dark")}>
        <${Icon} name=${isDark ? "sun" : "moon"} />
      </button>
      <button class="icon-button roomy-only" aria-label="Keys" title="All keys" onClick=${() => app.openDialog(KeysDialog)}>
        <${Icon} name="keys" />
      </button>
      ${
        published &&
        html`<button class="icon-button roomy-only" aria-label="About this page" title="About this page" onClick=${() => app.openDialog(AboutDialog)}>
          <${Icon} name="about" />
        </button>`
      }
      <span class="opens tight-only">
        <button class="icon-button" aria-label="Menu" aria-haspopup="menu" aria-expanded=${open === "views"} onClick=${() => toggle("views")}><${Icon} name="more" /></button>
        ${open === "views" && html`<${DropDown} label="Menu" items=${menuItems(app, isDark)} onClose=${close} />`}
      </span>
    </span>
  </header>`;
}

/** The user's earlier games, then all games, those with a trained net first. */
function gameItems(app) {
  const session = app.shown;
  const kept = earlier()
    .filter(({ id }) => id !== app.keeper.id)
    .slice(0, MOST_KEPT)
    .map(({ id, title, numMoves, isOver, when }) => ({
      text: `Your game of ${title}`,
      detail: `${numMoves} ${numMoves === 1 ? "move" : "moves"}, ${isOver ? "over, " : ""}${agoText(Date.now() - when)}`,
      onPick: () => returnTo(app, id),
    }));
  const games = [...session.games]
    .sort((a, b) => b.has_net - a.has_net)
    .map((game) => ({
      text: game.title,
      detail: [game.subtitle, game.has_net && "trained net"].filter(Boolean).join(", "),
      isChosen: game.id === session.game?.id,
      onPick: () => app.setGame(game.id),
    }));
  return kept.length ? [...kept, "-", ...games] : games;
}

/** "5 minutes ago" */
function agoText(ms) {
  /** @type {[Intl.RelativeTimeFormatUnit, number][]} */
  const units = [
    ["day", 86_400_000],
    ["hour", 3_600_000],
    ["minute", -Infinity],
  ];
  const [unit] = units.find((each) => ms >= each[1]);
  const size = { day: 86_400_000, hour: 3_600_000, minute: 60_000 }[unit];
  return new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" }).format(
    -Math.floor(Math.max(0, ms) / size),
    unit,
  );
}

function menuItems(app, isDark) {
  const views = VIEWS.map((view) => ({
    text: view.title,
    isChosen: view.id === app.view,
    onPick: () => app.setView(view.id),
  }));
  return [
    ...views,
    "-",
    { text: "Turn the board", onPick: () => turnBoard(app.shown) },
    { text: isDark ? "Light theme" : "Dark theme", onPick: () => settings.set("theme", isDark ? "light" : "dark") },
    { text: "Keys", onPick: () => app.openDialog(KeysDialog) },
    ...(published ? [{ text: "About this page", onPick: () => app.openDialog(AboutDialog) }] : []),
  ];
}

/** Copies the link of the page, or shows it where the browser refuses. */
export async function copyLink(app) {
  const link = await app.address();
  try {
    await navigator.clipboard.writeText(link);
    app.toast({ text: "The link is copied. It holds the game, its moves and your place in them." });
  } catch {
    app.toast({ text: link, seconds: 20 });
  }
}

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

const SIMULATIONS = 400; // of the suggestions that are copied

function CopyMenu() {
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
    ...(published ? [] : [{ text: "curl …", onPick: copy("Command", () => curlOf(app)) }]),
    ...(IS_REVIEW
      ? []
      : [
          {
            text: "JSON of a suggestion",
            onPick: copy("JSON", async () => JSON.stringify(await post("suggestions", asked(app)), null, 2)),
          },
        ]),
    { text: "Board as SVG", onPick: copy("SVG", boardAsSvg) },
    "-",
    { text: IS_REVIEW ? "Save the record" : "Save or load a record", onPick: () => app.openDialog(RecordDialog) },
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
