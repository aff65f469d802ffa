// The weakest move of a finished game. A short review looks for it while the result is read.

import { useRender } from "../../emitter.js";
import { html, useEffect, useState } from "../../html.js";
import { rowsOf } from "./Moves.js";

const SIMULATIONS = 100; // of each position: one sentence comes of it, and nothing in the tree
const KNOWN = new WeakMap(); // reviews by the last move of the game

/** The sentence, or how far the review has come. */
export function Weakest({ play, session, app }) {
  const render = useRender();
  const [review, setReview] = useState(null);
  useEffect(() => {
    let end = null; // null before the review has begun
    let isGone = false;
    const begin = async () => {
      const { Review, reviewerOf } = await import("../review/reviewing.js");
      const last = session.tree.lineOf(session.node).at(-1);
      const agent = reviewerOf(session, app.agent);
      if (isGone || !agent || !last) return;
      if (!KNOWN.has(last)) KNOWN.set(last, new Review(session, { simulations: SIMULATIONS, marks: false }));
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
  const found = sentenceOf(review, play);
  if (review.whole) return html` <span role="status">${found}</span>`;
  return html` ${found}<span class="detail"> Looking for the weakest move: ${review.numReviewed} of ${review.nodes.length} …</span>`;
}

/** "Your weakest move was 5 f5: it gave away 11 points." Of two people, the weakest move of both; so far, while the review runs. */
function sentenceOf({ moves, nodes, whole }, play) {
  const { human } = play;
  const own = moves.filter((move) => !move.is_random && (human === null || move.player === human));
  const worst = own.reduce((most, move) => (move.loss > (most?.loss ?? 0) ? move : most), null);
  const points = Math.round(50 * (worst?.loss ?? 0));
  if (points < 1) {
    if (!whole || !own.length) return "";
    return human === null ? "No move gave anything away." : "None of your moves gave anything away.";
  }
  const { number } = rowsOf(nodes).find(({ cells }) => cells.flat().includes(nodes[worst.ply]));
  const which = `weakest move${whole ? "" : " so far"} was ${number} ${worst.move}`;
  const whose = human === null ? `The ${which} of ${play.nameOfSide(worst.player)}` : `Your ${which}`;
  return `${whose}: it gave away ${points} ${points === 1 ? "point" : "points"}.`;
}
