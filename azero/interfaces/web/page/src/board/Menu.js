// A small menu at the cursor: the actions that one click fits.

import { html, useEffect, useRef } from "../html.js";

export function Menu({ picture, view, cell, actions, onPick, onClose }) {
  const { x, y } = picture.cells[cell];
  const list = useRef(null);
  useEffect(() => list.current?.querySelector("button")?.focus(), [cell]);
  const percent = (length) => `${(100 * length) / view.side}%`;
  const onKeyDown = (event) => {
    const buttons = [...list.current.querySelectorAll("button")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") onClose();
    else if (step) buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const style = { left: percent(x - view.x), top: percent(y - view.y) };
  return html`<div class="menu at-cursor" role="menu" aria-label="Moves here" ref=${list} style=${style} onKeyDown=${onKeyDown}>
    ${actions.map((action) => html`<button role="menuitem" key=${action.action} onClick=${() => onPick(action)}>${action.move}</button>`)}
  </div>`;
}
