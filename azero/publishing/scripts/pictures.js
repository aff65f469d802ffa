// Pictures and texts of moves, by tables that `azero/publishing/tables/` has made and checked.
//
// tables:
//   still: what all pictures share: board, names of cells, players, steps, columns in which pieces fall
//   pieces: for each player to move, [{player, kind, text, planes, order}]: such a piece lies on a cell if one of the
//     planes is set at the cell's place in `order`, or at its own number where `order` is null; null: a plain board.
//     With `values`, it lies there if the plane has one of these. With `factor`, its text is the plane's value times
//     the factor, on `cells` alone, and 0 is a text if `hasZero`
//   texts: for each player, or once for both, the text of each action, or two. The second one is used where another
//     one's piece lies on the last of its cells, or, if `flag` is not null, where the planes are not 0 at this place
//   cells: for each player, or once for both, the cells of each action; null: the lowest free one of its column, or none
//   buttons: {action: {label, key}}
//   winning: {kind: "rows", width, k, exact} or {kind: "path", near, ends}, or null

const ofPlayer = (both, player) => both[player] ?? both[0];

/** The pieces on the board. */
function piecesOf({ still, pieces }, planes, player) {
  const size = still.cells.length;
  if (pieces === null) return numbersOf(planes, size);
  return still.cells.flatMap((_, cell) =>
    pieces[player].flatMap((each) => {
      const text = textAt(each, planes, size, cell);
      return text === null ? [] : [{ cell, player: each.player, kind: each.kind, text }];
    }),
  );
}

/** The text of a kind of piece on a cell; null if there is none. */
function textAt({ text, planes: chosen, order, values, factor, cells, hasZero }, planes, size, cell) {
  const found = chosen.map((plane) => planes[plane * size + (order ? order[cell] : cell)]);
  if (factor !== undefined) {
    const number = Math.floor(factor * found[0] + 0.5);
    return cells.includes(cell) && (number || hasZero) ? String(number) : null;
  }
  const lies = values ? values.includes(found[0]) : found.some((value) => value !== 0);
  return lies ? text : null;
}

/** On the plain board, the number of the first plane that is set at a cell, of those that are not the same everywhere. */
function numbersOf(planes, size) {
  if (!size) return [];
  const found = new Array(size).fill(0);
  for (let begin = 0, number = 1; begin < planes.length; begin += size, number++) {
    const plane = planes.subarray(begin, begin + size);
    if (plane.every((value) => value === plane[0])) continue;
    plane.forEach((value, cell) => {
      if (value !== 0 && !found[cell]) found[cell] = number;
    });
  }
  return found.flatMap((number, cell) => (number ? [{ cell, player: null, kind: "text", text: String(number) }] : []));
}

/** Whether the texts of actions depend on nothing but the action. */
export const areTextsFixed = ({ texts }) => texts.length === 1 && !texts[0].some(Array.isArray);

/** The board before an action: what lies where, and whose turn it is. */
export class Board {
  #pieces = null;
  #planes = null;
  #read;

  /** `read()` returns the planes of the net's input, from the point of view of `player`. */
  constructor(tables, read, player) {
    this.tables = tables;
    this.player = player;
    this.#read = read;
  }

  get planes() {
    this.#planes ??= this.#read();
    return this.#planes;
  }

  get pieces() {
    this.#pieces ??= piecesOf(this.tables, this.planes, this.player);
    return this.#pieces;
  }

  isTaken = (cell) => this.pieces.some((piece) => piece.cell === cell);
  isOthers = (cell) => this.pieces.some((piece) => piece.cell === cell && piece.player !== this.player);

  cellsOf(action) {
    const { cells, still } = this.tables;
    const known = ofPlayer(cells, this.player)[action];
    if (known) return known;
    const column = still.drops?.[action];
    return column ? [column.find((cell) => !this.isTaken(cell))] : [];
  }

  textOf(action) {
    const text = ofPlayer(this.tables.texts, this.player)[action] ?? String(action);
    if (!Array.isArray(text)) return text;
    const { flag } = this.tables;
    const isSecond = flag === null ? this.isOthers(this.cellsOf(action).at(-1)) : this.planes[flag] !== 0;
    return text[isSecond ? 1 : 0];
  }

  /** The picture; `run`: the last actions, all of the player to move; `winner`: 0, 1, or null. */
  picture(legal, run, winner) {
    const { still, buttons } = this.tables;
    const step = still.steps.length > 1 ? run.length : 0;
    const winning = winner === null ? [] : winningCells(this.tables, this.pieces, winner);
    return {
      ...still,
      pieces: this.pieces,
      step,
      begun: step ? run.flatMap((action) => this.cellsOf(action)) : [],
      texts: [],
      winning,
      is_path: isPath(still, winning),
      problem: null,
      actions: legal.map((action) => ({ action, move: this.textOf(action), cells: this.cellsOf(action) })),
      buttons: legal
        .filter((action) => buttons[action])
        .map((action) => ({ action, ...buttons[action], move: this.textOf(action) })),
    };
  }
}

function winningCells({ still, winning: form }, pieces, winner) {
  if (!form) return [];
  const own = new Set(pieces.filter(({ player }) => player === winner).map(({ cell }) => cell));
  if (form.kind === "rows") return rowsOf(form, own, still.cells.length);
  const [begin, end] = form.ends[winner];
  return shortestPath(form.near, own, begin, new Set(end));
}

/** The cells of all rows of k own cells or more, or of exactly k, in ascending order. */
function rowsOf({ width, k, exact }, own, size) {
  const found = new Set();
  const at = (row, column) =>
    row >= 0 && column >= 0 && column < width && row * width + column < size && own.has(row * width + column);
  for (const cell of own) {
    const [row, column] = [Math.floor(cell / width), cell % width];
    for (const [down, right] of [
      [0, 1],
      [1, 0],
      [1, 1],
      [1, -1],
    ]) {
      if (at(row - down, column - right)) continue; // not the first of its row
      let length = 1;
      while (at(row + length * down, column + length * right)) length++;
      if (exact ? length !== k : length < k) continue;
      for (let j = 0; j < length; j++) found.add(cell + j * (down * width + right));
    }
  }
  return [...found].sort((a, b) => a - b);
}

/** A shortest path of own cells, by a breadth-first search. */
function shortestPath(near, own, begin, end) {
  const paths = begin.map((cell) => [cell]);
  const seen = new Set();
  for (const path of paths) {
    const cell = path.at(-1);
    if (!own.has(cell) || seen.has(cell)) continue;
    if (end.has(cell)) return path;
    seen.add(cell);
    for (const other of near[cell]) paths.push([...path, other]);
  }
  return [];
}

/** Whether cells are a line: neighbours in one direction, or on hexagons in any directions. */
function isPath({ cells, style }, line) {
  const round = (length) => Math.round(100 * length) / 100 + 0;
  const steps = line
    .slice(1)
    .map((cell, k) => [round(cells[cell].x - cells[line[k]].x), round(cells[cell].y - cells[line[k]].y)]);
  const isStraight = style === "hexes" || new Set(steps.map(String)).size === 1;
  return steps.length > 0 && isStraight && steps.every(([x, y]) => Math.max(Math.abs(x), Math.abs(y)) <= 1);
}
