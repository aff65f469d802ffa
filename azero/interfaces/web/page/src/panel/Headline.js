// The headline: how both sides stand, the first player always on the left.

import { html, useApp } from "../html.js";
import { forFirst, formatCount, percentsOf, scoreOf } from "../score.js";
import { Stone } from "../shell/controls.js";
import { scoreText } from "./CandidateTable.js";

/** {scores: ["46.3", "53.7"], note} of both players, from an opinion for the first player. */
function headlineOf(players, opinion) {
  if (!opinion) return { scores: ["–", "–"], note: "" };
  const first = scoreOf(opinion.value).toFixed(1);
  return { scores: [first, (100 - Number(first)).toFixed(1)], note: noteOf(players, opinion) };
}

/** Wins of the first player, draws, wins of the second, of a hundred games; null if the opinion has none. */
export const outcomesOf = (opinion) => (opinion?.outcomes ? percentsOf(opinion.outcomes).map(Number) : null);

function noteOf(players, { outcomes, points, proof }) {
  if (proof)
    return proof.winner === null
      ? "Proven draw"
      : `${players[proof.winner].name} wins${proof.plies ? ` in ${proof.plies}` : ""}`;
  if (points !== null && points !== undefined) {
    const owner = points >= 0 ? 0 : 1;
    return `${players[owner].name} by ${Math.abs(points).toFixed(1)} points`;
  }
  const draws = outcomes ? Math.round(100 * outcomes[1]) : 0;
  return draws >= 1 ? `${draws} % draws` : "";
}

/** The opinion of an update for the first player: {value, outcomes, points, proof, simulations}. */
export function opinionOf(update) {
  const best = update.moves.find((move) => move.move === update.best) ?? update.moves[0];
  const winner = { win: update.to_move, loss: 1 - update.to_move, draw: null };
  const { proven } = update;
  const plies = proven === "draw" || proven !== best?.proven ? null : best.proven_plies;
  const proof = proven ? { winner: winner[proven], plies } : null;
  return {
    value: forFirst(proof ? { win: 1, draw: 0, loss: -1 }[proven] : update.value, update.to_move),
    outcomes: proof ? null : update.outcomes,
    points: update.score === null || update.score === undefined ? null : forFirst(update.score, update.to_move),
    proof,
    simulations: update.simulations,
  };
}

/** The opinion of a position in which the game is over. */
export function opinionOfResult({ winner }) {
  return {
    value: winner === null ? 0 : winner === 0 ? 1 : -1,
    outcomes: null,
    points: null,
    proof: null,
    simulations: Infinity,
  };
}

/** "12,480 sims · 3,120/s" */
export function rateText(update) {
  if (!update) return "";
  const rate = update.simulations_per_s;
  return `${formatCount(update.simulations)} sims${rate ? ` · ${formatCount(rate)}/s` : ""}`;
}

const REASONS = {
  simulations: "the limit is reached",
  seconds: "the time is over",
  proven: "proven",
  memory: "its memory is full",
  stopped: "stopped by the server",
};

/** Why an analysis ended by itself. */
export const reasonText = (reason) => REASONS[reason] ?? reason ?? "";

/** What Shift V says: who is to move, the scores of both, and the best moves. */
export function spokenAnalysis({ players, toMove, agent, update, rows }) {
  if (!update) return "No analysis yet.";
  const { scores } = headlineOf(players, opinionOf(update));
  const best = rows
    .slice(0, 3)
    .map((row) => `${row.move}, ${row.proof ?? `${scoreText(row)} percent`}, ${formatCount(row.visits)} visits`);
  return (
    `${players[toMove].name} to play. ${agent} gives ${players[0].name} ${scores[0]} percent and ${players[1].name} ` +
    `${scores[1]} percent after ${formatCount(update.simulations)} simulations. Best moves: ${best.join("; ")}.`
  );
}

/** With `first`, the name of the first of two agents, wins and draws that it expects, if it gives them. */
export function Headline({ opinion, first = null }) {
  const { players } = useApp().session.game;
  const outcomes = first === null ? null : outcomesOf(opinion);
  if (outcomes) return html`<${Outcomes} outcomes=${outcomes} agent=${first} />`;
  const { scores, note } = headlineOf(players, opinion);
  const side = (player) => html`<span class="headline-side" data-player=${player}>
    <${Stone} player=${player} size=${1.3} />
    <span class="headline-score">${opinion && html`<strong>${scores[player]}</strong>`}<span class="percent">${opinion ? "%" : "–"}</span></span>
    <span class="headline-name">${players[player].name}</span>
  </span>`;
  return html`<div class="headline" role="group" aria-label="Score">
    ${side(0)}
    <span class="headline-note">${note && html`<span class="pill">${note}</span>`}</span>
    ${side(1)}
  </div>`;
}

/** "38 wins, 34 draws, wins 28": what an agent expects of a hundred games. */
function Outcomes({ outcomes: [first, draws, second], agent }) {
  const { players } = useApp().session.game;
  const side = (player, wins) => html`<span class="headline-side" data-player=${player}>
    <${Stone} player=${player} size=${1.3} />
    <span class="headline-score"><strong>${wins}</strong></span>
    <span class="headline-word"><span class="hidden">${players[player].name} </span>${wins === 1 ? "win" : "wins"}</span>
  </span>`;
  return html`<div class="headline" role="group" aria-label="Score">
    ${side(0, first)}
    <span class="headline-draws"><strong>${draws}</strong> <span class="headline-word">${draws === 1 ? "draw" : "draws"}</span><small>of 100 games<span class="wide-only">, by ${agent}</span></small></span>
    ${side(1, second)}
  </div>`;
}
