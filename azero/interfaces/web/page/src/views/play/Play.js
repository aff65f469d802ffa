// Play: against an agent, between people, or agent against agent.

import { post } from "../../api.js";
import { html, useApp, useEffect, useLayoutEffect, useRef, useState } from "../../html.js";
import { stepKeys, useKeys } from "../../keys.js";
import { overlayOfLine } from "../../panel/overlays.js";
import { published } from "../../published.js";
import { settings } from "../../settings.js";
import { Dialog, Icon } from "../../shell/controls.js";
import { PanelFrame, Stage } from "../../shell/layout.js";
import { Ending } from "./Ending.js";
import { PlayGame, SLOW_MS } from "./game.js";
import { NewGame, openingPlayers } from "./NewGame.js";
import { Moves, Passes, Problem, Side, Stages, Steps } from "./Panel.js";

let context = null;

function tick() {
  context ??= new AudioContext();
  const [oscillator, gain] = [context.createOscillator(), context.createGain()];
  oscillator.frequency.setValueAtTime(420, context.currentTime);
  oscillator.frequency.exponentialRampToValueAtTime(160, context.currentTime + 0.06);
  gain.gain.setValueAtTime(0.18, context.currentTime);
  gain.gain.exponentialRampToValueAtTime(0.001, context.currentTime + 0.08);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start();
  oscillator.stop(context.currentTime + 0.09);
}

function ConfirmResign() {
  const { closeDialog, playing: play } = useApp();
  const go = () => {
    closeDialog();
    play.resign();
  };
  return html`<${Dialog} title="Resign this game?" footer=${html`
    <button onClick=${closeDialog}>Keep playing</button>
    <button class="primary" data-autofocus onClick=${go}>Resign</button>`}></${Dialog}>`;
}

const ALL = html` <span class="wide-only"><kbd>U</kbd> takes back, <kbd>H</kbd> hints, <kbd>?</kbd> lists all keys.</span>`;

function Help() {
  const { playing: play, session } = useApp();
  const { position } = session;
  if (!position || play.result || !play.hasHuman) return null;
  if (session.node.children.length)
    return html`<p class="help">This is an earlier position: <kbd>→</kbd> goes forward, Undo goes on from here.</p>`;
  return html`<p class="help"><span class="wide-only">${withMouse(position.picture)}</span><span class="narrow-only">${withFinger(position.picture)}</span>${ALL}</p>`;
}

function withMouse({ drops, style, steps, actions }) {
  if (drops) return html`Click a column, or press <kbd>1</kbd> to <kbd>${Math.min(9, drops.length)}</kbd>.`;
  if (style === "tree") return html`Click a branch, or press its number.`;
  if (actions.length && actions.every(({ cells }) => !cells.length)) return "Choose a move from the list.";
  if (steps.length === 2) return "Drag a piece, or click it and its square.";
  if (steps.length > 2) return "Click piece, square, target.";
  return html`Click, or use arrow keys and <kbd>Enter</kbd>.`;
}

function withFinger({ drops, style, steps, actions }) {
  if (drops) return "Tap a column to aim, tap it again to drop.";
  if (style !== "tree" && actions.length && actions.every(({ cells }) => !cells.length))
    return "Choose a move from the list.";
  return steps.length > 1 ? "Tap a piece, then where it goes; tap again to play." : "Tap to aim, tap again to play.";
}

export function Play() {
  const app = useApp();
  const { session } = app;
  const [chosen, setChosen] = useState([]);
  const board = useRef(null);
  const isMissing = !app.play && session.isSettled && !app.numOpening;
  useLayoutEffect(() => {
    if (!isMissing) return;
    app.playing = new PlayGame(app, session.tree.kept.play ?? { players: openingPlayers(session) });
    app.play.onChange();
    app.changed();
  }, [isMissing]);
  useEffect(() => {
    if (session.node.move && settings.get("sound")) tick();
  }, [session.node]);
  const play = app.playing; // until the position of another game has come, the last one is shown
  usePlayKeys(app);
  if (!play || !session.position) return null;

  const below = play.human ?? 0; // the side at the foot of the panel
  const { picture } = session.position;
  const { problem } = picture; // of a user's own picture
  const isPlain = !published && session.game.is_own && picture.style === "plain"; // whoever looks is its author
  return html`
    <${Stage}
      overlay=${hintOverlay(play.hint, session.position)}
      isInteractive=${play.mayMove}
      controls=${board}
      onAction=${play.act}
      onBack=${() => picture.begun.length > 0 && play.mayMove && takeBackStep(session)}
      onChosen=${setChosen}
    />
    <${PanelFrame} label="Game" bar=${html`<${Buttons} />`} foot=${html`<${Help} />`}>
      <${Side} side=${1 - below} />
      ${play.result && html`<${Ending} />`}
      ${play.problem && !play.result && html`<${Problem} />`}
      <${Passes} />
      ${play.stages.length > 0 && html`<${Stages} />`}
      ${hasMoveList(picture) && html`<${MoveList} />`}
      ${problem && html`<p class="note problem" role="status">The picture of your file cannot be used: ${problem}</p>`}
      ${isPlain && !problem && html`<p class="detail note">This is azero's plain board. All moves are in the list. A method <code>picture</code> in your file makes it prettier: docs/rules_of_a_game.md shows how.</p>`}
      <${Moves} />
      <${Steps} chosen=${chosen} onBack=${() => board.current.stepBack()} />
      <${Side} side=${below} isBelow />
    </${PanelFrame}>`;
}

/** Takes back the last action of a turn that is not over; returns true. */
function takeBackStep(session) {
  const { node } = session;
  session.tree.remove(node);
  session.goTo(node.parent);
  return true;
}

/** Whether some actions can only be chosen from a list: they have neither a cell nor a button. */
function hasMoveList(picture) {
  const onButtons = new Set(picture.buttons.map(({ action }) => action));
  return (
    picture.style === "plain" ||
    picture.style === "tree" ||
    picture.actions.some(({ action, cells }) => !cells.length && !onButtons.has(action))
  );
}

function MoveList() {
  const { playing: play, session } = useApp();
  const { actions } = session.position.picture;
  if (!actions.length) return null;
  return html`<div class="move-list" role="group" aria-label="Legal moves">
    <h2 class="small">Moves you can make</h2>
    ${actions.map((action) => html`<button key=${action.action} disabled=${!play.mayMove} onClick=${() => play.act(action)}>${action.move}</button>`)}
  </div>`;
}

function Buttons() {
  const app = useApp();
  const { playing: play, session } = app;
  const { picture } = session.position;
  const { isOver } = play;
  return html`
    <button disabled=${!play.mayUndo} onClick=${() => play.undo()}><${Icon} name="undo" />Undo</button>
    <button disabled=${!play.mayMove} onClick=${() => hint(app)}><${Icon} name="hint" />Hint</button>
    ${play.isAgainstAgent && play.human !== null && html`<button aria-label="Swap sides" disabled=${isOver} onClick=${() => play.swapSides()}><${Icon} name="swap" />Sides</button>`}
    ${play.human === null && play.isAgainstAgent && html`<button onClick=${() => play.pause(!play.isPaused)}><${Icon} name=${play.isPaused ? "play" : "pause"} />${play.isPaused ? "Go on" : "Stop"}</button>`}
    <button class="quiet" disabled=${isOver || !session.ply} onClick=${() => app.openDialog(ConfirmResign)}><${Icon} name="flag" />Resign</button>
    ${picture.buttons.map((button) => html`<button disabled=${!play.mayMove} onClick=${() => play.act(button)}>${button.label}</button>`)}
    <button class="primary end" aria-label="New game" onClick=${() => app.openDialog(NewGame)}>New game</button>`;
}

function usePlayKeys(app) {
  const { session } = app;
  const picture = session.position?.picture;
  const special = (label) => picture?.buttons.find((each) => each.label === label);
  const press = (button) => (app.play?.mayMove ? void app.play.act(button) : false);
  const takesDigits = Boolean(picture?.drops) || picture?.style === "tree";
  const digits = Object.fromEntries(
    [1, 2, 3, 4, 5, 6, 7, 8, 9].map((digit) => [
      String(digit),
      ["play the column or branch", () => playDigit(app, digit), takesDigits],
    ]),
  );
  useKeys({
    ...digits,
    u: ["undo", () => app.play?.undo()],
    h: ["hint", () => void hint(app)],
    n: ["new game", () => app.openDialog(NewGame)],
    x: ["swap sides", () => app.play?.swapSides(), Boolean(app.play?.isAgainstAgent)],
    "shift+p": ["pass", () => press(special("Pass")), Boolean(special("Pass"))],
    "shift+s": ["swap", () => press(special("Swap")), Boolean(special("Swap"))],
    "shift+r": ["resign", () => (session.ply && app.play?.isOver === false ? app.openDialog(ConfirmResign) : false)],
    ...stepKeys(session),
  });
}

function playDigit(app, digit) {
  const { picture } = app.session.position;
  const action = picture.drops
    ? picture.actions.find(({ cells }) => picture.drops[digit - 1]?.includes(cells[0]))
    : picture.actions[digit - 1];
  if (action) app.play?.act(action);
}

const HINT_SIMULATIONS = 400;

/** Asks for a hint, and says so if it takes a while. */
async function hint(app) {
  const timer = setTimeout(() => app.setStatus("The hint is on its way …"), SLOW_MS);
  if (app.play) await askHint(app.play);
  clearTimeout(timer);
  app.setStatus("");
}

/** Shows the square of the best move; asked again, the line that may follow. `play.hint` is {move, line, isLine}. */
async function askHint(play) {
  if (!play.mayMove) return;
  const { app, hint, session } = play;
  if (hint) {
    play.hint = { ...hint, isLine: true };
    app.announce(`Hint: ${hint.line.join(" ")}`);
    return play.changed();
  }
  try {
    const found = await hintOf(app.agent, session);
    if (!found) return;
    play.hint = { ...found, isLine: false };
    app.announce(`Hint: ${found.move}`);
  } catch (error) {
    app.fail(error);
  }
  play.changed();
}

/** Returns {move, line} of the best move in the session's position; null if it is shown no more. */
async function hintOf(agent, session) {
  const { node } = session;
  const body = { agent, game: session.game.id, moves: session.moves, simulations: HINT_SIMULATIONS };
  const [best] = (await post("suggestions", body)).moves;
  if (session.node !== node || !best) return null;
  return { move: best.move, line: best.pv };
}

/** What the board shows of a hint. */
function hintOverlay(hint, { to_move: toMove, picture }) {
  if (!hint) return {};
  const { line, isLine } = hint;
  if (isLine) return overlayOfLine(picture, toMove, line);
  const cells = picture.actions.find(({ move }) => move === line[0])?.cells ?? [];
  return { marks: [{ cells: cells.slice(0, 1), text: "", share: 0, kind: "best" }] };
}
