// What is searched, and how: the method, the net, the constant, the seed.

import { html, useState } from "../../html.js";
import { DEFINITIONS, plain } from "./words.js";

const METHODS = [
  ["uct", "UCT", "Plain Monte-Carlo tree search: random games judge the positions"],
  ["puct", "PUCT", "The search of AlphaZero: a net judges the positions and says which moves it would play"],
];

export function Choices({ session, app, chosen, lesson }) {
  const set = (change) => {
    app.lesson = { ...app.lesson, ...change };
    app.changed();
  };
  const { method, agent, nets, seed } = chosen;
  const [typed, setTyped] = useState(null); // a constant that is not taken yet: what arrives meanwhile leaves it alone
  const own = lesson.rule?.c ?? lesson.rule?.c_puct;
  return html`<div class="learn-choices">
    <span class="choice methods" role="group" aria-label="Method">${METHODS.map(([id, name, about]) => html`<button
      aria-pressed=${String(id === method)}
      title=${id === "puct" && !nets.length ? "No net plays this game" : about}
      disabled=${id === "puct" && !nets.length}
      onClick=${() => set({ method: id, c: null })}
    >${name}</button>`)}</span>
    ${nets.length > 1 && method === "puct" && html`<select aria-label="Net" value=${agent} onChange=${(event) => app.setAgent(event.target.value)}>
      ${nets.map(({ id, title }) => html`<option value=${id} selected=${id === agent}>${title}</option>`)}
    </select>`}
    <label class="constant" title="How much it explores: 0 is not at all">explore <var>c</var>
      <input type="number" min="0" max="10" step="0.1" value=${typed ?? chosen.c ?? (own === undefined ? "" : plain(own))} onInput=${(event) => setTyped(event.target.value)}
        onChange=${(event) => set({ c: numberOf(event.target.value) })} onBlur=${() => setTyped(null)} />
    </label>
    <button class="quiet" title=${`Random numbers of seed ${seed}`} onClick=${() => set({ seed: seed + 1 })}>Seed ${seed}</button>
    <span class="root-place" title="Choose the position in Play or Analyse">root: ${session.ply ? `after ${session.ply} ${session.ply === 1 ? "move" : "moves"}` : "the start"}</span>
    <p class="about">${lesson.step && DEFINITIONS[method][lesson.step.phase]}</p>
  </div>`;
}

/** A constant that the server takes; null, for its own, if the text is none. */
function numberOf(text) {
  const number = Number(text);
  return text.trim() === "" || !Number.isFinite(number) ? null : Math.min(10, Math.max(0, number));
}
