// What is drawn over the pieces: the last move, targets, the winning line, and what views add.

import { Fragment, html } from "../html.js";
import { arc, hexagon } from "./geometry.js";

const centre = (picture, cell) => picture.cells[cell];

/** The last move: a ring on a placed piece; tinted squares where pieces move or are open shapes. */
export function LastMove({ picture, last, pieceOn }) {
  if (picture.steps.length > 1 || picture.style === "lines") {
    const inset = picture.style === "lines" ? 0.04 : 0;
    return last.map((cell) => html`<${Square} cell=${centre(picture, cell)} className="last-square" inset=${inset} />`);
  }
  return last.map((cell) => {
    const { x, y } = centre(picture, cell);
    const piece = pieceOn.get(cell);
    const tone = piece && piece.player !== null ? `on-${picture.players[piece.player].colour}` : "on-none";
    return html`<circle class="last ${tone}" cx=${x} cy=${y} r=${picture.style === "holes" ? 0.1 : 0.17} />`;
  });
}

export function Square({ cell, className, inset = 0 }) {
  if (cell.shape === "hexagon") return html`<polygon class=${className} points=${hexagon(cell, 0.5774 - inset)} />`;
  const side = 1 - 2 * inset;
  return html`<rect class=${className} x=${cell.x - side / 2} y=${cell.y - side / 2} width=${side} height=${side} rx=${inset} />`;
}

/** Where a click may go next: a dot, dashes around what is taken, a diamond for a shot. */
export function Targets({ picture, cells, pieceOn, isShot, showsAll }) {
  if (!showsAll) return null;
  return [...cells].map((cell) => {
    const { x, y } = centre(picture, cell);
    if (pieceOn.has(cell)) return html`<${Square} cell=${centre(picture, cell)} className="may-take" inset=${0.07} />`;
    if (isShot) return html`<path class="may-shoot" d="M${x} ${y - 0.13}l0.13 0.13l-0.13 0.13l-0.13 -0.13z" />`;
    return html`<circle class="may-go" cx=${x} cy=${y} r="0.09" />`;
  });
}

/** The line or the cells that won. */
export function Winning({ picture }) {
  const points = picture.winning.map((cell) => centre(picture, cell));
  if (!points.length) return null;
  if (!picture.is_path) {
    return points.map(
      ({ x, y }) => html`<${Fragment}>
      <circle class="win-case" cx=${x} cy=${y} r="0.43" /><circle class="win-line" cx=${x} cy=${y} r="0.43" />
    </${Fragment}>`,
    );
  }
  const d = points.map(({ x, y }, k) => `${k ? "L" : "M"}${x} ${y}`).join("");
  return html`<${Fragment}><path class="win-case" d=${d} /><path class="win-line" d=${d} /></${Fragment}>`;
}

/** Squares of ownership: `owners` has a number in [-1, 1] for each cell, the first player's positive. */
export function Ownership({ picture, owners, pieceOn }) {
  return owners.map((owner, cell) => {
    const size = 0.32 * Math.sqrt(Math.abs(owner));
    const player = owner > 0 ? 0 : 1;
    if (size < 0.06 || pieceOn.get(cell)?.player === player) return null;
    const { x, y } = centre(picture, cell);
    const colour = picture.players[player].colour;
    return html`<rect class="owner owner-${colour}" x=${x - size / 2} y=${y - size / 2} width=${size} height=${size} rx="0.03" />`;
  });
}

/** Shades of cells: `heat` has a number in [0, 1] for each. */
export function Heat({ picture, heat }) {
  return heat.map((share, cell) => {
    if (share < 0.01) return null;
    const { x, y } = centre(picture, cell);
    return html`<circle class="heat" cx=${x} cy=${y} r="0.42" fill-opacity=${0.1 + 0.55 * Math.sqrt(share)} />`;
  });
}

/**
 * Marks of moves: a number in a circle, with the share of visits as an arc. A prior is a dashed arc, with its number below.
 * On a piece they sit at the corner.
 */
export function Marks({ picture, marks, pieceOn }) {
  return marks
    .filter((mark) => mark.cells.length)
    .map((mark) => {
      const cell = mark.cells.at(-1);
      const { x, y } = centre(picture, cell);
      const isCorner = pieceOn.has(cell);
      const [cx, cy, radius] = isCorner ? [x + 0.27, y - 0.27, 0.2] : [x, y, picture.style === "hexes" ? 0.34 : 0.36];
      const size = radius * ([...mark.text].length > 3 ? 0.72 : 0.95);
      return html`<g class="mark mark-${mark.kind}" data-glyph=${mark.glyph || null}>
      <circle class="mark-body" cx=${cx} cy=${cy} r=${radius} />
      ${mark.prior > 0 && html`<path class="mark-prior" d=${arc(cx, cy, radius + 0.095, mark.prior)} />`}
      ${mark.share > 0 && html`<path class="mark-share" d=${arc(cx, cy, radius + 0.035, mark.share)} />`}
      <text class="mark-text" x=${cx} y=${cy} dy=${mark.note ? radius * 0.12 : size * 0.35} font-size=${mark.note ? size * 0.85 : size}>${mark.text}</text>
      ${mark.note && html`<text class="mark-text mark-note" x=${cx} y=${cy} dy=${radius * 0.68} font-size=${radius * 0.46}>${mark.note}</text>`}
      ${mark.glyph && html`<${Glyph} x=${cx + radius * 0.8} y=${cy - radius * 0.8} glyph=${mark.glyph} />`}
    </g>`;
    });
}

const GLYPHS = { "??": "blunder", "?": "mistake", "?!": "inaccuracy", "!": "good" };

const Glyph = ({ x, y, glyph }) => html`<g class="glyph glyph-${GLYPHS[glyph] ?? "good"}">
  <circle cx=${x} cy=${y} r="0.17" /><text x=${x} y=${y} dy="0.07" font-size="0.2">${glyph}</text>
</g>`;

/** A line of play as numbered ghosts. */
export function Line({ picture, line }) {
  return line.map(({ cells, number, player }) => {
    const { x, y } = centre(picture, cells.at(-1));
    const colour = picture.players[player].colour;
    return html`<g class="line-ghost fill-${colour}">
      <circle class="body" cx=${x} cy=${y} r="0.34" />
      <text class="line-number on-${colour}" x=${x} y=${y} dy="0.11" font-size="0.34">${number}</text>
    </g>`;
  });
}

/** Arrows from cell to cell. */
export function Arrows({ picture, arrows }) {
  return arrows.map(({ from, to, width = 0.14, kind = "best" }) => {
    const [a, b] = [centre(picture, from), centre(picture, to)];
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const [dx, dy] = [(b.x - a.x) / length, (b.y - a.y) / length];
    const head = Math.max(0.22, width * 1.9);
    const end = [b.x - dx * 0.12, b.y - dy * 0.12];
    const neck = [end[0] - dx * head, end[1] - dy * head];
    const points = [
      end,
      [neck[0] - dy * head * 0.6, neck[1] + dx * head * 0.6],
      [neck[0] + dy * head * 0.6, neck[1] - dx * head * 0.6],
    ];
    return html`<g class="arrow arrow-${kind}">
      <line x1=${a.x} y1=${a.y} x2=${neck[0]} y2=${neck[1]} stroke-width=${width} />
      <polygon points=${points.map((point) => point.join(",")).join(" ")} />
    </g>`;
  });
}

/** Bars above the columns: outlined priors, filled policies, with their percents. */
export function Bars({ picture, bars }) {
  const most = Math.max(0.01, ...bars.flatMap(({ prior, policy }) => [prior ?? 0, policy ?? 0]));
  return bars.map(({ cell, prior, policy }) => {
    const { x } = centre(picture, cell);
    const bar = (share, dx, className) => {
      if (share === null || share === undefined) return null;
      const height = 0.02 + (0.62 * share) / most;
      return html`<${Fragment}>
        <rect class=${className} x=${x + dx - 0.1} y=${-0.42 - height} width="0.2" height=${height} rx="0.03" />
        <text class="bar-text" x=${x + dx} y=${-0.5 - height} font-size="0.14">${Math.round(100 * share)}</text>
      </${Fragment}>`;
    };
    return html`<${Fragment}>${bar(prior, -0.13, "bar-prior")}${bar(policy, 0.13, "bar-policy")}</${Fragment}>`;
  });
}
