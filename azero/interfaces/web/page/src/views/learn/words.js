// A simulation in plain words, and as marks on the board.

const MOST_MARKS = 40;

/** Returns {position, overlay} for the stage: at a step, or of the node that is looked at. */
export function boardOf(lesson) {
  const { current, step, inspected, session } = lesson;
  if (!step) return { position: null, overlay: {} };
  const moves = inspected ?? movesShown(lesson);
  const isRoot = moves.length === 0;
  const position = isRoot ? session.position : (lesson.position(moves) ?? lesson.lastShown ?? session.position);
  lesson.lastShown = position;
  const isRight = isRoot || position === lesson.position(moves);
  const overlay = isRight && !inspected ? { marks: marksOf(lesson, current, step, position), hidesTargets: true } : {};
  return { position, overlay };
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
export function meaningOf({ current, step, method, names }) {
  if (step.phase === "select") return `Q + U for ${names[step.selection.to_move]}`;
  if (step.phase === "expand" && method === "puct" && current.expansion) return "prior P";
  return step.phase === "backup" ? "visits N" : "";
}

function marksOf(lesson, current, step, position) {
  const cells = new Map(position.picture.actions.map((action) => [action.move, action.cells]));
  const mark = (move, text, share, isBest) => ({
    cells: cells.get(move) ?? [],
    text,
    share,
    kind: isBest ? "best" : "other",
  });
  if (step.phase === "select") {
    const { children, chosen, N } = step.selection;
    return best(
      children
        .map((child, k) => ({ ...child, isBest: k === chosen, order: child.score ?? (k === chosen ? 9 : -9) }))
        .filter(({ score, isBest }) => score !== null || isBest || children.length <= 9),
    ).map((child) =>
      mark(child.move, child.score === null ? "∞" : short(child.score), child.N / Math.max(1, N), child.isBest),
    );
  }
  if (step.phase === "expand" && lesson.method === "puct" && current.expansion) {
    const { children } = current.expansion;
    const most = Math.max(...children.map(({ P }) => P));
    return best(children.map((child) => ({ ...child, order: child.P }))).map(({ move, P }) =>
      mark(move, short(P), P, P === most),
    );
  }
  if (step.phase === "backup") return rootMarks(lesson, mark);
  return [];
}

/** The visits of the root's moves after this simulation. */
function rootMarks({ simulations, at }, mark) {
  const visits = new Map();
  for (const { path } of simulations.slice(0, at + 1))
    if (path.length) visits.set(path[0], (visits.get(path[0]) ?? 0) + 1);
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

/** "+0.25", "−1.00", "0.00" of a value in [-1, 1]. */
export function signed(value, digits = 2) {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return (value > 0 ? "+" : "−") + text;
}

export const plain = (number, digits = 2) => number.toFixed(digits).replace("-", "−");

const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

const resultText = (value, names) => (value === 0 ? "a draw" : `${names[value > 0 ? 0 : 1]} wins`);

const PHASES = { select: "Select", expand: "Expand", evaluate: "Evaluate", backup: "Back up" };

const SELECT =
  "Select: go down from the root, each time to the move with the greatest sum of what is known to be good (Q) and what is little known (U).";

/** What each phase is, whatever happens in it. */
export const DEFINITIONS = {
  uct: {
    select: SELECT,
    expand: "Expand: one new position joins the tree.",
    evaluate: "Roll out: random moves to the end of the game say how good the new position may be.",
    backup: "Back up: the result goes back to the root, and every position on the way learns from it.",
  },
  puct: {
    select: SELECT,
    expand: "Expand: the position at the end of the path joins the tree, and its moves get priors from the net.",
    evaluate: "Evaluate: the net says how good the position is. No game is played out.",
    backup: "Back up: the value goes back to the root, and every position on the way learns from it.",
  },
};

/** The title of a phase: with rollouts, the evaluation is one. */
export const titleOf = (phase, method) => (phase === "evaluate" && method === "uct" ? "Roll out" : PHASES[phase]);

/** Returns why a selection took its move, in a sentence. */
export function whyChosen({ step: { selection }, names, method }) {
  const { children, chosen, reason, num_equal: numEqual } = selection;
  const { move } = children[chosen];
  const who = names[selection.to_move];
  if (reason === "only") return `${move} is the only move.`;
  if (reason === "unvisited") {
    const left = numEqual === 1 ? "One move has no visit yet" : `${numEqual} moves have no visit yet`;
    return `${left}. Unvisited moves go first, in random order: ${who} tries ${move}.`;
  }
  if (reason === "equal")
    return `${numEqual} moves share the greatest sum; the first of them in the tree is taken: ${move}.`;
  const isNew = method === "puct" && children[chosen].N === 0;
  return `${who} takes the move with the greatest sum: ${move}${isNew ? ", for the first time" : ""}.`;
}

/** Returns the sentence about the expansion of a simulation. */
export function expansionText({ current, names, method }) {
  const { expansion, evaluation, path } = current;
  if (evaluation.kind === "over") return "The game is over here. There is nothing to expand.";
  if (evaluation.kind === "proven") return "The result here is proven already. There is nothing to expand.";
  if (!expansion) return `${path.at(-1)} had no visit before: its position joins the tree.`;
  const moves = count(expansion.children.length, "move");
  if (method === "puct") {
    return `The position gets children: ${moves} for ${names[expansion.to_move]}. The net gives each a prior P, the probability that it would play it.`;
  }
  const drawn = path.at(-1);
  const where = expansion.depth ? "This position was visited once. Now it gets children" : "The root gets children";
  return `${where}: ${moves} for ${names[expansion.to_move]}. One of them is drawn at random: ${drawn}.`;
}

/** Returns the sentence about the evaluation of the leaf. */
export function evaluationText({ current, names }) {
  const { kind, value, to_move: toMove, rollout } = current.evaluation;
  const forFirst = `${signed(value)} for ${names[0]}`;
  if (kind === "over") return `The game is over: ${resultText(value, names)}. That is ${forFirst}, and exact.`;
  if (kind === "proven")
    return `Proven: with best play it is ${resultText(value, names).replace("wins", "who wins")}. That is ${forFirst}, and exact.`;
  if (kind === "net") {
    const mover = toMove === 1 ? -value : value;
    return `No game is played out. The net looks at the position and expects ${signed(mover)} for ${names[toMove]}, who is to move${toMove === 1 ? `: ${forFirst}` : ""}. +1 is a sure win, −1 a sure loss.`;
  }
  const how =
    rollout === null
      ? "This game's rollout fills the board at random, without an order of moves"
      : `From here both players move at random, until the game is over after ${count(rollout.length, "move")}`;
  return `${how}: ${resultText(value, names)}. That is ${forFirst}.`;
}

/** Returns the sentences about the backup of a value. */
export function backupText({ current, names }) {
  const { backup, evaluation } = current;
  const { value } = evaluation;
  const both =
    value === 0
      ? "A draw is 0 for both players."
      : `What is ${signed(value)} for ${names[0]} is ${signed(-value)} for ${names[1]}, so the sign turns where the player changes.`;
  const news = backup.findIndex(({ proven }, depth) => proven[1] && !proven[0] && depth < backup.length - 1);
  const proof =
    news < 0
      ? ""
      : ` Now ${news ? "a position on the path" : "the root"} is proven: ${resultText(backup[news].proven[1].result, names)}.`;
  return `Each position on the path gets one more visit, and the value is added to its sum. ${both}${proof}`;
}

/** What a screen reader hears of a step. */
export function stepText(lesson) {
  const { current, step, method } = lesson;
  if (!step) return "";
  const title = `Simulation ${current.number}, ${titleOf(step.phase, method)}. `;
  if (step.phase === "select") return title + whyChosen(lesson);
  if (step.phase === "expand") return title + expansionText(lesson);
  if (step.phase === "evaluate") return title + evaluationText(lesson);
  return title + backupText(lesson);
}
