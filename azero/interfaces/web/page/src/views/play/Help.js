// A line that says how to move here.

import { html } from "../../html.js";

const ALL = html` <span class="wide-only"><kbd>U</kbd> takes back, <kbd>H</kbd> hints, <kbd>?</kbd> lists all keys.</span>`;

export function Help({ play, session }) {
  const { position } = session;
  if (!position || play.result || !play.hasHuman) return null;
  if (session.node.children.length) return html`<p class="help">This is an earlier position: <kbd>→</kbd> goes forward, Undo goes on from here.</p>`;
  return html`<p class="help"><span class="wide-only">${withMouse(position.picture)}</span><span class="narrow-only">${withFinger(position.picture)}</span>${ALL}</p>`;
}

function withMouse({ drops, style, steps, actions }) {
  if (drops) return html`Click a column, or press <kbd>1</kbd> to <kbd>${Math.min(9, drops.length)}</kbd>.`;
  if (style === "tree") return html`Click a branch, or press its number.`;
  if (actions.length && actions.every(({ cells }) => !cells.length)) return "Choose a move from the list.";
  if (steps.length === 2) return "Drag a piece, or click it and its square.";
  if (steps.length > 2) return "Click piece, square, target.";
  return html`Click, or use arrow keys and <kbd>Enter</kbd>.`;
}

function withFinger({ drops, style, steps, actions }) {
  if (drops) return "Tap a column to aim, tap it again to drop.";
  if (style !== "tree" && actions.length && actions.every(({ cells }) => !cells.length)) return "Choose a move from the list.";
  return steps.length > 1 ? "Tap a piece, then where it goes; tap again to play." : "Tap to aim, tap again to play.";
}
