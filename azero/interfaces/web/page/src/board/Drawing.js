// The drawing of a position. It is hidden from screen readers: the grid over it says the same.

import { html, useMemo, useRef } from "../html.js";
import { meantBy, targets } from "./Grid.js";
import { groundOf, hexagon, laid, stageOf } from "./geometry.js";
import { Arrows, Bars, Heat, LastMove, Line, Marks, Ownership, Square, Targets, Winning } from "./marks.js";

/** `from`: the name of a cell with a piece whose moves are shown; "" for none. Where a game shows targets, it does so here. */
export function Still({ position, from = "" }) {
  const picture = laid(position.picture, false);
  const chosen = picture.cells.flatMap(({ name }, cell) => (name === from ? [cell] : []));
  return html`<div class="board board-${picture.style}">
    <${Drawing}
      picture=${picture}
      view=${stageOf(picture)}
      pieceOn=${new Map(picture.pieces.map((piece) => [piece.cell, piece]))}
      mayClick=${targets(picture, chosen)}
      chosen=${chosen}
      position=${position}
      isInteractive=${position.to_move !== null}
      hovered=${null}
      overlay=${{}}
    />
  </div>`;
}

/** Colours that need shading, for the definitions of an SVG. */
const Shades = () => html`<defs>
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
function Piece({ picture, piece, isGhost = false, isNew = false }) {
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

const SHAPES = {
  disc: Disc,
  stone: Disc,
  cross: Cross,
  ring: Ring,
  pawn: Pawn,
  queen: Queen,
  blocked: Blocked,
  text: Text,
};

const ROUND = 0.0174; // of the stage: 14 px on a stage of 804

/** Draws everything that lies below the pieces. */
function Ground({ picture }) {
  const { style } = picture;
  return html`<g class="ground ground-${style}">
    ${style !== "hexes" && html`<${Plate} picture=${picture} />`}
    ${style !== "tree" && picture.cells.map((cell) => html`<${Cell} cell=${cell} style=${style} />`)}
    ${style === "felt" && html`<${FeltLines} picture=${picture} />`}
    ${picture.lines.map(([x1, y1, x2, y2]) => html`<line class="grid-line" x1=${x1} y1=${y1} x2=${x2} y2=${y2} />`)}
    ${style === "tree" && html`<${Tree} picture=${picture} />`}
    ${picture.dots.map(([x, y]) => html`<circle class="star" cx=${x} cy=${y} r="0.08" />`)}
    ${picture.edges.map((edge) => html`<${Edge} edge=${edge} picture=${picture} />`)}
    ${
      style === "squares" &&
      html`<rect class="rim" x="0" y="0" width=${picture.width} height=${picture.height} rx="0.04" />`
    }
    <${Labels} picture=${picture} />
  </g>`;
}

function Plate({ picture }) {
  const { x, y, width, height } = groundOf(picture);
  return html`<rect class="plate" x=${x} y=${y} width=${width} height=${height} rx=${ROUND * stageOf(picture).side} />`;
}

function Cell({ cell, style }) {
  const { x, y, shape, tone } = cell;
  if (shape === "hexagon") return html`<polygon class="hexagon" points=${hexagon(cell)} />`;
  if (shape === "hole") return html`<circle class="hole" cx=${x} cy=${y} r="0.42" />`;
  if (shape === "node") return html`<circle class="node" cx=${x} cy=${y} r="0.16" />`;
  if (shape === "point" || style === "lines") return null;
  const className = style === "felt" ? "square felt" : `square tone-${tone ?? 0}`;
  return html`<rect class=${className} x=${x - 0.5} y=${y - 0.5} width="1" height="1" />`;
}

/** The path so far, and the nodes over the ends of the lines. */
function Tree({ picture: { cells, pieces } }) {
  const path = pieces.map(({ cell }) => `${cells[cell].x},${cells[cell].y}`).join(" ");
  return html`<g><polyline class="path" points=${path} />${cells.map((cell) => html`<${Cell} cell=${cell} style="tree" />`)}</g>`;
}

function FeltLines({ picture: { width, height } }) {
  const across = Array.from({ length: height + 1 }, (_, y) => `M0 ${y}H${width}`);
  const down = Array.from({ length: width + 1 }, (_, x) => `M${x} 0V${height}`);
  return html`<path class="felt-lines" d=${[...across, ...down].join("")} />`;
}

function Edge({ edge, picture }) {
  const colour = picture.players[edge.player].colour;
  return html`<polyline class="edge stroke-${colour}" points=${edge.points.map((point) => point.join(",")).join(" ")} />`;
}

const NEAR = 0.13; // the distance of labels from large cells

function Labels({ picture }) {
  const isNear = picture.style === "lines";
  const at = ({ x, y }) => (isNear ? { x: Math.max(x, -NEAR), y: Math.min(y, picture.height + NEAR) } : { x, y });
  const text = (label) => html`<text class="label" ...${at(label)} dy="0.35em">${label.text}</text>`;
  const inner = ({ text, x, y }) => html`<text class="inner-text" x=${x} y=${y} dy="0.35em">${text}</text>`;
  return html`<g>${picture.labels.map(text)}${picture.texts.map(inner)}</g>`;
}

/**
 * Draws all layers. `overlay` may have: marks [{cells, text, share, kind: best|other|played, glyph}], ownership [one
 * number a cell, the first player's positive], line [{cells, number, player}], arrows [{from, to, width, kind}], bars
 * [{cell, prior, policy}], heat [one number in [0, 1] a cell], hidesTargets.
 */
export function Drawing({ picture, view, pieceOn, mayClick, position, isInteractive, ...own }) {
  const { chosen, hovered, overlay } = fitting(picture, /** @type {any} */ (own));
  const last = picture.style === "tree" ? [] : position.last.filter((cell) => picture.cells[cell]);
  const before = useRef(null);
  const known = before.current;
  const isNext = known && known.game === position.game && known.ply + 1 === position.ply;
  const isNew = (piece) => isNext && position.last.includes(piece.cell) && !known.cells.has(piece.cell);
  const fresh = picture.pieces.filter(isNew);
  before.current = { game: position.game, ply: position.ply, cells: new Set(pieceOn.keys()) };

  const ground = useMemo(() => html`<${Ground} picture=${picture} />`, [picture]);
  const movesPieces = picture.steps.length > 1;
  const tintsLast = movesPieces || picture.style === "lines";
  const gone = new Set(chosen.slice(0, movesPieces ? 1 : 0));
  const box = `${view.x} ${view.y} ${view.side} ${view.side}`;
  return html`<svg class="drawing" viewBox=${box} aria-hidden="true" focusable="false" style=${{ "--unit": `${view.side}px` }}>
    <${Shades} />
    ${ground}
    ${overlay.heat && html`<${Heat} picture=${picture} heat=${overlay.heat} />`}
    ${overlay.ownership && html`<${Ownership} picture=${picture} owners=${overlay.ownership} pieceOn=${pieceOn} />`}
    ${tintsLast && html`<${LastMove} picture=${picture} last=${last} pieceOn=${pieceOn} />`}
    ${picture.pieces.map(
      (piece) => html`<${Piece}
      key=${`${piece.cell} ${piece.player}`}
      picture=${picture}
      piece=${piece}
      isNew=${fresh.includes(piece)}
      isGhost=${gone.has(piece.cell)}
    />`,
    )}
    ${!tintsLast && html`<${LastMove} picture=${picture} last=${last} pieceOn=${pieceOn} />`}
    ${(isInteractive || chosen.length > 0) && html`<${Choosing} ...${{ picture, chosen, mayClick, pieceOn, hovered, position, overlay }} />`}
    <${Winning} picture=${picture} />
    ${overlay.arrows && html`<${Arrows} picture=${picture} arrows=${overlay.arrows} />`}
    ${overlay.marks && html`<${Marks} picture=${picture} marks=${overlay.marks} pieceOn=${pieceOn} />`}
    ${overlay.line && html`<${Line} picture=${picture} line=${overlay.line} />`}
    ${overlay.bars && picture.drops && html`<${Bars} picture=${picture} bars=${overlay.bars} />`}
  </svg>`;
}

/** Without cells that this picture lacks: what views and pointers know may be of the picture before. */
function fitting({ cells }, { chosen, hovered, overlay }) {
  const has = (cell) => cells[cell] !== undefined;
  const whole = (list) => list?.filter((each) => each.cells.every(has));
  const each = (list) => (list?.length === cells.length ? list : null); // one value a cell
  return {
    chosen: chosen.filter(has),
    hovered: has(hovered) ? hovered : null,
    overlay: {
      ...overlay,
      marks: whole(overlay.marks),
      line: whole(overlay.line),
      arrows: overlay.arrows?.filter(({ from, to }) => has(from) && has(to)),
      bars: overlay.bars?.filter(({ cell }) => has(cell)),
      ownership: each(overlay.ownership),
      heat: each(overlay.heat),
    },
  };
}

/** What has been chosen so far, where it may go, and what the pointer would play. */
function Choosing({ picture, chosen, mayClick, pieceOn, hovered, position, overlay }) {
  const step = picture.step + chosen.length;
  const [from] = [...picture.begun, ...chosen];
  const frames = [...picture.begun, ...chosen];
  const showsAll = (step > 0 || picture.style === "felt") && !overlay.marks && !overlay.hidesTargets;
  const isShot = picture.steps[step] === "Shoots at";
  const mover = frames.length > 1 && pieceOn.get(frames[1]);
  const others = new Set([...mayClick].filter((cell) => pieceOn.has(cell) || cell !== hovered));
  return html`<g>
    ${frames.map(
      (cell, k) => html`<${Square}
      cell=${picture.cells[cell]}
      className=${k === 0 && frames.length > 1 ? "whence" : "chosen"}
      inset=${0.04}
    />`,
    )}
    ${frames.length > 1 && html`<${Way} from=${picture.cells[from]} to=${picture.cells[frames[1]]} />`}
    ${mover && html`<${Piece} picture=${picture} piece=${{ ...mover, cell: from }} isGhost />`}
    <${Targets} picture=${picture} cells=${others} pieceOn=${pieceOn} isShot=${isShot} showsAll=${showsAll} />
    <${Hover} ...${{ picture, mayClick, pieceOn, hovered, position, chosen, isShot }} />
  </g>`;
}

const Way = ({ from, to }) => html`<line class="way" x1=${from.x} y1=${from.y} x2=${to.x} y2=${to.y} />`;

function Hover({ picture, mayClick, pieceOn, hovered, position, chosen, isShot }) {
  if (hovered === null) return null;
  const cell = meantBy(picture, hovered);
  if (!mayClick.has(cell)) return null;
  const place = picture.cells[cell];
  if (picture.drops) return html`<${Aim} picture=${picture} place=${place} player=${position.to_move} />`;
  if (pieceOn.has(cell) || picture.steps.length > 1) {
    const mover = chosen.length ? pieceOn.get(chosen[0]) : picture.begun.length && !isShot ? null : undefined;
    return html`<g>
      <${Square} cell=${place} className="aimed" inset=${0.04} />
      ${mover && !pieceOn.has(cell) && html`<${Piece} picture=${picture} piece=${{ ...mover, cell }} isGhost />`}
      ${isShot && html`<${Piece} picture=${picture} piece=${{ cell, player: null, kind: "blocked" }} isGhost />`}
    </g>`;
  }
  const kind = kindOf(picture, position.to_move);
  return html`<${Piece} picture=${picture} piece=${{ cell, player: position.to_move, kind, text: "" }} isGhost />`;
}

/** The disc above its column, and the hole in which it would land. */
const Aim = ({ picture, place, player }) => html`<g>
  <${Piece} picture=${{ ...picture, cells: { 0: { x: place.x, y: -0.78 } } }} piece=${{ cell: 0, player, kind: "disc" }} />
  <circle class="landing stroke-${picture.players[player].colour}" cx=${place.x} cy=${place.y} r="0.41" />
</g>`;
