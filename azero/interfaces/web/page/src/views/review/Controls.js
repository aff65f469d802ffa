// Starting and stopping a review, what it waits for, and the bar at the panel's foot.

import { html, useApp } from "../../html.js";
import { Message, StageCard } from "../../panel/messages.js";
import { Navigation } from "../../panel/variations.js";
import { formatCount } from "../../score.js";
import { Icon } from "../../shell/icons.js";
import { download, writeRecord } from "../../shell/RecordDialog.js";
import { AgentPicker, Picker, StartStop, shortName } from "../analyse/controls.js";
import { annotated, countsOf, meanLosses } from "./report.js";
import { reviewerOf, reviewOf, SIMULATIONS } from "./reviewing.js";

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

export function Controls() {
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
export function Waiting() {
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

export function Bar({ onControls }) {
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
      ${isWhole && html`<button class="quiet review-state" title="Review again" onClick=${onControls}><span>${review.numReviewed} of ${review.nodes.length} plies<span class="wide-only">, ${shortName(review.agent)} · Review again</span></span></button>`}
      ${hasMoves && html`<${Picker} label="Save" className="quiet" isUp text=${html`<${Icon} name="save" />Save`} items=${items} />`}
    </span>`;
}
