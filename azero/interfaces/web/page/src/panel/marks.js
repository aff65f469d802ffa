// Marks of candidate moves on the board. Pure.

import { scoreOf } from "../score.js";
import { priorText } from "./candidates.js";
import { cellsOf, movesPieces } from "./lines.js";

/** How many moves are marked, in the order of the key V. */
export const MARKS = [
  ["none", "none"],
  ["best", "best"],
  ["top", "top 6"],
  ["all", "all over 1 %"],
];

/** What a mark says. */
export const NUMBERS = [
  ["score", "score"],
  ["value", "value, −1 to 1"],
  ["prior", "prior in percent"],
];

export const nextMarks = (mode) => MARKS[(MARKS.findIndex(([name]) => name === mode) + 1) % MARKS.length][0];

/** The rows that a mode marks, most visited first. */
function markedRows(rows, mode) {
  if (mode === "none") return [];
  const sorted = [...rows].sort((a, b) => Number(b.isBest) - Number(a.isBest) || b.visits - a.visits);
  if (mode === "best") return sorted.slice(0, 1);
  if (mode === "top") return sorted.filter((row) => row.visits > 0 || row.isBest).slice(0, 6);
  return sorted.filter((row) => row.share > 0.01 || row.isBest);
}

/** What stands in a mark. */
function markText(row, shows) {
  if (shows === "prior") return priorText(row.prior);
  if (row.proof) return row.proof.split(" ")[0];
  if (row.value === null) return "";
  if (shows === "value") return row.value.toFixed(2).replace("-", "−").replace("0.", ".");
  return scoreOf(row.value).toFixed(0);
}

/**
 * Returns {marks, arrows} of an agent's rows, for the board. `second` are the rows of the second agent, of which only
 * the best move is marked.
 */
export function overlayOfRows(picture, rows, { mode, shows }, second = []) {
  const marks = [];
  const arrows = [];
  const used = new Set();
  const add = (row, kind) => {
    const cells = cellsOf(picture, row);
    if (!cells.length) return;
    const [from, to] = movesPieces(picture) ? [cells[0], cells[1] ?? cells[0]] : [null, cells.at(-1)];
    if (from !== null && from !== to) arrows.push({ from, to, width: 0.05 + 0.13 * Math.sqrt(row.share), kind });
    if (used.has(to)) return;
    used.add(to);
    marks.push({ cells: [to], text: markText(row, shows), share: row.share, kind });
  };
  const shown = markedRows(rows, mode);
  const other = mode === "none" ? null : second.find((row) => row.isBest);
  shown.slice(0, 1).forEach((row) => add(row, "best"));
  if (other && other.move !== shown[0]?.move) add(other, "second");
  shown.slice(1).forEach((row) => add(row, "other"));
  return { marks, arrows: arrows.reverse() };
}

/** Ownership of the cells for the first player, as the board takes it; null if the agent gives none. */
export function ownersOf(update, picture) {
  const owners = update?.ownership?.flat();
  if (!owners || owners.length !== picture.cells.length) return null;
  return update.to_move === 1 ? owners.map((each) => -each) : owners;
}

/** Shades of cells in [0, 1], by the share of visits or by the prior of moves that end there. */
export function heatOf(picture, rows, kind) {
  const heat = new Array(picture.cells.length).fill(0);
  for (const row of rows) {
    const cells = cellsOf(picture, row);
    const cell = movesPieces(picture) ? (cells[1] ?? cells[0]) : cells.at(-1);
    if (cell !== undefined) heat[cell] += kind === "prior" ? row.prior : row.share;
  }
  const most = Math.max(...heat);
  return most > 0 ? heat.map((each) => each / most) : heat;
}
