// Review: a whole game, what each move lost, and what was better.

import { useChanges } from "../../emitter.js";
import { html, useEffect, useRef, useState } from "../../html.js";
import { useKeys } from "../../keys.js";
import { Chart } from "../../panel/Chart.js";
import { Gauge } from "../../panel/Gauge.js";
import { NodeEditor } from "../../panel/NodeEditor.js";
import { VariationTree } from "../../panel/VariationTree.js";
import { useTreeKeys } from "../../panel/navigation.js";
import { PanelFrame, Stage } from "../../shell/layout.js";
import { Bar, Controls, Waiting } from "./Controls.js";
import { Card } from "./Card.js";
import { Mistakes } from "./Mistakes.js";
import { Summary } from "./Summary.js";
import { reviewOverlay } from "./overlay.js";
import { errorsOf, nextError, opinionsOf } from "./report.js";
import { reviewOf, reviewerOf } from "./reviewing.js";
import { judge } from "./trying.js";

export function Review({ session, app }) {
  const review = useReview(session);
  const [showsLine, setLine] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const [showsControls, setControls] = useState(false);
  const { game, position, node, tree } = session;
  const asked = review.asked;
  const move = asked >= 0 ? review.moves[asked] : null;
  const trying = useTrying({ session, app, review, move });
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
  useReviewKeys({ session, app, review, move, trying, step, setLine, setEditing });
  if (!position) return null;

  const overlay = move && session.isSettled
    ? reviewOverlay({ picture: position.picture, review: move, showsLine, isHidden: trying.isHidden, attempt: trying.judged })
    : {};
  const line = review.isCurrent ? review.nodes : tree.lineOf(node);
  const opinions = review.isCurrent ? opinionsOf(review.moves, review.whole?.values, line.length) : new Array(line.length + 1).fill(null);
  const ply = asked >= 0 ? asked : Math.min(session.ply, line.length);
  const hasBegun = review.isCurrent && (review.numReviewed > 0 || review.isRunning);
  return html`
    <${Stage} session=${session} app=${app} overlay=${overlay} onAction=${trying.onAction} gauge=${html`<${Gauge} players=${game.players} opinion=${opinions[ply]} />`} />
    <${PanelFrame} label="Review" bar=${html`<${Bar} ...${{ session, app, review, onControls: () => setControls(!showsControls) }} />`}>
      ${(!review.whole || !review.isCurrent || showsControls) && html`<${Controls} session=${session} app=${app} review=${review} />`}
      <${Waiting} session=${session} app=${app} review=${review} />
      ${hasBegun && html`<${Summary} players=${game.players} names=${namesOf(session)} moves=${review.moves} whole=${review.whole} />
        <${Chart}
          players=${game.players}
          opinions=${opinions}
          ply=${ply}
          length=${line.length}
          maxPlies=${game.max_plies}
          isOver
          caption=${`move ${ply} of ${line.length}`}
          errors=${errors}
          onPly=${(at) => show(at === 0 ? tree.root : line[at - 1])}
        />
        ${errors.length > 0 && html`<${Mistakes} players=${game.players} errors=${errors} asked=${asked + 1} isHidden=${trying.isHidden} onPick=${pick} />`}
        ${review.whole && !errors.length && html`<p class="table-hint">No move lost 5 points or more.</p>`}
        ${move && html`<${Card}
          review=${move}
          ply=${asked + 1}
          players=${game.players}
          attempt=${trying.attempt}
          isTrying=${trying.isTrying}
          showsLine=${showsLine}
          hasNext=${errors.length > 0}
          onLine=${() => setLine(!showsLine)}
          onTry=${trying.toggle}
          onNext=${() => step(1)}
        />`}
        ${asked < 0 && html`<div class="review-card"><p>This position is not in the reviewed game. <button class="chip" onClick=${() => backToGame(session, review)}>Back to the game</button></p></div>`}`}
      <${VariationTree} session=${session} asked=${move ? review.nodes[asked] : null} />
      ${(isEditing || !hasBegun) && html`<${NodeEditor} session=${session} app=${app} isOpen=${isEditing} onOpen=${setEditing} />`}
    </${PanelFrame}>`;
}

function useReview(session) {
  const review = useChanges(reviewOf(session));
  useEffect(() => review.takeUp(), [session.tree]);
  useEffect(() => review.stop, [review]);
  return review;
}

/** The players' names: those of the record, or the colours. */
function namesOf({ tags, game }) {
  return [tags.First ?? game.players[0].name, tags.Second ?? game.players[1].name];
}

function backToGame(session, review) {
  for (let at = session.node; at; at = at.parent) {
    if (at === session.tree.root || review.nodes.includes(at)) return session.goTo(at);
  }
}

/** Try it yourself: {isTrying, isHidden, attempt, judged, toggle, onAction}. */
function useTrying({ session, app, review, move }) {
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
      const { agent, searched: simulations } = review;
      const { position } = session.position;
      const attempt = await judge({ game: session.game.id, agent, simulations, position, review: move, move: action.move, signal: controller.signal });
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

function useReviewKeys({ session, app, review, move, trying, step, setLine, setEditing }) {
  useTreeKeys(session, app, { onComment: () => setEditing(true) });
  useKeys({
    space: ["start or stop", () => (review.isRunning ? review.stop() : review.start(reviewerOf(session, app.agent)))],
    e: ["next mistake", () => void step(1)],
    "shift+e": ["previous mistake", () => void step(-1)],
    l: ["show the better line", () => (move && !trying.isHidden ? setLine((is) => !is) : false)],
    t: ["try a mistake yourself", () => (move ? trying.toggle() : false)],
  });
}
