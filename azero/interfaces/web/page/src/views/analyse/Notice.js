// Where the table will be: what the search waits for, or why there is none.

import { defaultAgent } from "../../game/session.js";
import { html } from "../../html.js";
import { Message, StageCard } from "../../panel/StageLine.js";
import { showReview } from "../review/reviewing.js";
import { shortName } from "./controls.js";

export function Notice({ session, app, analyst, hasRows }) {
  const { position } = session;
  const failed = analyst.slots.find((slot) => slot.error);
  const waiting = analyst.slots.find((slot) => slot.stage);
  if (position.result && session.isSettled) {
    return html`<${Message} kind="info" title=${position.result.text} text="The game is over. Go back to analyse a position before the end." actions=${[["Review this game", () => showReview(session, app)]]} />`;
  }
  if (failed) return html`<${Failed} ...${{ session, app, analyst, failed }} />`;
  if (hasRows) return null;
  if (waiting) return html`<${StageCard} stage=${waiting.stage} />`;
  if (analyst.isRunning) return html`<p class="table-hint">Searching …</p>`;
  return html`<p class="table-hint">Press Analyse, or <kbd>Space</kbd>. The analysis follows the position while you play and walk through moves.</p>`;
}

function Failed({ session, app, analyst, failed }) {
  const text = `${capital(failed.error.message)}. Your moves are kept.`;
  const again = ["Try again", () => analyst.again()];
  if (failed.error.code === "busy") return html`<${Message} title="The server is busy" text=${text} actions=${[again]} />`;
  const isSecond = failed === analyst.slots[1];
  const agent = isSecond ? analyst.second : analyst.first;
  const fallback = defaultAgent(session.judges.filter((each) => each.id !== agent));
  const use = () => (isSecond ? analyst.set({ second: fallback }) : app.setAgent(fallback));
  const actions = fallback ? [again, [`Use ${shortName(fallback)}`, use]] : [again];
  return html`<${Message} title=${`${shortName(agent)} does not analyse this position`} text=${text} actions=${actions} />`;
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, "");
