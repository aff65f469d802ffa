// The board of a new game: one that is offered, or one of another size.

import { html, useState } from "../../html.js";

const OTHER = "other";
const UNASKED = ["max_game_length"];

/** `board` is the id of the chosen game; `onBoard` gets another one. */
export function BoardField({ session, board, onBoard }) {
  const [values, setValues] = useState(null); // the parameters of another size
  const { game } = session;
  const names = namesOf(game);
  const change = (next) => {
    setValues(next);
    onBoard(next ? idOf(game, next) : game.id);
  };
  const pick = (id) => {
    change(id === OTHER ? Object.fromEntries(names.map((name) => [name, game.parameters[name]])) : null);
    if (id !== OTHER) onBoard(id);
  };
  return html`<select aria-label="Board" onChange=${(event) => pick(event.target.value)}>
      ${boardsOf(session).map((each) => html`<option value=${each.id} selected=${!values && each.id === board}>${each.subtitle || each.title}</option>`)}
      ${names.length > 0 && html`<option value=${OTHER} selected=${values !== null}>Another size …</option>`}
    </select>
    ${values && html`<span class="board-values">${names.map((name) => html`<${Value} name=${name} value=${values[name]} range=${game.ranges[name]} onValue=${(value) => change({ ...values, [name]: value })} />`)}</span>`}`;
}

function Value({ name, value, range, onValue }) {
  const text = name.replaceAll("_", " ");
  if (typeof value === "boolean") return html`<label class="check"><input type="checkbox" checked=${value} onChange=${(event) => onValue(event.target.checked)} /> ${text}</label>`;
  const [low, high] = range;
  const step = name === "komi" ? 0.5 : 1;
  return html`<label>${text} <input type="number" min=${low} max=${high} step=${step} title="${low} to ${high}" value=${value} onInput=${(event) => event.target.value && onValue(event.target.value)} /></label>`;
}

function boardsOf({ games, game }) {
  const family = games.filter((each) => each.family === game.family);
  return family.some((each) => each.id === game.id) ? family : [game, ...family];
}

/** The parameters that can be chosen: numbers within a range, and yes or no. */
function namesOf(game) {
  const isAsked = ([name, value]) => !UNASKED.includes(name) && (name in game.ranges || (!game.is_own && typeof value === "boolean"));
  return Object.entries(game.parameters).filter(isAsked).map(([name]) => name);
}

/** "go(size=13,komi=6.5)" */
const idOf = (game, values) => `${game.family}(${Object.entries(values).map(([name, value]) => `${name}=${value}`).join(",")})`;
