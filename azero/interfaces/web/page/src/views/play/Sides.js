// Who plays: a card for each side, the steps of a turn, and how the game ended.

import { html, useEffect, useReducer } from "../../html.js";
import { Icon, Stone } from "../../shell/icons.js";
import { formatClock } from "./clocks.js";

/** The card of a side: name, level, clock, and what it is doing. */
export function Side({ play, session, side, isBelow = false, hint = "" }) {
  const player = play.players[side];
  const isToMove = !play.result && session.position?.to_move === side;
  const levels = player.kind === "agent" ? play.agentOf(player)?.levels : null;
  const level = levels?.find((each) => each.level === player.level);
  return html`<div class="side ${isToMove ? "to-move" : ""} ${isBelow ? "below" : ""}">
    <${Stone} players=${session.game.players} player=${side} size=${1.55} />
    <div class="who">
      <strong>${play.titleOf(side)}</strong>
      <span class="detail">${whatItDoes(play, session, side, isToMove, level)}</span>
      ${level && html`<${LevelBars} levels=${levels} level=${player.level} />`}
    </div>
    ${play.clocks && html`<${Clock} clocks=${play.clocks} side=${side} />`}
    ${isBelow && play.human === side && session.ply === 0 && isToMove && html`<p class="detail first-hint">${hint}</p>`}
  </div>`;
}

function whatItDoes(play, session, side, isToMove, level) {
  const { thinking, problem, stage } = play;
  if (problem && isToMove && play.players[side].kind === "agent") return `could not move: ${problem.message}`;
  if (stage && stage.agent === play.players[side].agent) {
    const expected = stage.expected_s ? ` of about ${Math.round(stage.expected_s)} s` : "";
    return `${stage.text}: ${Math.round(stage.elapsed_s)}${expected || " s"}`;
  }
  if (thinking?.player === side && Date.now() - thinking.since > 300) {
    return `thinks, ${Math.round((Date.now() - thinking.since) / 1000)} s`;
  }
  const name = session.game.players[side].name;
  if (level?.elo !== null && level?.elo !== undefined) return `${name}; ${Math.round(level.elo).toLocaleString("en-US")} Elo above random`;
  if (isToMove && play.players[side].kind === "human") return play.human === null ? "to move" : `${name}; your move`;
  return name;
}

export function LevelBars({ levels, level }) {
  const elos = levels.map((each) => each.elo ?? 100 * each.level);
  const [low, high] = [Math.min(...elos), Math.max(...elos)];
  return html`<span class="level-bars" role="img" aria-label="Level ${level} of ${levels.length}">
    ${levels.map((each, k) => html`<span
      class=${each.level === level ? "own" : each.level < level ? "under" : ""}
      style=${{ height: `${5 + (24 * (elos[k] - low)) / (high - low || 1)}px` }}
    ></span>`)}
    <small>${level} of ${levels.length}</small>
  </span>`;
}

function Clock({ clocks, side }) {
  const [, render] = useReducer((count) => count + 1, 0);
  useEffect(() => {
    const timer = setInterval(render, 100);
    return () => clearInterval(timer);
  }, [clocks]);
  const left = clocks.now(side);
  return html`<span class="clock ${left < 10_000 ? "short" : ""}" role="timer" aria-label="Time left">${formatClock(left)}</span>`;
}

/** The steps of an action that takes several clicks, e.g. Amazon, Goes to, Shoots at. */
export function Steps({ session, chosen, play }) {
  const { picture } = session.position;
  if (picture.steps.length < 2 || !play.mayMove) return null;
  const done = [...picture.begun, ...chosen];
  const open = new Set(picture.actions.filter(({ cells }) => chosen.every((cell, k) => cells[k] === cell)).map(({ cells }) => cells[chosen.length])).size;
  if (!done.length) return null;
  return html`<ol class="steps" aria-label="Steps of this move">
    ${picture.steps.map((name, k) => html`<li class=${k < done.length ? "done" : k === done.length ? "now" : ""}>
      <span class="step-mark">${k < done.length ? html`<${Icon} name="check" />` : k + 1}</span>
      <strong>${name}</strong>
      <span class="detail">${k < done.length ? picture.cells[done[k]].name : k === done.length ? `choose one of ${open} squares; Esc goes back` : ""}</span>
    </li>`)}
  </ol>`;
}

/** The result, and what to do next. */
export function Ending({ play, session, app, newGame }) {
  return html`<div class="ending card">
    <strong>${play.result.text}</strong>
    <div class="row">
      <button onClick=${() => app.setView("review")}>Review this game</button>
      ${play.human !== null && html`<button onClick=${() => again(play, app)}>Play again, sides swapped</button>`}
      <button onClick=${newGame}>Another game</button>
    </div>
  </div>`;
}

async function again(play, app) {
  const { beginGame } = await import("./game.js");
  await beginGame(app, [play.players[1], play.players[0]], play.limit);
}
