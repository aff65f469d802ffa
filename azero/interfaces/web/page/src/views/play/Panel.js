// The panel of Play: a card for each side, the moves, and what the game waits for.

import { html, useApp, useEffect, useRef, useRender } from "../../html.js";
import { doneOf, ONCE } from "../../panel/messages.js";
import { nameOf } from "../../score.js";
import { Icon, Stone } from "../../shell/controls.js";
import { RulesDialog } from "../../shell/dialogs.js";
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

export function Steps({ chosen, onBack }) {
  const { playing: play, session } = useApp();
  const { picture } = session.position;
  const done = [...picture.begun, ...chosen];
  if (picture.steps.length < 2 || !play.mayMove || !done.length) return null;
  const fitting = picture.actions.filter(({ cells }) => chosen.every((cell, k) => cells[k] === cell));
  const open = new Set(fitting.map(({ cells }) => cells[chosen.length])).size;
  const choice = open === 1 ? "one square is open" : `choose one of ${open} squares`;
  const detail = (k) => (k < done.length ? picture.cells[done[k]].name : k === done.length ? choice : "");
  return html`<div class="steps">
    <ol aria-label="Steps of this move">
      ${picture.steps.map(
        (name, k) => html`<li class=${k < done.length ? "done" : k === done.length ? "now" : ""}>
        <span class="step-mark">${k < done.length ? html`<${Icon} name="check" />` : k + 1}</span>
        <strong>${name}</strong>
        <span class="detail">${detail(k)}</span>
      </li>`,
      )}
    </ol>
    <p class="step-back">
      <button onClick=${onBack}><${Icon} name="left" />One step back</button>
      <span class="detail wide-only"><kbd>Esc</kbd> or <kbd>Backspace</kbd> on the board</span>
    </p>
  </div>`;
}

/** The rows of the list: [{number, cells: [node[] of first, node[] of second]}]; a turn may be several moves. */
function rowsOf(line) {
  const rows = [];
  let last = null;
  line.forEach((node, k) => {
    const player = node.player ?? k % 2;
    if (player !== last && (player === 0 || rows.length === 0 || rows.at(-1).cells[1].length)) {
      rows.push({ number: rows.length + 1, cells: [[], []] });
    }
    rows.at(-1).cells[player].push(node);
    last = player;
  });
  return rows;
}

export function Moves() {
  const { session } = useApp();
  const line = session.tree.lineOf(session.node);
  const box = useRef(null);
  const showCurrent = () => {
    const current = box.current?.querySelector("[aria-current]"); // the list may be gone
    if (!current) return;
    const [outer, inner] = [box.current.getBoundingClientRect(), current.getBoundingClientRect()];
    box.current.scrollTop += Math.max(0, inner.bottom - outer.bottom + 8) + Math.min(0, inner.top - outer.top);
    box.current.scrollLeft += Math.max(0, inner.right - outer.right + 8) + Math.min(0, inner.left - outer.left);
  };
  useEffect(showCurrent, [session.node]);
  useEffect(() => {
    const observer = new ResizeObserver(showCurrent); // e.g. when the ending takes room from the list
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return html`<div class="moves" role="log" aria-label="Moves played" ref=${box}>
    <div class="moves-row moves-head"><span></span>${[0, 1].map((player) => html`<span title=${nameOf(session.game, player)}><${Stone} player=${player} /></span>`)}</div>
    ${rowsOf(line).map(
      ({ number, cells }) => html`<div class="moves-row" key=${number}>
      <span class="number">${number}</span>
      ${cells.map((nodes) => html`<span class="turn">${turnsOf(nodes, session).map((turn) => html`<${Turn} nodes=${turn} session=${session} />`)}</span>`)}
    </div>`,
    )}
  </div>`;
}

/** Where a turn is several actions, e.g. in Amazons, they are one entry; otherwise each stands for itself. */
const turnsOf = (nodes, session) =>
  session.game.board.steps.length > 1 && nodes.length ? [nodes] : nodes.map((node) => [node]);

const Turn = ({ nodes, session }) => html`<button
  class="move"
  aria-current=${nodes.includes(session.node) ? "step" : null}
  onClick=${() => session.goTo(nodes.at(-1))}
>${nodes.map(({ move }) => move).join("")}</button>`;

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
