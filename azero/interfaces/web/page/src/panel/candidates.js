// The rows of the table of candidate moves, from an update of an analysis. Pure.

import { proofOf, scoreOf } from "../score.js";

const PROVEN = { win: 1, draw: 0, loss: -1 };

/** The value of a move for the player to move, exact if it is proven; null if nothing is known. */
function valueOf(move) {
  if (move.proven) return PROVEN[move.proven];
  return move.visits > 0 || move.is_bound ? move.value : null;
}

/**
 * Returns the rows of an update: {move, visits, share, bar, value, proof, isBound, loss, prior, pv, isBest}.
 *
 * `share` is the part of all visits, `bar` that of the most visited move's, `loss` the points lost against the best move, null where nothing or only a bound is known.
 */
export function rowsOf(update) {
  if (!update) return [];
  const total = update.moves.reduce((sum, move) => sum + move.visits, 0);
  const most = Math.max(1, ...update.moves.map((move) => move.visits));
  const best = update.moves.find((move) => move.move === update.best) ?? update.moves[0];
  const bestValue = best ? valueOf(best) : null;
  return update.moves.map((move) => {
    const value = valueOf(move);
    const isBound = move.is_bound && !move.proven;
    const isKnown = value !== null && bestValue !== null && move !== best && !isBound;
    return {
      move: move.move,
      visits: move.visits,
      share: total ? move.visits / total : 0,
      bar: move.visits / most,
      value,
      proof: proofOf(move),
      isBound,
      loss: isKnown ? Math.max(0, scoreOf(bestValue) - scoreOf(value)) : null,
      prior: move.prior,
      pv: move.pv,
      isBest: move === best,
    };
  });
}

/** Joins the rows of two agents by move: [{move, first, second}]; either may be null. */
export function joined(first, second) {
  const others = new Map(second.map((row) => [row.move, row]));
  const both = first.map((row) => ({ move: row.move, first: row, second: others.get(row.move) ?? null }));
  const known = new Set(first.map((row) => row.move));
  return [...both, ...second.filter((row) => !known.has(row.move)).map((row) => ({ move: row.move, first: null, second: row }))];
}

const down = (read) => (a, b) => (read(b) ?? -Infinity) - (read(a) ?? -Infinity);
const up = (read) => (a, b) => (read(a) ?? Infinity) - (read(b) ?? Infinity);
const byName = new Intl.Collator("en", { numeric: true });

/** Orders of the columns; rows are {move, first, second}. Best moves come first. */
const SORTS = {
  move: (a, b) => byName.compare(a.move, b.move),
  visits: down((row) => row.first?.visits),
  score: down((row) => row.first?.value),
  loss: up((row) => (row.first?.isBest ? 0 : row.first?.loss)),
  prior: down((row) => row.first?.prior),
  visits2: down((row) => row.second?.visits),
  score2: down((row) => row.second?.value),
};

/** The moves in the order of a column. Equal rows keep the order of the search; its best move stays first by visits. */
export const orderOf = (rows, column) => [...rows].sort(SORTS[column] ?? SORTS.visits).map((row) => row.move);

/** "46.3", "≤ 46.3", "win 5"; "–" where nothing is known. */
export function scoreText(row, digits = 1) {
  if (!row) return "–";
  if (row.proof) return row.proof;
  if (row.value === null) return "–";
  return `${row.isBound ? "≤ " : ""}${scoreOf(row.value).toFixed(digits)}`;
}

/** "−2.2"; "–" for the best move, "" where nothing is known. */
export function lossText(row, digits = 1) {
  if (!row || row.isBest) return "–";
  if (row.loss === null) return "";
  const text = row.loss.toFixed(digits);
  return Number(text) === 0 ? text : `−${text}`;
}

/** The prior in percent: "31", "0.4" where it is below 1. */
export function priorText(prior) {
  const percent = 100 * prior;
  return percent > 0 && percent < 0.95 ? percent.toFixed(1) : percent.toFixed(0);
}
