// Type a move in the game's notation.

import { post } from "../api.js";
import { html, useState } from "../html.js";
import { Dialog } from "./dialog.js";

/** `onMoves(moves)` plays legal moves of the side to move, several if a whole turn was typed. */
export function MoveDialog({ app, session, onMoves }) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const submit = async (event) => {
    event.preventDefault();
    try {
      const moves = await movesIn(text.trim(), session);
      app.closeDialog();
      onMoves(moves);
    } catch (error) {
      setProblem(`${error.message.replace(/^move \d+: /, "").replace(/\.$/, "")}.`);
    }
  };
  return html`<${Dialog} title="Type a move" onClose=${app.closeDialog}>
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
  if (movers.slice(before.length).some((mover) => mover !== position.to_move)) throw new Error(`${text} is more than one turn`);
  return moves.slice(before.length);
}
