// Review: a whole game, what each move lost, and what was better.

import { html, useApp, useChanges, useEffect, useRef, useState } from "../../html.js";
import { useKeys } from "../../keys.js";
import { GameChart, Gauge } from "../../panel/GameChart.js";
import { Message, StageCard } from "../../panel/messages.js";
import { Navigation, NodeEditor, useTreeKeys, VariationTree } from "../../panel/variations.js";
import { IS_REVIEW } from "../../published.js";
import { formatCount, nameOf } from "../../score.js";
import { Icon, rowKeys, Stone } from "../../shell/controls.js";
import { PanelFrame, Stage } from "../../shell/layout.js";
import { download, writeRecord } from "../../shell/RecordDialog.js";
import { AgentPicker, Picker, StartStop, shortName } from "../analyse/controls.js";
import {
  annotated,
  countsOf,
  ERRORS,
  errorsOf,
  isError,
  judge,
  lossWord,
  meanLosses,
  nextError,
  opinionsOf,
  reviewOverlay,
  scoreWord,
} from "./report.js";
import { reviewerOf, reviewOf, SIMULATIONS } from "./reviewing.js";

const WORDS = { "?!": "inaccuracies", "?": "mistakes", "??": "blunders" };
const NOTE =
  "A win is 100 points, a draw 50, a loss 0. A move that loses 5 is an inaccuracy, 10 a mistake, 15 a blunder.";

function Summary() {
  const { session } = useApp();
  const names = namesInRecord(session);
  const { moves, whole } = reviewOf(session);
  const counts = countsOf(moves);
  const losses = meanLosses(moves);
  const side = (player) => html`<div class="summary-side" data-player=${player}>
    <p class="summary-name"><${Stone} player=${player} size=${1.2} /><strong class="player-name">${names[player]}</strong></p>
    <p class="summary-accuracy">${whole ? html`<strong>${whole.accuracy[player]?.toFixed(1) ?? "–"}</strong> <span>accuracy</span>` : "accuracy: at the end"}</p>
    <p class="summary-loss">${losses[player] === null ? "no moves yet" : `${losses[player].toFixed(1)} points lost a move`}</p>
  </div>`;
  return html`<div class="summary" role="group" aria-label="Accuracy">
    ${side(0)}
    <div class="summary-middle">
      <table class="counts" aria-label="Errors of each side"><tbody>
        ${ERRORS.map(
          (mark) => html`<tr key=${mark}>
          <td class=${counts[mark][0] ? "some" : ""}>${counts[mark][0]}</td>
          <th scope="row"><b class="glyph-text" data-mark=${mark} aria-hidden="true">${mark}</b><span>${WORDS[mark]}</span></th>
          <td class=${counts[mark][1] ? "some" : ""}>${counts[mark][1]}</td>
        </tr>`,
        )}
      </tbody></table>
    </div>
    ${side(1)}
  </div>
  <p class="summary-note">${NOTE}</p>`;
}

/** `asked` is the ply of the move in question; `hidden` hides the better moves of that ply. */
function Mistakes({ errors, asked, isHidden, onPick }) {
  const { game } = useApp().session;
  const body = useRef(null);
  useEffect(() => {
    const row = body.current?.querySelector("tr.active");
    const box = body.current?.closest(".mistakes-box");
    if (!row || !box) return;
    const [a, b] = [row.getBoundingClientRect(), box.getBoundingClientRect()];
    if (a.bottom > b.bottom) box.scrollTop += a.bottom - b.bottom;
    else if (a.top < b.top + 27) box.scrollTop += a.top - b.top - 27;
  }, [asked]);
  const tabStop = errors.some((error) => error.ply === asked) ? asked : errors[0]?.ply;
  return html`<div class="mistakes-box"><table class="mistakes" aria-label="Mistakes">
    <thead><tr>
      <th scope="col" class="col-ply">move</th><th scope="col" class="col-played">played</th><th scope="col" class="col-loss">loss</th>
      <th scope="col" class="col-scores">score %</th><th scope="col" class="col-better">better</th>
    </tr></thead>
    <tbody ref=${body} onKeyDown=${rowKeys}>
      ${errors.map(
        (
          error,
        ) => html`<tr key=${error.ply} class=${error.ply === asked ? "active" : ""} aria-current=${error.ply === asked ? "true" : null} onClick=${() => onPick(error.ply)}>
        <th scope="row" class="col-ply"><button tabindex=${error.ply === tabStop ? 0 : -1} aria-label="Show move ${error.ply}">${error.ply}</button></th>
        <td class="col-played"><${Stone} player=${error.player} /><span class="hidden">${nameOf(game, error.player)} </span><strong>${error.move}</strong> <b class="glyph-text" data-mark=${error.mark}>${error.mark}</b></td>
        <td class="col-loss">${lossWord(error.loss)}</td>
        <td class="col-scores">${scoreWord(error.value)} <span>to</span> ${scoreWord(error.played)}</td>
        <td class="col-better">${isHidden && error.ply === asked ? html`<span>…</span>` : html`<strong>${error.best}</strong> ${error.line.slice(1).join(" ")}`}</td>
      </tr>`,
      )}
    </tbody>
  </table></div>`;
}

/**
 * Props: review of the move, its ply, `attempt` (the judged try, "pending", or null), isTrying, showsLine, and handlers
 * onLine, onTry, onNext; `hasNext` whether there are errors.
 */
function Card({ review, ply, attempt, isTrying, showsLine, hasNext, onLine, onTry, onNext }) {
  const hasError = isError(review);
  return html`<div class="review-card" role="status">
    <b class="card-glyph glyph-text" data-mark=${review.mark} aria-hidden="true">${review.mark}</b>
    <div>
      <p>${isTrying ? html`<${Trying} ...${{ review, ply, attempt }} />` : html`<${Sentence} ...${{ review, ply }} />`}</p>
      <p class="card-actions">
        ${!isTrying && html`<button class="chip" aria-pressed=${String(showsLine)} onClick=${onLine}>Show the line <kbd>L</kbd></button>`}
        ${hasError && !IS_REVIEW && html`<button class="chip" aria-pressed=${String(isTrying)} onClick=${onTry}>${isTrying ? "Show the answer" : "Try it yourself"} <kbd>T</kbd></button>`}
        ${hasNext && html`<button class="chip quiet" onClick=${onNext}>Next mistake <kbd>E</kbd></button>`}
      </p>
    </div>
  </div>`;
}

function Sentence({ review, ply }) {
  const who = nameOf(useApp().session.game, review.player);
  const played = html`<strong>${review.move}</strong> (move ${ply})`;
  if (review.move === review.best) {
    return html`${played} is the best move${review.mark === "!" ? ", and the only good one" : ""}. ${who} has ${scoreWord(review.value)}${percent(review.value)}.`;
  }
  const then = review.line.slice(1, 5).join(" ");
  if (!isError(review)) {
    const cost = Math.round(50 * review.loss);
    return html`${played} costs ${who} ${cost ? points(cost) : "nothing"}. The engine prefers <strong class="better">${review.best}</strong>.`;
  }
  return html`${played} takes ${who} from ${scoreWord(review.value)} to ${scoreWord(review.played)}. Better is <strong class="better">${review.best}</strong>${then ? `, then ${then}` : ""}.`;
}

const percent = (value) => (Math.abs(value) === 1 ? "" : " %");
const points = (cost) => `${cost} ${cost === 1 ? "point" : "points"}`;

function Trying({ review, ply, attempt }) {
  const who = nameOf(useApp().session.game, review.player);
  if (attempt === "pending") return html`Searching your move …`;
  if (!attempt)
    return html`Find a better move than <strong>${review.move}</strong> (move ${ply}) for ${who}, on the board.`;
  const cost = Math.round(50 * attempt.loss);
  if (attempt.isBest) return html`<strong>${attempt.move}</strong> is the engine's move, too.`;
  if (!attempt.mark)
    return html`<strong>${attempt.move}</strong> is good: ${cost ? `${points(cost)} behind the best move` : "as good as the best move"}.`;
  const isSame = attempt.move === review.move;
  return html`<b class="glyph-text" data-mark=${attempt.mark}>${attempt.mark}</b> <strong>${attempt.move}</strong> ${isSame ? "was played" : "loses"} (${lossWord(attempt.loss)}). Try another move.`;
}

export function Review() {
  const app = useApp();
  const { session } = app;
  const review = useReview(session);
  const [showsLine, setLine] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const [showsControls, setControls] = useState(false);
  const { position, node, tree } = session;
  const asked = review.asked;
  const move = asked >= 0 ? review.moves[asked] : null;
  const trying = useTrying(app, move);
  useEffect(() => setLine(false), [node]);

  const errors = review.isCurrent ? errorsOf(review.moves) : [];
  const show = (at) => at && tree.has(at) && session.goTo(at);
  const pick = (ply) => {
    const at = review.nodes[ply - 1];
    show(at?.parent);
  };
  const step = (direction) => {
    const next = nextError(errors, asked + 1, direction);
    if (next) pick(next.ply);
    return next !== null;
  };
  useReviewKeys({ move, trying, step, setLine, setEditing });
  if (!position) return null;

  const overlay =
    move && session.isSettled
      ? reviewOverlay({
          picture: position.picture,
          review: move,
          showsLine,
          isHidden: trying.isHidden,
          attempt: trying.judged,
        })
      : {};
  const line = review.isCurrent ? review.nodes : tree.lineOf(node);
  const opinions = review.isCurrent
    ? opinionsOf(review.moves, review.whole?.values, line.length)
    : new Array(line.length + 1).fill(null);
  const ply = asked >= 0 ? asked : Math.min(session.ply, line.length);
  const hasBegun = review.isCurrent && (review.numReviewed > 0 || review.isRunning);
  return html`
    <${Stage} overlay=${overlay} isInteractive=${!IS_REVIEW} onAction=${trying.onAction} gauge=${html`<${Gauge} opinion=${opinions[ply]} />`} />
    <${PanelFrame} label="Review" bar=${html`<${Bar} onControls=${() => setControls(!showsControls)} />`}>
      ${(!review.whole || !review.isCurrent || showsControls) && html`<${Controls} />`}
      <${Waiting} />
      ${
        hasBegun &&
        html`<${Summary} />
        <${GameChart}
          opinions=${opinions}
          ply=${ply}
          length=${line.length}
          isOver
          caption=${`move ${ply} of ${line.length}`}
          errors=${errors}
          onPly=${(at) => show(at === 0 ? tree.root : line[at - 1])}
        />
        ${errors.length > 0 && html`<${Mistakes} errors=${errors} asked=${asked + 1} isHidden=${trying.isHidden} onPick=${pick} />`}
        ${review.whole && !errors.length && html`<p class="table-hint">No move lost 5 points or more.</p>`}
        ${
          move &&
          html`<${Card}
          review=${move}
          ply=${asked + 1}
          attempt=${trying.attempt}
          isTrying=${trying.isTrying}
          showsLine=${showsLine}
          hasNext=${errors.length > 0}
          onLine=${() => setLine(!showsLine)}
          onTry=${trying.toggle}
          onNext=${() => step(1)}
        />`
        }
        ${asked < 0 && html`<div class="review-card"><p>This position is not in the reviewed game. <button class="chip" onClick=${() => backToGame(session, review)}>Back to the game</button></p></div>`}`
      }
      <${VariationTree} asked=${move ? review.nodes[asked] : null} />
      ${(isEditing || !hasBegun) && !IS_REVIEW && html`<${NodeEditor} isOpen=${isEditing} onOpen=${setEditing} />`}
    </${PanelFrame}>`;
}

function useReview(session) {
  const review = useChanges(reviewOf(session));
  useEffect(() => review.takeUp(), [session.tree]);
  useEffect(() => review.stop, [review]);
  return review;
}

/** The players' names: those of the record, or the colours. */
function namesInRecord({ tags, game }) {
  return [tags.First ?? game.players[0].name, tags.Second ?? game.players[1].name];
}

function backToGame(session, review) {
  for (let at = session.node; at; at = at.parent) {
    if (at === session.tree.root || review.nodes.includes(at)) return session.goTo(at);
  }
}

/** Try it yourself: {isTrying, isHidden, attempt, judged, toggle, onAction}. */
function useTrying(app, move) {
  const { session } = app;
  const [tried, setTried] = useState(null); // {node, attempt}
  const request = useRef(null);
  const { node } = session;
  const isTrying = tried !== null && tried.node === node && move !== null;
  useEffect(() => () => request.current?.abort(), [node]);
  const onAction = async (action) => {
    if (!isTrying) return session.play(action.move);
    request.current?.abort();
    const controller = new AbortController();
    request.current = controller;
    setTried({ node, attempt: "pending" });
    try {
      const { agent, searched: simulations } = reviewOf(session);
      const { position } = session.position;
      const attempt = await judge({
        game: session.game.id,
        agent,
        simulations,
        position,
        review: move,
        move: action.move,
        signal: controller.signal,
      });
      if (request.current === controller) setTried({ node, attempt });
    } catch (error) {
      if (request.current === controller) setTried({ node, attempt: null });
      app.fail(error);
    }
  };
  const attempt = isTrying ? tried.attempt : null;
  const judged = attempt && attempt !== "pending" ? attempt : null;
  return {
    isTrying,
    isHidden: isTrying && !judged?.isBest,
    attempt,
    judged,
    toggle: () => setTried(isTrying ? null : { node, attempt: null }),
    onAction,
  };
}

function useReviewKeys({ move, trying, step, setLine, setEditing }) {
  const { agent, session } = useApp();
  const review = reviewOf(session);
  useTreeKeys(() => setEditing(true), !IS_REVIEW);
  useKeys({
    space: [
      "start or stop",
      () => (review.isRunning ? review.stop() : review.start(reviewerOf(session, agent))),
      !IS_REVIEW,
    ],
    e: ["next mistake", () => void step(1)],
    "shift+e": ["previous mistake", () => void step(-1)],
    l: ["show the better line", () => (move && !trying.isHidden ? setLine((is) => !is) : false)],
    t: ["try a mistake yourself", () => (move ? trying.toggle() : false), !IS_REVIEW],
  });
}

/** Saves the record with glyphs, losses and better lines; `format` is "azero" or "sgf". */
async function saveRecord(session, review, format) {
  const text = await writeRecord(session, format, annotated(session.tree, review.nodes, review.moves));
  download(text, `review.${format === "sgf" ? "sgf" : "txt"}`);
}

/** Saves the review as in `azero review --json`, without times; of one that was stopped, the moves that have come. */
function saveJson(session, review) {
  const counts = countsOf(review.moves);
  const { values, ...whole } = review.whole ?? {};
  const part = {
    game: session.game.id,
    moves: review.moves,
    mean_loss: meanLosses(review.moves).map((loss) => (loss === null ? null : loss / 50)),
    inaccuracies: counts["?!"],
    mistakes: counts["?"],
    blunders: counts["??"],
  };
  const made = { agent: review.agent, simulations: review.searched, games: [review.whole ? whole : part] };
  download(`${JSON.stringify(made, null, 2)}\n`, "review.json", "application/json");
}

function Controls() {
  const { agent: wanted, session, setAgent } = useApp();
  const review = reviewOf(session);
  const length = session.tree.lineOf(session.node).length;
  const agent = reviewerOf(session, wanted);
  const total = review.nodes.length;
  const items = SIMULATIONS.map((number) => ({
    text: `${formatCount(number)} simulations`,
    detail: "for each position",
    isChosen: number === review.simulations,
    onPick: () => {
      review.simulations = number;
      review.changed();
    },
  }));
  return html`<div class="controls">
    <${StartStop} name="Review" isRunning=${review.isRunning} isOff=${!agent || !length} onToggle=${() => (review.isRunning ? review.stop() : review.start(agent))} />
    <${AgentPicker} chosen=${agent} onPick=${setAgent} />
    <${Picker} label="Simulations" className="quiet" text="${formatCount(review.simulations)} sims" items=${items} />
    <span class="rate">${review.isRunning && html`<progress value=${review.numReviewed} max=${total} aria-label="Plies reviewed"></progress> ${review.numReviewed} of ${total}<span class="wide-only"> plies</span>`}</span>
  </div>`;
}

/** What the review waits for, or why there is none. */
function Waiting() {
  const { agent, session } = useApp();
  const review = reviewOf(session);
  if (review.error) {
    const actions = [["Try again", () => review.start(reviewerOf(session, agent))]];
    return html`<${Message} title="The review has ended" text=${`${review.error.message}. Your game is kept.`} actions=${actions} />`;
  }
  if (review.stage) return html`<${StageCard} stage=${review.stage} />`;
  if (review.isCurrent) return null;
  const isEmpty = !session.tree.root.children.length;
  return html`<p class="table-hint">${
    isEmpty
      ? "There are no moves to review. Play a game, or load a record."
      : html`Start the review, or press <kbd>Space</kbd>. Each move is compared with the best one, both searched with equal simulations.`
  }</p>`;
}

function Bar({ onControls }) {
  const { session, fail } = useApp();
  const review = reviewOf(session);
  const hasMoves = review.isCurrent && review.numReviewed > 0;
  const isWhole = review.isCurrent && review.whole;
  const items = [
    {
      text: "Record with annotations",
      detail: "azero's format",
      onPick: () => saveRecord(session, review, "azero").catch(fail),
    },
    ...(session.game.has_sgf
      ? [
          {
            text: "Record with annotations",
            detail: "SGF",
            onPick: () => saveRecord(session, review, "sgf").catch(fail),
          },
        ]
      : []),
    { text: "JSON", detail: "as azero review --json", onPick: () => saveJson(session, review) },
  ];
  return html`
    <${Navigation} />
    <span class="end bar-tools">
      ${isWhole && html`<button class="quiet review-state" title=${IS_REVIEW ? null : "Review again"} disabled=${IS_REVIEW} onClick=${onControls}><span>${review.numReviewed} of ${review.nodes.length} plies<span class="wide-only">, ${shortName(review.agent)}${!IS_REVIEW && " · Review again"}</span></span></button>`}
      ${hasMoves && html`<${Picker} label="Save" className="quiet" isUp text=${html`<${Icon} name="save" />Save`} items=${items} />`}
    </span>`;
}
