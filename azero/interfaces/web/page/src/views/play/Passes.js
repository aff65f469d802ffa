// Passes: who has to pass, or has passed, and why. Nobody does it unseen.

import { useRender } from "../../emitter.js";
import { html, useEffect } from "../../html.js";
import { showRules } from "../../shell/RulesDialog.js";

export function Passes({ play, session, app }) {
  const { game, node, position } = session;
  const isPass = node.move === "pass";
  const render = useRender();
  useEffect(() => void (isPass && session.positionOf(node.parent).then(render, () => {})), [node]); // whether it was forced
  if (play.result || !session.isSettled) return null;
  const { picture, to_move: toMove } = position;
  const why = html` <button class="link" onClick=${() => showRules(app, game)}>Rules</button>`;
  if (isForced(picture) && play.mayMove) {
    const [pass] = picture.buttons;
    const who = play.titleOf(toMove) === "You" ? "You have" : `${play.nameOfSide(toMove)} has`;
    return html`<div class="card passing" role="status">
      <p><strong>${who} to pass.</strong> ${play.nameOfSide(toMove)} has no other move here.${why}</p>
      <button class="primary" onClick=${() => play.play(pass)}>Pass</button>
    </div>`;
  }
  if (!isPass) return null;
  const wasForced = isForced(session.cached(node.parent)?.picture);
  return html`<div class="card passing" role="status">
    <p><strong>${play.nameOfSide(node.player)} has passed.</strong> ${wasForced && `${play.nameOfSide(node.player)} had no other move. `}${play.nameOfSide(toMove)} moves.${why}</p>
  </div>`;
}

/** Whether a pass is the only move. */
const isForced = (picture) => picture?.actions.length === 1 && picture.buttons[0]?.label === "Pass";
