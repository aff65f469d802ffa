// What the board shows at each step: the position, and marks on the moves.

import { plain } from "./words.js";

const MOST_MARKS = 40;

/** Returns {session, overlay} for the stage: at a step, or of the node that is looked at. */
export function boardOf(lesson, session, inspected) {
  const { current, step } = lesson;
  if (!step) return { session, overlay: {} };
  const moves = inspected ?? movesShown(lesson);
  const isRoot = moves.length === 0;
  const position = isRoot ? session.position : (lesson.position(moves) ?? lesson.lastShown ?? session.position);
  lesson.lastShown = position;
  const isRight = isRoot || position === lesson.position(moves);
  const overlay = isRight && !inspected ? { marks: marksOf(lesson, current, step, position), hidesTargets: true } : {};
  return { session: { ...session, position, game: session.game, isSettled: false, play: () => {} }, overlay };
}

/** The moves from the root to the position that a step is about. */
function movesShown({ current, step, method, rolloutPly }) {
  const { path, evaluation, expansion } = current;
  if (step.phase === "select") return path.slice(0, step.depth);
  if (step.phase === "expand") return method === "puct" && expansion ? path.slice(0, expansion.depth) : path;
  if (step.phase === "backup") return [];
  const rollout = evaluation.rollout ?? [];
  return [...path, ...rollout.slice(0, rolloutPly ?? rollout.length)];
}

/** What the numbers on the board are; an empty text if there are none. */
export function meaningOf({ current, step, method }, names) {
  if (step.phase === "select") return `Q + U for ${names[step.selection.to_move]}`;
  if (step.phase === "expand" && method === "puct" && current.expansion) return "prior P";
  return step.phase === "backup" ? "visits N" : "";
}

function marksOf(lesson, current, step, position) {
  const cells = new Map(position.picture.actions.map((action) => [action.move, action.cells]));
  const mark = (move, text, share, isBest) => ({ cells: cells.get(move) ?? [], text, share, kind: isBest ? "best" : "other" });
  if (step.phase === "select") {
    const { children, chosen, N } = step.selection;
    return best(children.map((child, k) => ({ ...child, isBest: k === chosen, order: child.score ?? (k === chosen ? 9 : -9) })).filter(({ score, isBest }) => score !== null || isBest || children.length <= 9))
      .map((child) => mark(child.move, child.score === null ? "∞" : short(child.score), child.N / Math.max(1, N), child.isBest));
  }
  if (step.phase === "expand" && lesson.method === "puct" && current.expansion) {
    const { children } = current.expansion;
    const most = Math.max(...children.map(({ P }) => P));
    return best(children.map((child) => ({ ...child, order: child.P })))
      .map(({ move, P }) => mark(move, short(P), P, P === most));
  }
  if (step.phase === "backup") return rootMarks(lesson, mark);
  return [];
}

/** The visits of the root's moves after this simulation. */
function rootMarks({ simulations, at }, mark) {
  const visits = new Map();
  for (const { path } of simulations.slice(0, at + 1)) if (path.length) visits.set(path[0], (visits.get(path[0]) ?? 0) + 1);
  const all = [...visits].map(([move, N]) => ({ move, N, order: N }));
  const total = all.reduce((sum, { N }) => sum + N, 0);
  const most = Math.max(0, ...all.map(({ N }) => N));
  return best(all).map(({ move, N }) => mark(move, String(N), N / total, N === most));
}

const best = (children) => [...children].sort((a, b) => b.order - a.order).slice(0, MOST_MARKS);

/** A score or a prior in at most four characters. */
function short(score) {
  const text = plain(score).replace(/^(−?)0\./, "$1.");
  return text.length > 4 ? plain(score, 1) : text;
}
