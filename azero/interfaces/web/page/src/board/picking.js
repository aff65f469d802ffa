// From clicks on cells to an action. An action's cells are clicked in their order.

/** The cell that a click on `cell` means: where columns take discs, the hole in which the disc would land. */
export function meantBy(picture, cell) {
  const column = picture.drops?.find((cells) => cells.includes(cell));
  return column ? (column.find((each) => landings(picture).has(each)) ?? cell) : cell;
}

const landings = (picture) => new Set(picture.actions.map((action) => action.cells[0]));

const beginsWith = (cells, prefix) => prefix.every((cell, k) => cells[k] === cell);

/** The actions that the clicks so far may still become. */
const candidates = (picture, chosen) =>
  picture.actions.filter(({ cells }) => cells.length > 0 && beginsWith(cells, chosen));

/** The cells that may be clicked next, as a Set. */
export function targets(picture, chosen) {
  return new Set(candidates(picture, chosen).map(({ cells }) => cells[chosen.length]).filter((cell) => cell !== undefined));
}

/**
 * What a click does: {kind: "act", action}, {kind: "menu", actions}, {kind: "choose", chosen}, {kind: "illegal"}.
 * A click on another piece of one's own begins again with it.
 */
export function click(picture, chosen, cell) {
  const meant = meantBy(picture, cell);
  const next = [...chosen, meant];
  const matching = candidates(picture, next);
  if (matching.length === 0) {
    if (chosen.length && meant === chosen.at(-1)) return { kind: "choose", chosen: chosen.slice(0, -1) };
    return chosen.length ? click(picture, [], cell) : { kind: "illegal" };
  }
  const whole = matching.filter(({ cells }) => cells.length === next.length);
  if (whole.length < matching.length) return { kind: "choose", chosen: next };
  return whole.length === 1 ? { kind: "act", action: whole[0] } : { kind: "menu", actions: whole };
}

const KINDS = { queen: "amazon", blocked: "burnt", cross: "", ring: "", text: "" };

/** "black amazon" of what lies on a cell; "" if nothing does. */
function wordsFor(picture, piece) {
  if (!piece) return "";
  const kind = KINDS[piece.kind] ?? piece.kind;
  const player = piece.player === null ? "" : picture.players[piece.player].name;
  const words = [kind ? player.toLowerCase() : player, kind, piece.kind === "text" ? piece.text : ""];
  return words.filter(Boolean).join(" ");
}

/** The name of a cell for screen readers, e.g. "d4, black amazon, can move". */
export function nameOfCell(picture, index, piece, mayClick) {
  const column = picture.drops?.find((cells) => cells.includes(index));
  const canMove = mayClick.has(index) || (column && !piece && column.some((cell) => mayClick.has(cell)));
  return [picture.cells[index].name, wordsFor(picture, piece) || "empty", canMove ? "can move" : ""].filter(Boolean).join(", ");
}

/** Why a click on a cell did nothing. */
export function whyNot(picture, index, piece, toMove) {
  const { name } = picture.cells[index];
  const moves = picture.steps.length > 1;
  if (piece && !moves) return `${name} is taken by ${wordsFor(picture, piece)}.`;
  if (moves && piece && piece.player !== toMove) return `${name} is not yours: ${wordsFor(picture, piece)}.`;
  if (moves && piece) return `${wordsFor(picture, piece)} on ${name} has no move.`;
  return `${name} cannot be played now.`;
}
