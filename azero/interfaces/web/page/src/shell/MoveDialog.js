// Type a move in the game's notation.

import { html, useState } from "../html.js";
import { Dialog } from "./dialog.js";

/** `onMove(action)` plays one of the legal actions. */
export function MoveDialog({ app, session, onMove }) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const { actions, buttons } = session.position.picture;
  const submit = (event) => {
    event.preventDefault();
    const wanted = text.trim();
    const action = actions.find(({ move }) => move === wanted) ?? buttons.find(({ move }) => move === wanted)
      ?? actions.find(({ move }) => move.toLowerCase() === wanted.toLowerCase());
    if (!action) {
      setProblem(`${wanted || "Nothing"} is not a legal move here. One that is: ${(actions[0] ?? buttons[0]).move}.`);
      return;
    }
    app.closeDialog();
    onMove(action);
  };
  return html`<${Dialog} title="Type a move" onClose=${app.closeDialog}>
    <form class="typed" onSubmit=${submit}>
      <input type="text" aria-label="Move" data-autofocus autocomplete="off" spellcheck="false" value=${text} onInput=${(event) => setText(event.target.value)} />
      <button class="primary" type="submit">Play</button>
    </form>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
  </${Dialog}>`;
}
