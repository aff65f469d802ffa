// Moves as cells of the board: of a candidate move, and of a line of play. Pure.

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
    return { arrows, line: numbered(steps.slice(0, 5), ({ cells }) => cells[1] ?? cells[0], 1) };
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
