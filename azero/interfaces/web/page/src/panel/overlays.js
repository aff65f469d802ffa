// What an analysis adds to the board: marks of moves, lines of play. Pure.

import { priorText, scoreOf } from "../score.js";

const isTurns = (picture) => picture.steps.length > 1 && picture.actions.every(({ cells }) => cells.length < 2);

const SEPARATORS = ["", ",", " "]; // of the actions of a turn, as the server writes it

/** The actions of a candidate move, as texts: a whole turn is those with which its line begins. */
export function actionsOf({ move, pv }) {
  for (let count = 2; count <= pv.length; count++) {
    const actions = pv.slice(0, count);
    if (SEPARATORS.some((separator) => actions.join(separator) === move)) return actions;
  }
  return [move];
}

/** The cells of one action of a line, null if its text does not tell them. `taken` are cells that the line has filled. */
function cellsOfAction(picture, text, taken) {
  const known = picture.actions.find(({ move }) => move === text);
  if (known && !picture.drops) return known.cells;
  if (picture.drops) return known ? dropped(picture, known, taken) : null;
  const byName = new Map(picture.cells.map((cell, index) => [cell.name, index]));
  if (byName.has(text)) return [byName.get(text)];
  const names = [...text.matchAll(/[a-z]\d+/g)].map(([name]) => byName.get(name));
  return names.length && names.every((cell) => cell !== undefined) ? names : null;
}

function dropped(picture, action, taken) {
  const column = picture.drops.find((cells) => cells.includes(action.cells[0]));
  const full = new Set([...picture.pieces.map((piece) => piece.cell), ...taken]);
  const hole = column.find((cell) => !full.has(cell));
  return hole === undefined ? null : [hole];
}

/** The cells of a candidate move: of its action, or of the actions of its turn, what the turn has begun included. */
export function cellsOf(picture, row) {
  const actions = actionsOf(row);
  const cells = actions.flatMap((text) => cellsOfAction(picture, text, []) ?? []);
  return isTurns(picture) ? [...picture.begun, ...cells] : cells;
}

/** Whether moves go from cell to cell, so that arrows show them. */
export const movesPieces = (picture) => picture.steps.length > 1;

/**
 * Returns the overlay of a line: {line: [{cells, number, player}]}, or {arrows: [{from, to, width, kind}], line: []}
 * where pieces move. It ends at the first move whose cells are unknown, and a cell has one number.
 */
export function overlayOfLine(picture, toMove, pv, most = 10) {
  const steps = turnsOf(picture, toMove, pv).slice(0, most);
  if (movesPieces(picture)) {
    const arrows = steps
      .filter(({ cells }) => cells.length > 1)
      .slice(0, 5)
      .map(({ cells }, k) => ({ from: cells[0], to: cells[1], width: k ? 0.08 : 0.14, kind: k ? "other" : "best" }));
    return { arrows, line: numbered(steps.slice(0, 5), ({ cells }) => cells[1] ?? cells[0]) };
  }
  return { line: numbered(steps, ({ cells }) => cells.at(-1)) };
}

function numbered(steps, cellOf) {
  const used = new Set();
  return steps.flatMap(({ cells, player }, k) => {
    const cell = cells.length ? cellOf({ cells }) : undefined;
    if (cell === undefined || used.has(cell)) return [];
    used.add(cell);
    return [{ cells: [cell], number: k + 1, player }];
  });
}

/** The turns of a line, with their cells and players, as far as they are known. */
function turnsOf(picture, toMove, pv) {
  const turns = [];
  const taken = [];
  const isSplit = isTurns(picture);
  let cells = isSplit ? [...picture.begun] : [];
  let step = isSplit ? picture.step : 0;
  for (const text of pv) {
    const found = cellsOfAction(picture, text, taken);
    const isButton = picture.buttons.some(({ move }) => move === text) || text === "pass";
    if (!found && !isButton) break;
    taken.push(...(found ?? []));
    cells.push(...(found ?? []));
    step++;
    if (isSplit && step < picture.steps.length) continue;
    turns.push({ cells, player: (toMove + turns.length) % 2 });
    [cells, step] = [[], 0];
  }
  if (cells.length > 1) turns.push({ cells, player: (toMove + turns.length) % 2 });
  return turns;
}

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
