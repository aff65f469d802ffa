// The newest self-play games of a run, and a clean one.

import { html } from "../../html.js";
import { Stone } from "../../shell/icons.js";

export function Games({ watch, session }) {
  const { games, noise, problems } = watch.list;
  return html`<section class="run-list">
    <table aria-label="Self-play games">
      <thead><tr><th scope="col">game</th><th scope="col">result</th><th scope="col" class="number">length</th><th scope="col" class="number">opening</th><th scope="col">moves</th></tr></thead>
      <tbody>
        ${watch.clean && html`<${CleanRow} watch=${watch} session=${session} />`}
        ${games.map((game) => html`<${Row} key=${game.id} watch=${watch} game=${game}
          result=${html`<${Result} winner=${game.result.winner} session=${session} />`}
          opening=${openingOf(game)}
          moves=${game.first_moves.join(" ") + (game.first_moves.length < game.plies ? " …" : "")}
        />`)}
      </tbody>
    </table>
    ${!games.length && html`<p class="detail">No self-play games are in the replay window yet.</p>`}
    ${noise?.is_random && games.length > 0 && html`<p class="detail">Self-play explores: ${noise.text}. A clean game has none of this.</p>`}
    ${problems.map((problem) => html`<p class="problem">${problem}</p>`)}
  </section>`;
}

/** "a position", "8 given, 2 random", or "–". */
function openingOf({ has_start: hasStart, given_plies: given, opening_plies: random }) {
  const parts = [hasStart && "a position", given && `${given} given`, random && `${random} random`].filter(Boolean);
  return parts.join(", ") || "–";
}

const Row = ({ watch, game, result, opening, moves, length = game.plies }) => {
  const isShown = game.id === watch.game?.id;
  return html`<tr class=${isShown ? "current" : ""} onClick=${() => watch.show(game.id)}>
    <th scope="row"><button class="row-button" aria-current=${isShown ? "true" : null}>${game.id}</button></th>
    <td>${result}</td>
    <td class="number">${length} plies</td>
    <td class="number">${opening}</td>
    <td class="line">${moves}</td>
  </tr>`;
};

const CleanRow = ({ watch, session }) => {
  const { game, isPlaying } = watch.clean;
  const result = game.result ? html`<${Result} winner=${game.result.winner} session=${session} />` : !isPlaying ? "stopped" : game.moves.length ? "playing …" : "getting ready …";
  return html`<${Row} watch=${watch} game=${game} result=${result} opening="no noise" moves=${game.moves.join(" ")} length=${game.moves.length} />`;
};

function Result({ winner, session }) {
  if (winner === null) return html`<span class="drawn">=</span> draw`;
  return html`<${Stone} players=${session.game.players} player=${winner} /> ${session.game.players[winner].name}`;
}
