// Cards over the panel: what happened, what is safe, what to do.

import { connection } from "../api.js";
import { useRender } from "../emitter.js";
import { html, useEffect } from "../html.js";
import { Icon } from "./icons.js";

/** A card with a title, a text and buttons. `notice`: {title, text, buttons: [{text, onPick}], onClose}. */
const Notice = ({ title, text, buttons = [], isBusy = false, onClose }) => html`<section class="notice" role="status" aria-label=${title}>
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

/** A move of a link or record that is not legal, at index `error.at`: the moves before it are shown. */
export function IllegalMove({ error, moves, app, onClose }) {
  const { at, value, message } = error;
  const why = message.replace(/^move \d+: /, "");
  const shown = at === 0 ? "The start is shown." : `The ${at === 1 ? "move" : `${at} moves`} before it ${at === 1 ? "is" : "are"} shown.`;
  const copy = () => navigator.clipboard.writeText(moves.join(" ")).then(
    () => app.toast({ text: `Copied: ${moves.join(" ")}` }),
    () => app.toast({ text: moves.join(" "), seconds: 20 }),
  );
  return html`<${Notice}
    title="Move ${at + 1} is not legal: ${value}"
    text="${shown} ${why[0].toUpperCase()}${why.slice(1)}${why.endsWith(".") ? "" : "."}"
    buttons=${at ? [{ text: "Copy the legal moves", onPick: copy }] : []}
    onClose=${onClose}
  />`;
}
