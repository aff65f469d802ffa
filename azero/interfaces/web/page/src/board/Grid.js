// The cells as a grid: clicks, drags, keys, and what screen readers hear.

import { html, useRef, useState } from "../html.js";
import { isFocusByKeys } from "../keys.js";
import { boxOf } from "./geometry.js";

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
  return new Set(
    candidates(picture, chosen)
      .map(({ cells }) => cells[chosen.length])
      .filter((cell) => cell !== undefined),
  );
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
function nameOfCell(picture, index, piece, mayClick) {
  const column = picture.drops?.find((cells) => cells.includes(index));
  const canMove = mayClick.has(index) || (column && !piece && column.some((cell) => mayClick.has(cell)));
  return [picture.cells[index].name, wordsFor(picture, piece) || "empty", canMove ? "can move" : ""]
    .filter(Boolean)
    .join(", ");
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

const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** One tab stop. After Tab arrows move the cursor, and Enter or Space picks. Esc and Backspace step back. */
export function Grid({ picture, view, pieceOn, mayClick, chosen, onPick, onHover, onBack, isInteractive }) {
  const [cursor, setCursor] = useState(() => firstCell(picture));
  const grid = useRef(null);
  const drag = useRef(null);
  const here = picture.cells[cursor] ? cursor : firstCell(picture);
  const cellOf = (target) => {
    const found = target?.closest?.("[data-cell]");
    return found && grid.current.contains(found) ? Number(found.dataset.cell) : null;
  };

  const focusOn = (cell) => {
    setCursor(cell);
    grid.current.querySelector(`[data-cell="${cell}"]`)?.focus();
  };

  const onKeyDown = (event) => {
    const step = ARROWS[event.key];
    const hasCursor = isFocusByKeys(); // a click leaves the arrows to the game
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step && hasCursor && !event.shiftKey) focusOn(neighbour(picture, here, step));
    else if ((event.key === "Enter" || event.key === " ") && hasCursor) onPick(here);
    else if (event.key === "Escape" || event.key === "Backspace") {
      if (!onBack()) return;
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const latestPick = useRef(onPick);
  latestPick.current = onPick;
  const onPointerDown = (event) => {
    drag.current = { cell: cellOf(event.target), type: event.pointerType, isDrag: false };
  };
  const onPointerOver = (event) => {
    if (event.pointerType === "touch") return;
    const cell = cellOf(event.target);
    const begin = drag.current;
    if (
      begin &&
      event.buttons === 1 &&
      picture.steps.length > 1 &&
      begin.cell !== null &&
      cell !== begin.cell &&
      !begin.isDrag
    ) {
      begin.isDrag = true; // its first cell is picked now, the last one where the button is let go
      if (chosen.at(-1) !== begin.cell) onPick(begin.cell);
    }
    onHover(cell);
  };
  const onPointerUp = (event) => {
    const cell = cellOf(event.target);
    if (drag.current?.isDrag && cell !== null && cell !== drag.current.cell) setTimeout(() => latestPick.current(cell));
  };
  const onClick = (event) => {
    const cell = cellOf(event.target);
    if (cell === null || drag.current?.isDrag) return;
    setCursor(cell);
    onPick(cell, drag.current?.type === "touch");
  };

  const onFocusIn = (event) => {
    const cell = cellOf(event.target);
    if (cell !== null) setCursor(cell); // screen readers put the focus where they like
    onHover(event.target.matches(":focus-visible") ? cell : null);
  };

  const style = (index) => {
    const box = boxOf(picture, index);
    const { tilt } = picture.cells[index];
    const percent = (length) => `${(100 * length) / view.side}%`;
    return {
      left: percent(box.x - view.x),
      top: percent(box.y - view.y),
      width: percent(box.width),
      height: percent(box.height),
      transform: tilt ? `rotate(${tilt}deg)` : null,
    };
  };

  return html`<div
    class="grid"
    role="grid"
    aria-label="Board"
    aria-readonly=${isInteractive ? null : "true"}
    ref=${grid}
    onKeyDown=${onKeyDown}
    onClick=${onClick}
    onPointerDown=${onPointerDown}
    onPointerUp=${onPointerUp}
    onPointerOver=${onPointerOver}
    onPointerLeave=${() => onHover(null)}
    onFocusIn=${onFocusIn}
    onFocusOut=${() => onHover(null)}
  >
    ${picture.rows.map(
      (row) => html`<div role="row">
      ${row
        .filter((index) => index !== null)
        .map(
          (index) => html`<div
        role="gridcell"
        class="cell cell-${picture.cells[index].shape} ${mayClick.has(meantBy(picture, index)) ? "may-click" : ""}"
        key=${index}
        data-cell=${index}
        style=${style(index)}
        tabindex=${index === here ? 0 : -1}
        aria-label=${nameOfCell(picture, index, pieceOn.get(index), mayClick)}
        aria-selected=${chosen.includes(index) || picture.begun.includes(index) ? "true" : null}
      ></div>`,
        )}
    </div>`,
    )}
  </div>`;
}

function firstCell(picture) {
  const cells = picture.rows.flat().filter((index) => index !== null);
  return picture.drops ? (picture.drops[0].at(-1) ?? cells[0]) : cells[0];
}

/** The cell that lies next in a direction, by place: rows of hexagons are shifted. */
function neighbour(picture, cell, [down, right]) {
  const row = picture.rows.findIndex((cells) => cells.includes(cell));
  if (right) {
    const cells = picture.rows[row].filter((index) => index !== null);
    return cells[cells.indexOf(cell) + right] ?? cell;
  }
  const next = picture.rows[row + down]?.filter((index) => index !== null);
  if (!next?.length) return cell;
  const { x } = picture.cells[cell];
  return next.reduce((best, each) =>
    Math.abs(picture.cells[each].x - x) < Math.abs(picture.cells[best].x - x) ? each : best,
  );
}
