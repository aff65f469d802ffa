// The newest self-play games of a run.

import { html } from "../../html.js";
import { Stone } from "../../shell/icons.js";

export function Games({ watch, session }) {
  if (!watch.games.length) return html`<p class="detail">No self-play games are in the replay window.</p>`;
  const noise = watch.games.some((game) => game.had_noise) ? "Self-play explores: its searches had noise, and some openings were random." : "";
  return html`<section class="run-games">
    <table aria-label="Self-play games">
      <thead><tr><th scope="col">game</th><th scope="col">result</th><th scope="col" class="number">length</th><th scope="col" class="number">opening</th><th scope="col">moves</th></tr></thead>
      <tbody>
        ${watch.games.map((game) => html`<tr class=${game.id === watch.game?.id ? "current" : ""} key=${game.id}>
          <th scope="row"><button class="row-button" aria-current=${game.id === watch.game?.id ? "true" : null} onClick=${() => watch.show(game.id)}>${nameOfGame(game)}</button></th>
          <td>${result(game, session)}</td>
          <td class="number">${game.plies} plies</td>
          <td class="number">${game.opening_plies ? `${game.opening_plies} random` : "–"}</td>
          <td class="line">${game.first_moves.join(" ")}${game.first_moves.length < game.plies ? " …" : ""}</td>
        </tr>`)}
      </tbody>
    </table>
    <p class="detail">${noise}</p>
  </section>`;
}

/** "34.499" of the file 00034-0001, game 499. */
function nameOfGame({ id, iteration }) {
  const [, shard, index] = /-(\d+)\.(\d+)$/.exec(id);
  return `${iteration}.${Number(shard)}.${Number(index) + 1}`;
}

function result({ result: { winner } }, session) {
  if (winner === null) return "= draw";
  return html`<${Stone} players=${session.game.players} player=${winner} /> ${session.game.players[winner].name}`;
}
