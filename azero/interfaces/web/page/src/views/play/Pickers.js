// The controls that choose an agent and its strength.

import { html } from "../../html.js";
import { SIMULATIONS } from "./choices.js";

export const AgentPicker = ({ label, choice }) => html`<select aria-label=${label} value=${choice.agent?.id} onChange=${(event) => choice.setAgent(event.target.value)}>
  ${choice.opponents.map((each) => html`<option value=${each.id} selected=${each.id === choice.agent?.id}>${each.title}</option>`)}
</select>`;

export const SimulationsPicker = ({ label, choice }) => html`<select aria-label=${label} value=${choice.simulations} onChange=${(event) => choice.setSimulations(Number(event.target.value))}>
  ${SIMULATIONS.map((number) => html`<option value=${number} selected=${number === choice.simulations}>${number} simulations a move</option>`)}
</select>`;

/** An agent and its level, or its simulations, side by side. */
export function PlayerPicker({ label, choice }) {
  const { agent, level } = choice;
  const strength = agent.levels
    ? html`<select aria-label="${label}: level" value=${String(level)} onChange=${(event) => choice.setLevel(Number(event.target.value) || event.target.value)}>
        ${agent.levels.map((each) => html`<option value=${each.level} selected=${each.level === level}>Level ${each.level}, ${each.name}</option>`)}
        ${agent.adaptive && html`<option value="adaptive" selected=${level === "adaptive"}>${agent.adaptive.name}</option>`}
      </select>`
    : agent.kind !== "random" && html`<${SimulationsPicker} label="${label}: simulations a move" choice=${choice} />`;
  return html`<${AgentPicker} label=${label} choice=${choice} />${strength}`;
}
