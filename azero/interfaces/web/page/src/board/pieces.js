// What lies on the cells: one drawing for each kind of piece.

import { html } from "../html.js";

/** Colours that need shading, for the definitions of an SVG. */
export const Shades = () => html`<defs>
  <radialGradient id="shade-black" cx="0.38" cy="0.32" r="0.75">
    <stop offset="0" class="stop-black-2" /><stop offset="0.7" class="stop-black" />
  </radialGradient>
  <radialGradient id="shade-white" cx="0.4" cy="0.35" r="0.75">
    <stop offset="0.6" class="stop-white" /><stop offset="1" class="stop-white-2" />
  </radialGradient>
</defs>`;

const RADIUS = { holes: 0.42, felt: 0.42, points: 0.47, hexes: 0.34, squares: 0.38, tree: 0.17 };

const USUAL = { lines: ["cross", "ring"], points: ["stone", "stone"] };

/** The kind of piece that a player puts on the board. */
export const kindOf = ({ style }, player) => USUAL[style]?.[player] ?? "disc";

/** Draws one piece. `isGhost`: it is not on the board, but might be. */
export function Piece({ picture, piece, isGhost = false, isNew = false }) {
  const { x, y } = picture.cells[piece.cell];
  const colour = piece.player === null ? "none" : picture.players[piece.player].colour;
  const classes = ["piece", `piece-${piece.kind}`, `fill-${colour}`];
  if (isGhost) classes.push("ghost");
  if (isNew) classes.push(picture.drops ? "falls" : "appears");
  const Shape = SHAPES[piece.kind] ?? SHAPES.disc;
  const radius = RADIUS[picture.style] ?? 0.38;
  const fall = isNew && picture.drops ? { "--fall": `${-(y + 0.6)}px` } : {};
  return html`<g class=${classes.join(" ")} transform="translate(${x} ${y})">
    <g class="moving" style=${fall}><${Shape} radius=${radius} piece=${piece} colour=${colour} isSecond=${piece.player === 1} /></g>
  </g>`;
}

const isStone = (colour) => colour === "black" || colour === "white";

function Disc({ radius, colour, isSecond }) {
  return html`<g>
    <circle class="body" r=${radius} />
    ${isSecond && !isStone(colour) && html`<circle class="second-ring" r=${radius * 0.68} stroke-width=${radius * 0.14} />`}
  </g>`;
}

const Cross = () => html`<path class="cross" d="M-0.27 -0.27L0.27 0.27M-0.27 0.27L0.27 -0.27" />`;

const Ring = () => html`<circle class="ring" r="0.28" />`;

const Pawn = () => html`<path
  class="body"
  d="M0 -0.34a0.13 0.13 0 0 1 0.08 0.233q0.03 0.2 0.17 0.36q0.03 0.04 0.03 0.09h-0.56q0 -0.05 0.03 -0.09q0.14 -0.16 0.17 -0.36a0.13 0.13 0 0 1 0.08 -0.233z"
/>`;

const Queen = ({ radius }) => html`<g>
  <circle class="body" r=${radius} />
  <path class="crown" d="M-0.19 -0.09L-0.13 0.12H0.13L0.19 -0.09L0.085 0.01L0 -0.15L-0.085 0.01ZM-0.13 0.17H0.13" />
</g>`;

const Blocked = () => html`<g>
  <rect class="burnt" x="-0.32" y="-0.32" width="0.64" height="0.64" rx="0.08" />
  <path class="burnt-cross" d="M-0.14 -0.14L0.14 0.14M-0.14 0.14L0.14 -0.14" />
</g>`;

const Text = ({ piece }) => html`<text class="piece-text" dy="0.18">${piece.text}</text>`;

const SHAPES = { disc: Disc, stone: Disc, cross: Cross, ring: Ring, pawn: Pawn, queen: Queen, blocked: Blocked, text: Text };
