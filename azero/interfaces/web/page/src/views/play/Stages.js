// What a game in play waits for, and passes: who has to pass, or has passed, and why.

import { html, useApp, useEffect, useRender } from "../../html.js";
import { doneOf, ONCE } from "../../panel/messages.js";
import { RulesDialog } from "../../shell/dialogs.js";
import { Icon } from "../../shell/icons.js";

/** Who has to pass, or has passed, and why. Nobody does it unseen. */
export function Passes() {
  const { playing: play, session, openDialog } = useApp();
  const { node, position } = session;
  const isPass = node.move === "pass";
  const render = useRender();
  useEffect(() => void (isPass && session.positionOf(node.parent).then(render, () => {})), [node]); // whether it was forced
  if (play.result || !session.isSettled) return null;
  const { picture, to_move: toMove } = position;
  const why = html` <button class="link" onClick=${() => openDialog(RulesDialog)}>Rules</button>`;
  if (isForced(picture) && play.mayMove) {
    const [pass] = picture.buttons;
    const who = play.titleOf(toMove) === "You" ? "You have" : `${play.nameOfSide(toMove)} has`;
    return html`<div class="card passing" role="status">
      <p><strong>${who} to pass.</strong> ${play.nameOfSide(toMove)} has no other move here.${why}</p>
      <button class="primary" onClick=${() => play.act(pass)}>Pass</button>
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

/** The stages of loading and compiling, as they come. `stages`: [{text, elapsed_s, expected_s, share}], the last one runs. */
export function Stages() {
  const { playing, openDialog } = useApp();
  const { stages } = playing;
  const now = stages.at(-1);
  return html`<div class="stages" aria-label="Getting the engine ready" role="group">
    <h2 class="small">Getting the engine ready</h2>
    <ol>
      ${stages.map(
        (stage) => html`<li class=${stage === now ? "now" : "done"}>
        ${stage === now ? html`<span class="spinner" />` : html`<${Icon} name="check" />`}
        <span>${stage.text}</span>
        <span class="detail">${stage.elapsed_s.toFixed(1)} s</span>
      </li>`,
      )}
      <li><span class="spinner still" /><span>First reply</span><span></span></li>
    </ol>
    <progress max="1" value=${doneOf(now)} aria-label=${now.text}></progress>
    <p>You can move already; the reply comes when this is done. Or read the <button class="link" onClick=${() => openDialog(RulesDialog)}>rules</button> meanwhile.</p>
    ${now.stage === "compiling" && html`<p class="detail">${ONCE}</p>`}
  </div>`;
}

/** An agent that could not move: what happened, and what to do. */
export function Problem() {
  const { playing: play, session } = useApp();
  const { problem } = play;
  const others = session.agents.filter(
    ({ id, kind }) => kind === "uct" && !play.players.some((player) => player.agent === id),
  );
  return html`<div class="card problem-card" role="alert">
    <h2 class="small"><${Icon} name="warning" />The agent could not move</h2>
    <p class="detail">${problem.message}. The game is kept.</p>
    <div class="row">
      <button onClick=${() => play.retry()}>Try again</button>
      ${others.slice(0, 1).map(({ id, title }) => html`<button onClick=${() => play.replaceAgent(id)}>Use ${title}</button>`)}
    </div>
  </div>`;
}
