// The cells as a grid: clicks, drags, keys, and what screen readers hear.

import { html, useRef, useState } from "../html.js";
import { isFocusByKeys } from "../keys.js";
import { boxOf } from "./geometry.js";
import { meantBy, nameOfCell } from "./picking.js";

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
    if (begin && event.buttons === 1 && picture.steps.length > 1 && begin.cell !== null && cell !== begin.cell && !begin.isDrag) {
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
    return { left: percent(box.x - view.x), top: percent(box.y - view.y), width: percent(box.width), height: percent(box.height), transform: tilt ? `rotate(${tilt}deg)` : null };
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
    ${picture.rows.map((row) => html`<div role="row">
      ${row.filter((index) => index !== null).map((index) => html`<div
        role="gridcell"
        class="cell cell-${picture.cells[index].shape} ${mayClick.has(meantBy(picture, index)) ? "may-click" : ""}"
        key=${index}
        data-cell=${index}
        style=${style(index)}
        tabindex=${index === here ? 0 : -1}
        aria-label=${nameOfCell(picture, index, pieceOn.get(index), mayClick)}
        aria-selected=${chosen.includes(index) || picture.begun.includes(index) ? "true" : null}
      ></div>`)}
    </div>`)}
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
  return next.reduce((best, each) => (Math.abs(picture.cells[each].x - x) < Math.abs(picture.cells[best].x - x) ? each : best));
}
