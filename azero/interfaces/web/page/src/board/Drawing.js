// The drawing of a position. It is hidden from screen readers: the grid over it says the same.

import { html, useMemo, useRef } from "../html.js";
import { Ground } from "./ground.js";
import { Arrows, Bars, Heat, LastMove, Line, Marks, Ownership, Square, Targets, Winning } from "./marks.js";
import { meantBy } from "./picking.js";
import { Piece, Shades, kindOf } from "./pieces.js";

/**
 * Draws all layers. `overlay` may have: marks [{cells, text, share, kind: best|other|played, glyph}], ownership [one
 * number a cell, the first player's positive], line [{cells, number, player}], arrows [{from, to, width, kind}], bars
 * [{cell, prior, policy}], heat [one number in [0, 1] a cell], hidesTargets.
 */
export function Drawing({ picture, view, pieceOn, mayClick, position, isInteractive, ...given }) {
  const { chosen, hovered, overlay } = fitting(picture, given);
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
    ${picture.pieces.map((piece) => html`<${Piece}
      key=${`${piece.cell} ${piece.player}`}
      picture=${picture}
      piece=${piece}
      isNew=${fresh.includes(piece)}
      isGhost=${gone.has(piece.cell)}
    />`)}
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
    ${frames.map((cell, k) => html`<${Square}
      cell=${picture.cells[cell]}
      className=${k === 0 && frames.length > 1 ? "whence" : "chosen"}
      inset=${0.04}
    />`)}
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
