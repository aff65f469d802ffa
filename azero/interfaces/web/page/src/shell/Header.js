// The header: the game, the views, and what acts on the whole page.

import { earlier } from "../game/kept.js";
import { html, useApp, useState } from "../html.js";
import { settings } from "../settings.js";
import { VIEWS } from "../views/index.js";
import { CopyMenu } from "./CopyMenu.js";
import { DropDown } from "./controls.js";
import { KeysDialog, RulesDialog } from "./dialogs.js";
import { Icon, Logo } from "./icons.js";
import { turnBoard } from "./layout.js";
import { returnTo } from "./opening.js";

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
  return html`<header class="header">
    <h1 class="hidden">azero: ${title}</h1>
    <span class="brand"><${Logo} /><span class="brand-name">azero</span></span>
    <span class="opens">
      <button class="quiet game-button" aria-haspopup="menu" aria-expanded=${open === "games"} onClick=${() => toggle("games")}>
        <strong title=${game?.title}>${game?.title ?? "…"}</strong> <span class="subtitle">${game?.subtitle ?? ""}</span><${Icon} name="down" />
      </button>
      ${open === "games" && html`<${DropDown} label="Games" items=${gameItems(app)} onClose=${close} />`}
    </span>
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
