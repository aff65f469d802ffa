// The board: one drawing for all games, and over it one grid of cells for clicks, keys and screen readers.

import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { Drawing } from "./Drawing.js";
import { click, Grid, targets, whyNot } from "./Grid.js";
import { laid, stageOf } from "./geometry.js";

/** A small menu at the cursor: the actions that one click fits. */
function Menu({ picture, view, cell, actions, onPick, onClose }) {
  const { x, y } = picture.cells[cell];
  const list = useRef(null);
  useEffect(() => {
    const before = /** @type {HTMLElement} */ (document.activeElement);
    list.current.querySelector("button").focus();
    return () => before?.focus?.();
  }, [cell]);
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

/**
 * Draws a position and turns clicks, drags and keys into actions.
 *
 * Props:
 *   position: the answer of POST positions.
 *   isInteractive: whether actions may be played.
 *   isTurned: whether the board is seen from the other side.
 *   overlay: what a view adds; see Drawing.js.
 *   onAction(action): called with one of `position.picture.actions`.
 *   onMessage(text): called with a line that says why a click did nothing, or "".
 *   onBack(): called by Esc when no step has been chosen; picks of earlier actions of a turn are the caller's.
 *   onChosen(cells): called when the clicked cells of an action that takes several change.
 *   controls: a ref that gets {stepBack()}, which does what Esc does.
 */
export function Board({
  position,
  isInteractive,
  isTurned,
  overlay = {},
  onAction,
  onMessage,
  onBack,
  onChosen,
  controls,
}) {
  const [chosen, setChosenCells] = useState([]);
  const [hovered, setHovered] = useState(null);
  const [aimed, setAimed] = useState(null); // by a first tap
  const [menu, setMenu] = useState(null);
  const stage = useRef(null);
  const picture = useMemo(() => laid(position.picture, isTurned), [position.picture, isTurned]);
  const pieceOn = useMemo(() => new Map(picture.pieces.map((piece) => [piece.cell, piece])), [picture]);
  const mayClick = useMemo(
    () => (isInteractive ? targets(picture, chosen) : new Set()),
    [picture, chosen, isInteractive],
  );

  const setChosen = (cells) => {
    setChosenCells(cells);
    onChosen?.(cells);
  };
  useEffect(() => {
    setChosen([]);
    setAimed(null);
    setMenu(null);
  }, [position.picture, isInteractive]);

  const play = (action) => {
    setMenu(null);
    setAimed(null);
    setHovered(null);
    onMessage?.("");
    onAction(action);
  };

  /** A click on a cell; a finger's first tap only aims. Returns whether it did something. */
  const pick = (cell, isTouch = false) => {
    if (!isInteractive) return false;
    const done = click(picture, chosen, cell);
    if (done.kind === "illegal") {
      onMessage?.(whyNot(picture, cell, pieceOn.get(cell), position.to_move));
      setAimed(null);
      return false;
    }
    if (isTouch && done.kind !== "choose" && aimed !== cell) {
      setAimed(cell);
      onMessage?.("Tap again to play.");
      return true;
    }
    onMessage?.("");
    if (done.kind === "choose") setChosen(done.chosen);
    else if (done.kind === "act") play(done.action);
    else setMenu({ cell, actions: done.actions });
    return true;
  };

  const stepBack = () => {
    if (menu) setMenu(null);
    else if (chosen.length) setChosen(chosen.slice(0, -1));
    else return onBack?.() ?? false;
    return true;
  };

  if (controls) controls.current = { stepBack };

  const view = useMemo(() => stageOf(picture), [picture]);
  const shared = { picture, view, pieceOn, mayClick, chosen };
  return html`<div class="board board-${picture.style}" ref=${stage}>
    <${Drawing}
      ...${shared}
      position=${position}
      isInteractive=${isInteractive}
      hovered=${aimed ?? hovered}
      overlay=${overlay}
    />
    <${Grid} ...${shared} onPick=${pick} onHover=${setHovered} onBack=${stepBack} isInteractive=${isInteractive} />
    ${menu && html`<${Menu} ...${shared} cell=${menu.cell} actions=${menu.actions} onPick=${play} onClose=${() => setMenu(null)} />`}
  </div>`;
}
