// The move that was played on the board's position, and what search and net thought of it.

import { html } from "../../html.js";
import { formatScore, nameOf } from "../../score.js";
import { takeToViews } from "./taking.js";

const percent = (share) => `${Math.round(100 * share)}%`;

export function Thought({ watch, session, thought, prior }) {
  return html`<div class="thought">
    <p>
      ${watch.isOnGame && session.start && session.ply === 0 && "The game began at this position, which other views cannot show. "}
      ${sentenceOf(watch, session, thought)}
      ${watch.isOnGame && !session.start && html` <button class="chip" onClick=${() => analyse(watch)}>Analyse this game</button>`}
    </p>
    ${thought && html`<details class="as-table"><summary>as a table</summary><${Table} ...${{ watch, thought, prior }} /></details>`}
  </div>`;
}

async function analyse(watch) {
  if (await takeToViews(watch)) watch.app.setView("analyse");
}

function sentenceOf(watch, session, thought) {
  const { game } = watch;
  if (!game) return "";
  if (!watch.isOnGame) return html`The board shows a position that is not of game ${game.id}. <button class="quiet" onClick=${() => watch.show(game.id)}>Back to the game</button>`;
  const { given_plies: given, opening_plies: random } = game;
  if (session.ply < given) return html`<strong>${game.moves[session.ply]}</strong> was given: the game began after these ${given} moves.`;
  if (session.ply < given + random) return html`<strong>${game.moves[session.ply]}</strong> was a random move of the opening: ${random} in all.`;
  if (!thought) return game.result && session.ply === game.moves.length ? `The game is over: ${resultOf(game, session)}.` : "";
  const proven = thought.proven === null ? "" : ` (proven: ${wordOf(thought.proven, session)})`;
  const net = thought.net_value === null ? "" : `; the net of iteration ${game.net} alone gave ${formatScore(thought.net_value, 0)} %`;
  const missing = thought.policy ? "" : " This was a fast search, and its policy was not kept.";
  return html`<strong>${thought.move}</strong> was played. The search gave ${nameOf(session.game, 0)} a score of ${formatScore(thought.value, 0)} %${proven}${net}.${missing}`;
}

const resultOf = ({ result }, session) => (result.winner === null ? "a draw" : `${nameOf(session.game, result.winner)} wins`);

const wordOf = (proven, session) => (proven === 0 ? "a draw" : `${nameOf(session.game, proven > 0 ? 0 : 1)} wins`);

function Table({ watch, thought, prior }) {
  const shareOf = (move) => thought.policy?.[move] ?? 0;
  const moves = Object.keys(prior ?? thought.policy ?? {}).sort((a, b) => shareOf(b) - shareOf(a) || (prior?.[b] ?? 0) - (prior?.[a] ?? 0));
  return html`<table aria-label="Moves of this position">
    <thead><tr><th scope="col">move</th><th scope="col">prior${watch.net ? ` of net ${watch.net.iteration}` : ""}</th><th scope="col">search</th></tr></thead>
    <tbody>${moves.map((move) => html`<tr><th scope="row">${move}</th><td>${prior ? percent(prior[move] ?? 0) : "–"}</td><td>${thought.policy ? percent(shareOf(move)) : "–"}</td></tr>`)}</tbody>
  </table>`;
}
