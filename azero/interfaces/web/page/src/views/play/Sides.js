// Who plays: a card for each side.

import { html, useApp, useEffect, useRender } from "../../html.js";
import { Stone } from "../../shell/icons.js";
import { formatClock } from "./clocks.js";
import { SLOW_MS } from "./game.js";

/** The card of a side: name, level, clock, and what it is doing. */
export function Side({ side, isBelow = false }) {
  const { playing: play, session } = useApp();
  const player = play.players[side];
  const isToMove = !play.result && session.position?.to_move === side;
  const levels = player.kind === "agent" ? play.agentOf(player)?.levels : null;
  const level = levels?.find((each) => each.level === player.level);
  return html`<div class="side ${isToMove ? "to-move" : ""} ${isBelow ? "below" : "above"}">
    <${Stone} player=${side} size=${1.55} />
    <div class="who">
      <strong>${play.titleOf(side)}</strong>
      <span class="detail">${whatItDoes(play, side, isToMove, level)}</span>
      ${level && html`<${LevelBars} levels=${levels} level=${player.level} />`}
    </div>
    ${play.clocks && html`<${Clock} clocks=${play.clocks} side=${side} />`}
  </div>`;
}

function whatItDoes(play, side, isToMove, level) {
  const { thinking, problem, stages } = play;
  const name = play.nameOfSide(side);
  const isAgent = play.players[side].kind === "agent";
  const isNamed = !isAgent && play.human === null; // two people are titled by their colours
  const { result } = play;
  if (result)
    return `${isNamed ? "" : `${name}, `}${result.winner === null ? "draw" : result.winner === side ? "won" : "lost"}`;
  if (isAgent && isToMove && problem) return "could not move";
  if (isAgent && stages.length) return "is getting ready";
  if (thinking?.player === side && Date.now() - thinking.since > SLOW_MS)
    return `thinks, ${Math.round((Date.now() - thinking.since) / 1000)} s`;
  if (level?.elo !== null && level?.elo !== undefined)
    return `${name}, ${Math.round(level.elo).toLocaleString("en-US")} Elo above random`;
  if (isToMove && !isAgent) return isNamed ? "to move" : `${name}, your move`;
  return isNamed ? "waits" : name;
}

function LevelBars({ levels, level }) {
  const elos = levels.map((each) => each.elo ?? 100 * each.level);
  const [low, high] = [Math.min(...elos), Math.max(...elos)];
  return html`<span class="level-bars" role="img" aria-label="Level ${level} of ${levels.length}">
    ${levels.map(
      (each, k) => html`<span
      class=${each.level === level ? "own" : each.level < level ? "under" : ""}
      style=${{ height: `${5 + (24 * (elos[k] - low)) / (high - low || 1)}px` }}
    ></span>`,
    )}
    <small>${level} of ${levels.length}</small>
  </span>`;
}

function Clock({ clocks, side }) {
  const render = useRender();
  useEffect(() => {
    const timer = setInterval(render, 100);
    return () => clearInterval(timer);
  }, [clocks]);
  const left = clocks.now(side);
  return html`<span class="clock ${left < 10_000 ? "short" : ""}" role="timer" aria-label="Time left">${formatClock(left)}</span>`;
}
