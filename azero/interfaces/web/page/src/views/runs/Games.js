// The newest self-play games of a run, and a clean one.

import { html, useApp } from "../../html.js";
import { formatScore, nameOf } from "../../score.js";
import { Stone } from "../../shell/controls.js";
import { takeToViews } from "./Nets.js";

const LEAST = 0.02; // share of a move that is shown on other boards
const MOST = 8; // moves

/** Bars above the columns. On other boards marks: number and arc are the search's, the dashed arc and the number below it the prior's. */
export function overlayOf(thought, prior, position) {
  const { picture } = position;
  if (!thought && !prior) return {};
  const policy = thought?.policy ?? null;
  if (picture.drops) {
    return {
      bars: picture.actions.map(({ move, cells }) => ({
        cell: cells[0],
        prior: prior?.[move] ?? null,
        policy: policy ? (policy[move] ?? 0) : null,
      })),
    };
  }
  const shareOf = ({ move }) => policy?.[move] ?? 0;
  const priorOf = ({ move }) => prior?.[move] ?? 0;
  const weight = (action) => Math.max(shareOf(action), priorOf(action));
  const ranked = picture.actions
    .filter((action) => weight(action) >= LEAST)
    .sort((a, b) => shareOf(b) - shareOf(a) || priorOf(b) - priorOf(a))
    .slice(0, MOST);
  const percent = (share) => String(Math.round(100 * share));
  const marks = ranked.map((action, k) => ({
    cells: action.cells,
    text: policy ? percent(shareOf(action)) : "",
    note: prior ? percent(priorOf(action)) : "",
    share: shareOf(action),
    prior: priorOf(action),
    kind: k || !policy ? "other" : "best",
  }));
  return { marks, hidesTargets: true };
}

const percent = (share) => `${Math.round(100 * share)}%`;

export function Thought() {
  const { watch } = useApp();
  const { board: session, thought } = watch;
  return html`<div class="thought">
    <p>
      ${watch.isOnGame && session.start && session.ply === 0 && "The game began at this position, which other views cannot show. "}
      ${sentenceOf(watch)}
      ${watch.isOnGame && !session.start && html` <button class="chip" onClick=${() => analyse(watch)}>Analyse this game</button>`}
    </p>
    ${thought && html`<details class="as-table"><summary>as a table</summary><${Table} /></details>`}
  </div>`;
}

async function analyse(watch) {
  if (await takeToViews(watch)) watch.app.setView("analyse");
}

function sentenceOf(watch) {
  const { board: session, game, thought } = watch;
  if (!game) return "";
  if (!watch.isOnGame)
    return html`The board shows a position that is not of game ${game.id}. <button class="quiet" onClick=${() => watch.show(game.id)}>Back to the game</button>`;
  const { given_plies: given, opening_plies: random } = game;
  if (session.ply < given)
    return html`<strong>${game.moves[session.ply]}</strong> was given: the game began after these ${given} moves.`;
  if (session.ply < given + random)
    return html`<strong>${game.moves[session.ply]}</strong> was a random move of the opening: ${random} in all.`;
  if (!thought)
    return game.result && session.ply === game.moves.length ? `The game is over: ${resultOf(game, session)}.` : "";
  const proven = thought.proven === null ? "" : ` (proven: ${wordOf(thought.proven, session)})`;
  const net =
    thought.net_value === null
      ? ""
      : `; the net of iteration ${game.net} alone gave ${formatScore(thought.net_value, 0)} %`;
  const missing = thought.policy ? "" : " This was a fast search, and its policy was not kept.";
  return html`<strong>${thought.move}</strong> was played. The search gave ${nameOf(session.game, 0)} a score of ${formatScore(thought.value, 0)} %${proven}${net}.${missing}`;
}

const resultOf = ({ result }, session) =>
  result.winner === null ? "a draw" : `${nameOf(session.game, result.winner)} wins`;

const wordOf = (proven, session) => (proven === 0 ? "a draw" : `${nameOf(session.game, proven > 0 ? 0 : 1)} wins`);

function Table() {
  const { net, thought, prior } = useApp().watch;
  const shareOf = (move) => thought.policy?.[move] ?? 0;
  const moves = Object.keys(prior ?? thought.policy ?? {}).sort(
    (a, b) => shareOf(b) - shareOf(a) || (prior?.[b] ?? 0) - (prior?.[a] ?? 0),
  );
  return html`<table aria-label="Moves of this position">
    <thead><tr><th scope="col">move</th><th scope="col">prior${net ? ` of net ${net.iteration}` : ""}</th><th scope="col">search</th></tr></thead>
    <tbody>${moves.map((move) => html`<tr><th scope="row">${move}</th><td>${prior ? percent(prior[move] ?? 0) : "–"}</td><td>${thought.policy ? percent(shareOf(move)) : "–"}</td></tr>`)}</tbody>
  </table>`;
}

export function Games() {
  const { watch } = useApp();
  const { games, noise, problems } = watch.list;
  return html`<section class="run-list">
    <table aria-label="Self-play games">
      <thead><tr><th scope="col">game</th><th scope="col">result</th><th scope="col" class="number">length</th><th scope="col" class="number">opening</th><th scope="col">moves</th></tr></thead>
      <tbody>
        ${watch.clean && html`<${CleanRow} />`}
        ${games.map(
          (game) => html`<${Row} key=${game.id} game=${game}
          result=${html`<${Result} winner=${game.result.winner} />`}
          opening=${openingOf(game)}
          moves=${game.first_moves.join(" ") + (game.first_moves.length < game.plies ? " …" : "")}
        />`,
        )}
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

function Row({ game, result, opening, moves, length = game.plies }) {
  const { watch } = useApp();
  const isShown = game.id === watch.game?.id;
  return html`<tr class=${isShown ? "current" : ""} onClick=${() => watch.show(game.id)}>
    <th scope="row"><button class="row-button" aria-current=${isShown ? "true" : null}>${game.id}</button></th>
    <td>${result}</td>
    <td class="number">${length} plies</td>
    <td class="number">${opening}</td>
    <td class="line">${moves}</td>
  </tr>`;
}

function CleanRow() {
  const { game, isPlaying } = useApp().watch.clean;
  const result = game.result
    ? html`<${Result} winner=${game.result.winner} />`
    : !isPlaying
      ? "stopped"
      : game.moves.length
        ? "playing …"
        : "getting ready …";
  return html`<${Row} game=${game} result=${result} opening="no noise" moves=${game.moves.join(" ")} length=${game.moves.length} />`;
}

function Result({ winner }) {
  const { game } = useApp().shown;
  if (winner === null) return html`<span class="drawn">=</span> draw`;
  return html`<${Stone} player=${winner} /> ${nameOf(game, winner)}`;
}
