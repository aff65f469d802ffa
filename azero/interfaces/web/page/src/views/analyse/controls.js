// The controls of an analysis: start and stop, agents, limit, marks.

import { html, useState } from "../../html.js";
import { MARKS, NUMBERS } from "../../panel/marks.js";
import { settings } from "../../settings.js";
import { DropDown } from "../../shell/dialog.js";
import { Icon } from "../../shell/icons.js";
import { LIMITS } from "./analyst.js";

/** A button that opens a list. */
export function Picker({ label, text, items, className = "", swatch = "", isUp = false }) {
  const [isOpen, setOpen] = useState(false);
  return html`<span class="opens ${isUp ? "opens-up" : ""}">
    <button class="picker ${className}" aria-haspopup="menu" aria-expanded=${String(isOpen)} aria-label=${typeof text === "string" ? `${label}: ${text}` : label} onClick=${() => setOpen(!isOpen)}>
      ${swatch && html`<span class="swatch ${swatch}"></span>`}<span class="picker-text">${text}</span><${Icon} name="down" />
    </button>
    ${isOpen && html`<${DropDown} label=${label} items=${items} onClose=${() => setOpen(false)} />`}
  </span>`;
}

/** The short name of an agent: its id, without the folders of a run, and without its limit: these views have their own. */
export const shortName = (id) => (id ? id.replace(/^run:/, "").replace(/@[^@/]*$/, "") : "no agent");

const agentItems = (session, chosen, onPick) =>
  session.judges.map((agent) => ({
    text: shortName(agent.id),
    detail: agent.title !== shortName(agent.id) ? agent.title : "",
    isChosen: agent.id === chosen,
    onPick: () => onPick(agent.id),
  }));

export const AgentPicker = ({ session, label = "Agent", chosen, onPick, swatch }) =>
  html`<${Picker} label=${label} text=${shortName(chosen)} swatch=${swatch} items=${agentItems(session, chosen, onPick)} />`;

/** The button that begins or ends a search. It says Stop only while one goes on. */
export function StartStop({ name, isRunning, isOff, onToggle }) {
  return html`<button class="primary start" aria-keyshortcuts="Space" disabled=${isOff} onClick=${onToggle}>
    <${Icon} name=${isRunning ? "pause" : "play"} />${isRunning ? "Stop" : name}
  </button>`;
}

export const LimitPicker = ({ analyst }) => html`<${Picker}
  label="Limit"
  className="quiet"
  text=${LIMITS[analyst.limit][0].replace("simulations", "sims")}
  items=${LIMITS.map(([text], k) => ({ text, isChosen: k === analyst.limit, onPick: () => analyst.set({ limit: k }) }))}
/>`;

export function MarksPicker({ isTwo, agent }) {
  const chosen = settings.get("marks");
  const shows = settings.get("markNumbers");
  const heat = settings.get("heat");
  const radio = (name, current) => ([value, text]) => ({ text, isChosen: value === current, onPick: () => settings.set(name, value) });
  const items = [
    ...MARKS.map(radio("marks", chosen)).map((item) => ({ ...item, text: `Marks: ${item.text}` })),
    "-",
    ...NUMBERS.map(radio("markNumbers", shows)).map((item) => ({ ...item, text: `Number: ${item.text}` })),
    "-",
    ...[["none", "none"], ["visits", "visits"], ["prior", "prior"]].map(radio("heat", heat)).map((item) => ({ ...item, text: `Heat: ${item.text}` })),
  ];
  const name = MARKS.find(([value]) => value === chosen)?.[1];
  const text = html`<${Icon} name="eye" /><span class="wide-only">Marks: ${isTwo && chosen !== "none" ? shortName(agent) : name}</span><span class="narrow-only">${name}</span>`;
  return html`<${Picker} label="Marks" className="quiet" isUp text=${text} items=${items} />`;
}
