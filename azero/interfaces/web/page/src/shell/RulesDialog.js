// How the game is played: a text with small positions, which the server makes from moves of the game.

import { post } from "../api.js";
import { Still } from "../board/Still.js";
import { html, useEffect, useState } from "../html.js";
import { Dialog } from "./dialog.js";

export const showRules = (app, game) => app.openDialog(() => html`<${RulesDialog} app=${app} game=${game} />`);

function RulesDialog({ app, game }) {
  const footer = html`<button class="primary" onClick=${app.closeDialog}>Back to the game</button>`;
  return html`<${Dialog} title=${`How to play ${game.title}`} className="sheet" onClose=${app.closeDialog} footer=${footer}>
    <div tabindex="-1" data-autofocus>
      ${game.sheet.length === 0 && html`<p>The file of this game says nothing about its rules. A docstring below its line <code>class</code> would be shown here.</p>`}
      ${game.sheet.map((block) => html`<${Block} block=${block} game=${game} />`)}
      <${Options} parameters=${game.parameters} />
    </div>
  </${Dialog}>`;
}

function Block({ block, game }) {
  const { kind, text } = block;
  if (kind === "heading") return html`<h3>${text}</h3>`;
  if (kind === "plain") return html`<pre>${text}</pre>`;
  if (kind === "list") return html`<ul>${block.items.map((item) => html`<li>${withCode(item)}</li>`)}</ul>`;
  if (kind === "picture") return html`<${Figure} block=${block} game=${block.game || game.id} />`;
  return html`<p>${withCode(text)}</p>`;
}

/** The parts between backticks are set as code. */
const withCode = (text) => text.split("`").map((part, k) => (k % 2 ? html`<code>${part}</code>` : part));

function Figure({ block, game }) {
  const { moves, from, text } = block;
  const [position, setPosition] = useState(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const request = new AbortController();
    post("positions", { game, moves }, { signal: request.signal }).then(setPosition, (error) => error.name !== "AbortError" && setProblem(error.message));
    return () => request.abort();
  }, []);
  return html`<figure>
    ${position ? html`<${Still} position=${position} from=${from} />` : html`<div class="board"></div>`}
    <figcaption>${withCode(text)}${problem && html`<span class="problem"> This picture cannot be drawn: ${problem}</span>`}</figcaption>
  </figure>`;
}

/** "This game: size 8, swap off." */
function Options({ parameters }) {
  const inWords = (value) => (typeof value === "boolean" ? (value ? "on" : "off") : String(value));
  const parts = Object.entries(parameters).map(([name, value]) => `${name.replaceAll("_", " ")} ${inWords(value)}`);
  return parts.length > 0 && html`<p class="detail">Options of this game: ${parts.join(", ")}.</p>`;
}
