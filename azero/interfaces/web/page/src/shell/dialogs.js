// What lies over the page: messages, notices, and the dialogs of moves, keys and rules.

import { connection, post } from "../api.js";
import { Still } from "../board/Drawing.js";
import { html, useApp, useEffect, useRender, useState } from "../html.js";
import { activeKeys } from "../keys.js";
import { published } from "../published.js";
import { settings } from "../settings.js";
import { Dialog, Icon } from "./controls.js";

/** Messages that go by themselves; some have a button. */
export function Toasts() {
  const app = useApp();
  const act = (toast) => {
    toast.button.onPick();
    app.dropToast(toast);
  };
  return html`<div class="toasts">
    ${app.toasts.map(
      (
        toast,
      ) => html`<div class="toast toast-${toast.kind}" role=${toast.kind === "error" ? "alert" : "status"} key=${toast.id}>
      <span>${toast.text}</span>
      ${
        toast.button &&
        html`<button onClick=${() => act(toast)}>${toast.button.text}</button>
        <button aria-label="Dismiss" onClick=${() => app.dropToast(toast)}><${Icon} name="close" /></button>`
      }
    </div>`,
    )}
  </div>`;
}

/** A card with a title, a text and buttons. `notice`: {title, text, buttons: [{text, onPick}], onClose}. */
const Notice = ({
  title,
  text,
  buttons = [],
  isBusy = false,
  onClose,
}) => html`<section class="notice" role="status" aria-label=${title}>
  ${isBusy ? html`<span class="spinner" />` : html`<${Icon} name="warning" />`}
  <div>
    <h2 class="small">${title}</h2>
    <p class="detail">${text}</p>
    ${buttons.length > 0 && html`<div class="row">${buttons.map((button) => html`<button onClick=${button.onPick}>${button.text}</button>`)}</div>`}
  </div>
  ${onClose && html`<button class="quiet icon-button" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button>`}
</section>`;

/** While the server does not answer. */
export function Reconnecting() {
  const render = useRender();
  useEffect(() => {
    const timer = setInterval(render, 500);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((connection.retryAt - Date.now()) / 1000));
  const when = seconds > 0 ? `trying again in ${seconds} s` : "trying again";
  return html`<${Notice}
    isBusy
    title="Reconnecting"
    text="The server does not answer. Your game is kept here; ${when}."
    buttons=${[{ text: "Try now", onPick: () => connection.retryNow() }]}
  />`;
}

/** A move of a link or record that is not legal: the moves before it are shown. */
export function IllegalMove() {
  const app = useApp();
  const { session } = app;
  const { moves } = session;
  const { at, value, message } = session.error;
  const why = message.replace(/^move \d+: /, "");
  const shown =
    at === 0
      ? "The start is shown."
      : `The ${at === 1 ? "move" : `${at} moves`} before it ${at === 1 ? "is" : "are"} shown.`;
  const copy = () =>
    navigator.clipboard.writeText(moves.join(" ")).then(
      () => app.toast({ text: `Copied: ${moves.join(" ")}` }),
      () => app.toast({ text: moves.join(" "), seconds: 20 }),
    );
  return html`<${Notice}
    title="Move ${at + 1} is not legal: ${value}"
    text="${shown} ${why[0].toUpperCase()}${why.slice(1)}${why.endsWith(".") ? "" : "."}"
    buttons=${at ? [{ text: "Copy the legal moves", onPick: copy }] : []}
    onClose=${() => session.forgetError()}
  />`;
}

/** `onMoves(moves)` plays legal moves of the side to move, several if a whole turn was typed. */
export function MoveDialog({ onMoves }) {
  const app = useApp();
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const submit = async (event) => {
    event.preventDefault();
    try {
      const moves = await movesIn(text.trim(), app.shown);
      app.closeDialog();
      onMoves(moves);
    } catch (error) {
      setProblem(`${error.message.replace(/^move \d+: /, "").replace(/\.$/, "")}.`);
    }
  };
  return html`<${Dialog} title="Type a move">
    <form class="typed" onSubmit=${submit}>
      <input type="text" aria-label="Move" data-autofocus autocomplete="off" spellcheck="false" value=${text} onInput=${(event) => setText(event.target.value)} />
      <button class="primary" type="submit">Play</button>
    </form>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
  </${Dialog}>`;
}

/** The legal moves that a text names. The server knows the game's notation: capitals, and turns of several moves. */
async function movesIn(text, session) {
  const { game, start, moves: before, position } = session;
  if (position.picture.actions.some(({ move }) => move === text)) return [text];
  const { moves, movers } = await post("positions", { game: game.id, position: start, moves: [...before, text] });
  if (movers.slice(before.length).some((mover) => mover !== position.to_move))
    throw new Error(`${text} is more than one turn`);
  return moves.slice(before.length);
}

const NAMES = {
  arrowleft: "←",
  arrowright: "→",
  arrowup: "↑",
  arrowdown: "↓",
  space: "Space",
  escape: "Esc",
  delete: "Del",
  enter: "Enter",
};
const shown = (name) =>
  name
    .split(" ")
    .map((part) =>
      part
        .split("+")
        .map(
          (key) =>
            NAMES[key] ??
            (key === "shift" ? "Shift" : key.length > 1 ? key[0].toUpperCase() + key.slice(1) : key.toUpperCase()),
        )
        .join(" "),
    )
    .join(" ");

export function KeysDialog() {
  const board = [
    [["arrows"], "move the cursor on the board, reached by Tab"],
    [["enter"], "pick a cell"],
    [["escape", "backspace"], "one step back"],
  ];
  return html`<${Dialog} title="Keys">
    <label class="check">
      <input type="checkbox" checked=${settings.get("keys")} onChange=${(event) => settings.set("keys", event.target.checked)} />
      Single keys act
    </label>
    <dl class="keys">
      ${[...activeKeys(), ...board].map(([names, what]) => html`<div><dt>${keysOf(names)}</dt><dd>${what}</dd></div>`)}
    </dl>
  </${Dialog}>`;
}

/** All keys of a row; many of them, e.g. 1 to 9, as a range. */
function keysOf(names) {
  const key = (name) => html`<kbd>${shown(name)}</kbd> `;
  return names.length > 3 ? html`${key(names[0])}to ${key(names.at(-1))}` : names.map(key);
}

export function RulesDialog() {
  const app = useApp();
  const { game } = app.shown;
  const footer = html`<button class="primary" onClick=${app.closeDialog}>Back to the game</button>`;
  return html`<${Dialog} title=${`How to play ${game.title}`} className="sheet" footer=${footer}>
    <div tabindex="-1" data-autofocus>
      ${game.sheet.length === 0 && html`<p>The file of this game says nothing about its rules.${!published && html` A docstring below its line <code>class</code> would be shown here.`}</p>`}
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
    post("positions", { game, moves }, { signal: request.signal }).then(
      setPosition,
      (error) => error.name !== "AbortError" && setProblem(error.message),
    );
    return () => request.abort();
  }, []);
  return html`<figure>
    ${position ? html`<${Still} position=${position} from=${from} />` : html`<div class="board"></div>`}
    <figcaption>${withCode(text)}${problem && html`<span class="problem"> This picture cannot be drawn: ${problem}</span>`}</figcaption>
  </figure>`;
}

/** What a published file is, and where it comes from. */
export function AboutDialog() {
  const { azero, agents, lacks, sources, review } = published;
  return html`<${Dialog} title="About this page" className="sheet">
    <p>This page is one file. ${review ? "It shows the review of a game." : "It plays, analyses and explains in this browser."} It sends nothing and asks for nothing.</p>
    ${agents.map((agent) => html`<${Card} agent=${agent} />`)}
    ${
      lacks.length > 0 &&
      html`<h3>What it lacks</h3>
      <ul>${lacks.map((text) => html`<li>${text}</li>`)}</ul>`
    }
    ${!review && html`<p>What azero itself has besides: SGF, boards of other sizes, runs, and in reviews a solver that works back from the end.</p>`}
    <h3>Made by azero ${azero}</h3>
    <p>azero is free software under the MIT licence.${sources.length > 0 && ` ${sources.join("; ")}`}</p>
    <details><summary>Licences of what this file contains</summary><pre>${document.getElementById("licences").textContent}</pre></details>
  </${Dialog}>`;
}

/** What is known of an agent. */
function Card({ agent: { title, name, facts } }) {
  const known = Object.entries(facts).filter(([, value]) => value !== null);
  return html`<h3>${title}</h3>
    ${name && html`<p>In azero's commands it is <code>${name}</code>.</p>`}
    ${known.length > 0 && html`<ul>${known.map(([what, number]) => html`<li>${number.toLocaleString("en-US")} ${what}</li>`)}</ul>`}`;
}

/** "This game: size 8, swap off." */
function Options({ parameters }) {
  const inWords = (value) => (typeof value === "boolean" ? (value ? "on" : "off") : String(value));
  const parts = Object.entries(parameters).map(([name, value]) => `${name.replaceAll("_", " ")} ${inWords(value)}`);
  return parts.length > 0 && html`<p class="detail">Options of this game: ${parts.join(", ")}.</p>`;
}
