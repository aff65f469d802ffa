// How the game ended, and what to do next.

import { html } from "../../html.js";
import { Icon, Stone } from "../../shell/icons.js";
import { Weakest } from "./Weakest.js";
import { beginGame } from "./begin.js";

const NUMBERS = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

export function Ending({ play, session, app, newGame }) {
  const { winner } = play.result;
  const again = (players) => beginGame(app, players, play.limit);
  const next = nextLevel(play);
  return html`<div class="ending">
    <h2>${winner !== null && html`<${Stone} players=${session.game.players} player=${winner} size=${0.85} />`} ${titleOf(play)}</h2>
    <p>${sentenceOf(play, session)}${play.hasHuman && html`<${Weakest} ...${{ play, session, app }} />`}</p>
    <div class="row">
      <button class="primary" onClick=${() => review(session, app).catch(app.fail)}>Review this game</button>
      <button onClick=${() => again([...play.players].reverse())}><span>Play again<span class="wide-only">, sides swapped</span></span></button>
      ${next
        ? html`<button class="quiet" onClick=${() => again(next.players)}>Level ${next.level} <${Icon} name="play" /></button>`
        : html`<button class="quiet" onClick=${newGame}>Another game</button>`}
    </div>
  </div>`;
}

async function review(session, app) {
  const { showReview } = await import("../review/reviewing.js");
  showReview(session, app);
}

function titleOf(play) {
  const { winner } = play.result;
  if (winner === null) return "Draw";
  if (play.human === null) return `${play.nameOfSide(winner)} wins`;
  return winner === play.human ? "You win" : "You lose";
}

/** Why the game is over, e.g. "Red has four in a row." */
function sentenceOf(play, session) {
  const { winner, text } = play.result;
  const { winning, is_path: isPath, style } = session.position.picture;
  const whole = text.endsWith(".") ? text : `${text}.`;
  if (play.decided || winner === null || !isPath || !winning.length) return whole;
  const name = play.nameOfSide(winner);
  if (style === "hexes") return `${name} joins both of its edges.`;
  return `${name} has ${NUMBERS[winning.length] ?? winning.length} in a row.`;
}

/** The players of a game at the next level, {level, players}: higher after a win, lower after a loss. */
function nextLevel(play) {
  const { human, players, result } = play;
  if (human === null || result.winner === null) return null;
  const agent = players[1 - human];
  if (!Number.isInteger(agent.level)) return null; // it plays by simulations, or adapts
  const level = agent.level + (result.winner === human ? 1 : -1);
  if (!play.agentOf(agent)?.levels?.some((each) => each.level === level)) return null;
  return { level, players: players.map((player) => (player === agent ? { ...agent, level } : player)) };
}
