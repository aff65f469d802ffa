// What a search waits for, or why it does not run: what happened, what is safe, what to do.

import { html } from "../html.js";

const TITLES = { queued: "In the queue", loading: "Loading the agent", compiling: "Compiling the game" };

/** Said of a game that is compiled. */
export const ONCE =
  "A game is compiled when it is first used. This takes about a minute, or longer if the machine is busy.";

/** How much of a stage is done, from 0 to 1; null if nobody knows. */
export function doneOf({ share, elapsed_s: elapsed, expected_s: expected }) {
  return share ?? (expected ? Math.min(0.97, elapsed / expected) : null);
}

/** "1 s of about 8 s" */
function timeText({ elapsed_s: elapsed, expected_s: expected }) {
  const seconds = (number) => `${number < 9.95 ? number.toFixed(1) : Math.round(number)} s`;
  if (!expected) return elapsed >= 0.5 ? seconds(elapsed) : "";
  return elapsed < expected
    ? `${seconds(elapsed)} of about ${seconds(expected)}`
    : `${seconds(elapsed)}; longer than usual (about ${seconds(expected)})`;
}

export function StageCard({ stage, hasBoard = true }) {
  const done = doneOf(stage);
  return html`<div class="message" role="status">
    <span class="spinner" aria-hidden="true"></span>
    <div>
      <strong>${TITLES[stage.stage] ?? stage.text}</strong>
      <p>${stage.text}${stage.text && !/[.…]$/.test(stage.text) ? "." : ""} ${stage.stage === "compiling" && `${ONCE} `}${hasBoard && "The board and its moves work meanwhile."}</p>
      <p class="stage-time">
        ${done !== null && html`<progress value=${done} max="1" aria-label=${stage.text}></progress>`}
        <span>${timeText(stage)}</span>
      </p>
    </div>
  </div>`;
}

/** A message with what to do: `actions` are [text, handler]. */
export const Message = ({
  title,
  text,
  actions = [],
  kind = "warning",
}) => html`<div class="message message-${kind}" role=${kind === "warning" ? "alert" : "status"}>
  <svg class="icon message-icon" viewBox="0 0 20 20" aria-hidden="true">
    <path d=${kind === "warning" ? "M10 3.5l7.5 13h-15zM10 8.5v3.5M10 14.2v.1" : "M10 3a7 7 0 1 0 0 14a7 7 0 0 0 0-14zM10 9v5M10 6.3v.1"} />
  </svg>
  <div>
    <strong>${title}</strong>
    ${text && html`<p>${text}</p>`}
    ${actions.length > 0 && html`<p class="message-actions">${actions.map(([name, act]) => html`<button onClick=${act}>${name}</button>`)}</p>`}
  </div>
</div>`;
