// The ground of a board, its cells, lines and labels.

import { html } from "../html.js";
import { groundOf, hexagon, stageOf } from "./geometry.js";

const ROUND = 0.0174; // of the stage: 14 px on a stage of 804

/** Draws everything that lies below the pieces. */
export function Ground({ picture }) {
  const { style } = picture;
  return html`<g class="ground ground-${style}">
    ${style !== "hexes" && html`<${Plate} picture=${picture} />`}
    ${style !== "tree" && picture.cells.map((cell) => html`<${Cell} cell=${cell} style=${style} />`)}
    ${style === "felt" && html`<${FeltLines} picture=${picture} />`}
    ${picture.lines.map(([x1, y1, x2, y2]) => html`<line class="grid-line" x1=${x1} y1=${y1} x2=${x2} y2=${y2} />`)}
    ${style === "tree" && html`<${Tree} picture=${picture} />`}
    ${picture.dots.map(([x, y]) => html`<circle class="star" cx=${x} cy=${y} r="0.08" />`)}
    ${picture.edges.map((edge) => html`<${Edge} edge=${edge} picture=${picture} />`)}
    ${style === "squares" &&
    html`<rect class="rim" x="0" y="0" width=${picture.width} height=${picture.height} rx="0.04" />`}
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
