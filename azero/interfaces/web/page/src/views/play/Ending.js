// How the game ended, and what to do next.

import { html, useApp, useEffect, useRender, useState } from "../../html.js";
import { Icon, Stone } from "../../shell/controls.js";
import { beginGame } from "./game.js";
import { NewGame } from "./NewGame.js";

const SIMULATIONS = 100; // of each position: one sentence comes of it, and nothing in the tree
const KNOWN = new WeakMap(); // reviews by the last move of the game

/** The sentence, or how far the review has come. */
function Weakest() {
  const app = useApp();
  const { playing: play, session } = app;
  const render = useRender();
  const [review, setReview] = useState(null);
  useEffect(() => {
    let end = null; // null before the review has begun
    let isGone = false;
    const begin = async () => {
      const { LineReview, reviewerOf } = await import("../review/reviewing.js");
      const last = session.tree.lineOf(session.node).at(-1);
      const agent = reviewerOf(session, app.agent);
      if (isGone || !agent || !last) return;
      if (!KNOWN.has(last)) KNOWN.set(last, new LineReview(session, { simulations: SIMULATIONS, marks: false }));
      const found = KNOWN.get(last);
      const unsubscribe = found.subscribe(render);
      end = () => {
        unsubscribe();
        found.stop();
      };
      if (!found.whole) found.start(agent);
      setReview(found);
    };
    begin().catch(app.fail);
    return () => {
      isGone = true;
      end?.();
    };
  }, [session.tree]);
  if (!review?.isCurrent || review.error) return null;
  const found = weakestText(review, play);
  if (review.whole) return html` <span role="status">${found}</span>`;
  return html` ${found}<span class="detail"> Looking for the weakest move: ${review.numReviewed} of ${review.nodes.length} …</span>`;
}

/** "Your weakest move was f5 (move 9): it gave away 11 of 100 points." Of two people, the weakest move of both; so far, while the review runs. */
function weakestText({ moves, whole }, play) {
  const { human } = play;
  const own = moves.filter((move) => !move.is_random && (human === null || move.player === human));
  const worst = own.reduce((most, move) => (move.loss > (most?.loss ?? 0) ? move : most), null);
  const points = Math.round(50 * (worst?.loss ?? 0));
  if (points < 1) {
    if (!whole || !own.length) return "";
    return human === null ? "No move gave anything away." : "None of your moves gave anything away.";
  }
  const which = `weakest move${whole ? "" : " so far"} was ${worst.move} (move ${worst.ply + 1})`;
  const whose = human === null ? `The ${which} by ${play.nameOfSide(worst.player)}` : `Your ${which}`;
  return `${whose}: it gave away ${points} of 100 points.`;
}

const NUMBERS = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

export function Ending() {
  const app = useApp();
  const play = app.playing;
  const { winner } = play.result;
  const again = (players) => beginGame(app, players, play.limit);
  const next = nextLevel(play);
  return html`<div class="ending">
    <h2>${winner !== null && html`<${Stone} player=${winner} size=${0.85} />`} ${titleOf(play)}</h2>
    <p>${sentenceOf(play)}${play.hasHuman && html`<${Weakest} />`}</p>
    <div class="row">
      <button class="primary" onClick=${() => review(app).catch(app.fail)}>Review this game</button>
      <button onClick=${() => again([...play.players].reverse())}><span>Play again<span class="wide-only">, sides swapped</span></span></button>
      ${
        next
          ? html`<button class="quiet" onClick=${() => again(next.players)}>Level ${next.level} <${Icon} name="play" /></button>`
          : html`<button class="quiet" onClick=${() => app.openDialog(NewGame)}>Another game</button>`
      }
    </div>
  </div>`;
}

async function review(app) {
  const { showReview } = await import("../review/reviewing.js");
  showReview(app);
}

function titleOf(play) {
  const { winner } = play.result;
  if (winner === null) return "Draw";
  if (play.human === null) return `${play.nameOfSide(winner)} wins`;
  return winner === play.human ? "You win" : "You lose";
}

/** Why the game is over, e.g. "Red has four in a row." */
function sentenceOf(play) {
  const { winner, text } = play.result;
  const { winning, is_path: isPath, style } = play.session.position.picture;
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
