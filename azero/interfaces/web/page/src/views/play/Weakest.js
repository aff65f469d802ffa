// The weakest move of a finished game. A review looks for it while the result is read.

import { useRender } from "../../emitter.js";
import { html, useEffect, useState } from "../../html.js";
import { rowsOf } from "./Moves.js";

/** The sentence, or how far the review has come. It is the review that the view Review shows whole. */
export function Weakest({ play, session, app }) {
  const render = useRender();
  const [review, setReview] = useState(null);
  useEffect(() => {
    let unsubscribe = null;
    let isGone = false;
    begin(session, app).then((found) => {
      if (isGone || !found) return;
      const end = found.subscribe(render);
      unsubscribe = () => {
        end();
        if (app.view !== "review") found.stop();
      };
      setReview(found);
    }, app.fail);
    return () => {
      isGone = true;
      unsubscribe?.();
    };
  }, [session.tree]);
  if (!review?.isCurrent || review.error) return null;
  if (review.whole) return html` <span role="status">${sentenceOf(review, play, session)}</span>`;
  return html` <span class="detail">Looking for the weakest move: ${review.numReviewed} of ${review.nodes.length} …</span>`;
}

/** Returns the review of the game, which goes on unless it is done; null if no agent can judge it. */
async function begin(session, app) {
  const { reviewOf, reviewerOf } = await import("../review/review.js");
  const review = reviewOf(session);
  const agent = reviewerOf(session, app.agent);
  const isKnown = review.isCurrent && review.nodes.at(-1) === session.tree.lineOf(session.node).at(-1);
  if (agent && !(isKnown && (review.whole || review.isRunning))) review.start(agent);
  return agent && review;
}

/** "Your weakest move was 5 f5: it gave away 11 points." Of two people, the weakest move of both. */
function sentenceOf(review, play, session) {
  const { human } = play;
  const own = review.moves.filter((move) => !move.is_random && (human === null || move.player === human));
  const worst = own.reduce((most, move) => (move.loss > (most?.loss ?? 0) ? move : most), null);
  const points = Math.round(50 * (worst?.loss ?? 0));
  if (!own.length) return "";
  if (points < 1) return human === null ? "No move gave anything away." : "None of your moves gave anything away.";
  const node = review.nodes[worst.ply];
  const { number } = rowsOf(review.nodes).find(({ cells }) => cells.flat().includes(node));
  const whose = human === null ? `The weakest move was ${number} ${worst.move} of ${play.nameOfSide(worst.player)}` : `Your weakest move was ${number} ${worst.move}`;
  return `${whose}: it gave away ${points} ${points === 1 ? "point" : "points"}.`;
}
