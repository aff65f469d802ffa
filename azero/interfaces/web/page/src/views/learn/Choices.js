// What is searched, and how: the method, the net, the constant, the seed.

import { html } from "../../html.js";
import { Choice } from "../play/NewGame.js";
import { plain } from "./words.js";

export function Choices({ session, chosen, choices, setChoices, lesson }) {
  const set = (change) => setChoices({ ...choices, ...change });
  const { method, agent, nets, seed } = chosen;
  const options = nets.length ? [["uct", "UCT"], ["puct", "PUCT"]] : [["uct", "UCT"]];
  const about = method === "uct"
    ? "Plain Monte-Carlo tree search: random games judge the positions."
    : "The search of AlphaZero: a net judges the positions and hopes for some moves.";
  const own = lesson.rule?.c ?? lesson.rule?.c_puct;
  return html`<div class="learn-choices">
    <${Choice} label="Method" value=${method} options=${options} onPick=${(value) => set({ method: value, c: null })} />
    ${nets.length > 1 && method === "puct" && html`<select aria-label="Net" value=${agent} onChange=${(event) => set({ agent: event.target.value })}>
      ${nets.map(({ id, title }) => html`<option value=${id} selected=${id === agent}>${title}</option>`)}
    </select>`}
    <label class="constant" title="How much it explores: 0 is not at all">explore <var>c</var>
      <input type="number" min="0" max="10" step="0.1" value=${chosen.c ?? (own === undefined ? "" : plain(own))} onChange=${(event) => set({ c: numberOf(event.target.value) })} />
    </label>
    <button class="quiet" title=${`Random numbers of seed ${seed}`} onClick=${() => set({ seed: seed + 1 })}>Seed ${seed}</button>
    <p class="about">${about}${nets.length ? "" : " There is no net for this game, so PUCT is not on offer."} ${session.ply ? `From the position after ${session.ply} ${session.ply === 1 ? "move" : "moves"}.` : ""}</p>
  </div>`;
}

/** A constant that the server takes; null, for its own, if the text is none. */
function numberOf(text) {
  const number = Number(text);
  return text.trim() === "" || !Number.isFinite(number) ? null : Math.min(10, Math.max(0, number));
}
