// The controls of an analysis: start and stop, agents, limit, marks.

import { defaultAgent } from "../../game/session.js";
import { html, useApp, useState } from "../../html.js";
import { Message, StageCard } from "../../panel/messages.js";
import { heatOf, MARKS, NUMBERS, overlayOfLine, overlayOfRows, ownersOf } from "../../panel/overlays.js";
import { settings } from "../../settings.js";
import { DropDown, Icon } from "../../shell/controls.js";
import { showReview } from "../review/reviewing.js";
import { analystOf, LIMITS } from "./analyst.js";

/** `active` is the move whose line is shown; without one, the best move's line if the user wants it. */
export function overlayOf({ position, first, second, active, update }) {
  const { picture, to_move: toMove } = position;
  if (toMove === null || !(first.length || second?.length)) return {};
  const rows = [...first, ...(second ?? [])];
  const heat = settings.get("heat");
  const overlay = {
    ownership: settings.get("showsOwnership") ? ownersOf(update, picture) : null,
    heat: heat === "none" ? null : heatOf(picture, first, heat),
  };
  const best = settings.get("showsLine") ? first.find((row) => row.isBest) : null;
  const shown = active ? rows.find((row) => row.move === active) : best;
  if (shown) return { ...overlay, hidesTargets: true, ...overlayOfLine(picture, toMove, shown.pv) };
  const options = { mode: settings.get("marks"), shows: settings.get("markNumbers") };
  return { ...overlay, ...overlayOfRows(picture, first, options, second ?? []) };
}

export function EmptyTable({ hasRows }) {
  const app = useApp();
  const { session } = app;
  const analyst = analystOf(session);
  const { position } = session;
  const failed = analyst.slots.find((slot) => slot.error);
  const waiting = analyst.slots.find((slot) => slot.stage);
  if (position.result && session.isSettled) {
    return html`<${Message} kind="info" title=${position.result.text} text="The game is over. Go back to analyse a position before the end." actions=${[["Review this game", () => showReview(app)]]} />`;
  }
  if (failed) return html`<${Failed} slot=${failed} />`;
  if (hasRows) return null;
  if (waiting) return html`<${StageCard} stage=${waiting.stage} />`;
  if (analyst.isRunning) return html`<p class="table-hint">Searching …</p>`;
  return html`<p class="table-hint">Press Analyse, or <kbd>Space</kbd>. The analysis follows the position while you play and walk through moves.</p>`;
}

/** Why the search of a slot of the analyst has ended. */
function Failed({ slot }) {
  const { session, setAgent } = useApp();
  const analyst = analystOf(session);
  const text = `${capital(slot.error.message)}. Your moves are kept.`;
  const again = ["Try again", () => analyst.again()];
  if (slot.error.code === "busy")
    return html`<${Message} title="The server is busy" text=${text} actions=${[again]} />`;
  const isSecond = slot === analyst.slots[1];
  const agent = isSecond ? analyst.second : analyst.first;
  const fallback = defaultAgent(session.judges.filter((each) => each.id !== agent));
  const use = () => (isSecond ? analyst.set({ second: fallback }) : setAgent(fallback));
  const actions = fallback ? [again, [`Use ${shortName(fallback)}`, use]] : [again];
  return html`<${Message} title=${`${shortName(agent)} does not analyse this position`} text=${text} actions=${actions} />`;
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, "");

/** A button that opens a list. `name` is what it is called, if `text` is not a string; it should hold what is shown. */
export function Picker({
  label,
  text,
  name = typeof text === "string" ? `${label}: ${text}` : label,
  items,
  className = "",
  swatch = "",
  isUp = false,
}) {
  const [isOpen, setOpen] = useState(false);
  return html`<span class="opens ${isUp ? "opens-up" : ""}">
    <button class="picker ${className}" aria-haspopup="menu" aria-expanded=${String(isOpen)} aria-label=${name} onClick=${() => setOpen(!isOpen)}>
      ${swatch && html`<span class="swatch ${swatch}"></span>`}<span class="picker-text">${text}</span><${Icon} name="down" />
    </button>
    ${isOpen && html`<${DropDown} label=${label} items=${items} onClose=${() => setOpen(false)} />`}
  </span>`;
}

/** The short name of an agent: its id, without the folders of a run, and without its limit: these views have their own. */
export const shortName = (id) => (id ? id.replace(/^run:/, "").replace(/@[^@/]*$/, "") : "no agent");

export function AgentPicker({ label = "Agent", chosen, onPick, swatch }) {
  const items = useApp().session.judges.map((agent) => ({
    text: shortName(agent.id),
    detail: agent.title !== shortName(agent.id) ? agent.title : "",
    isChosen: agent.id === chosen,
    onPick: () => onPick(agent.id),
  }));
  return html`<${Picker} label=${label} text=${shortName(chosen)} swatch=${swatch} items=${items} />`;
}

/** The button that begins or ends a search. It says Stop only while one goes on. */
export function StartStop({ name, isRunning, isOff, onToggle }) {
  return html`<button class="primary start" aria-keyshortcuts="Space" disabled=${isOff} onClick=${onToggle}>
    <${Icon} name=${isRunning ? "pause" : "play"} />${isRunning ? "Stop" : name}
  </button>`;
}

export function LimitPicker() {
  const analyst = analystOf(useApp().session);
  const isChosen = (limit) => limit === analyst.limit;
  const items = LIMITS.map(([text], k) => ({ text, isChosen: isChosen(k), onPick: () => analyst.set({ limit: k }) }));
  const [text] = LIMITS[analyst.limit];
  return html`<${Picker} label="Limit" className="quiet" text=${text.replace("simulations", "sims")} items=${items} />`;
}

export function MarksPicker() {
  const { first, second } = analystOf(useApp().session);
  const chosen = settings.get("marks");
  const shows = settings.get("markNumbers");
  const heat = settings.get("heat");
  const radio =
    (name, current) =>
    ([value, text]) => ({ text, isChosen: value === current, onPick: () => settings.set(name, value) });
  const items = [
    ...MARKS.map(radio("marks", chosen)).map((item) => ({ ...item, text: `Marks: ${item.text}` })),
    "-",
    ...NUMBERS.map(radio("markNumbers", shows)).map((item) => ({ ...item, text: `Number: ${item.text}` })),
    "-",
    ...[
      ["none", "none"],
      ["visits", "visits"],
      ["prior", "prior"],
    ]
      .map(radio("heat", heat))
      .map((item) => ({ ...item, text: `Heat: ${item.text}` })),
  ];
  const name = MARKS.find(([value]) => value === chosen)?.[1];
  const shown = `Marks: ${second !== null && chosen !== "none" ? shortName(first) : name}`;
  const text = html`<${Icon} name="eye" /><span class="wide-only">${shown}</span><span class="narrow-only">${name}</span>`;
  return html`<${Picker} label="Marks" name=${shown.endsWith(name) ? shown : `${shown}, ${name}`} className="quiet" isUp text=${text} items=${items} />`;
}
