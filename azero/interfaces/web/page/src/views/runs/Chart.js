// A small chart of one or two series over the iterations, with a table behind it.

import { html } from "../../html.js";
import { spaced, thinned, ticksOf } from "./scale.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [250, 94, 38, 60, 8, 18];
const FEW = 12; // points that are drawn each
const MOST_ROWS = 500; // of the table

/**
 * Draws series [{label, points: [[iteration, value]], isSecond}], the second one dashed. `format` writes a value; `range`
 * fixes the least and greatest value; `ticks` are iterations to mark below; `chosen` is the one that is selected.
 */
export function Chart({ title, note, series, format, range, ticks = [], chosen, last, onChoose }) {
  const filled = series.filter(({ points }) => points.length);
  const values = filled.flatMap(({ points }) => points.map(([, value]) => value));
  if (!values.length) return html`<figure class="chart"><figcaption>${title}</figcaption><p class="detail">No values.</p></figure>`;
  const [low, middle, high] = range ? [range[0], (range[0] + range[1]) / 2, range[1]] : ticksOf(values);
  const end = WIDTH - RIGHT;
  const x = (iteration) => LEFT + ((end - LEFT) * (iteration - 1)) / Math.max(1, last - 1);
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - low) / (high - low));
  const choose = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    onChoose(Math.round(1 + ((at - LEFT) / (end - LEFT)) * (last - 1)));
  };
  const named = last < 6 ? Array.from({ length: last }, (_, k) => k + 1) : [1, Math.round((1 + last) / 2), last];
  const foot = HEIGHT - BOTTOM;
  const label = filled.map(({ label: name, points }) => `${name} ${format(points.at(-1)[1])}`).join(", ");
  return html`<figure class="chart">
    <figcaption>${title}${note && html`<small>${note}</small>`}</figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${`${title}: ${label} at iteration ${last}`} onClick=${choose}>
      ${[low, middle, high].map((value) => html`<g>
        <line class="chart-grid" x1=${LEFT} x2=${end} y1=${y(value)} y2=${y(value)} />
        <text class="chart-tick" x=${LEFT - 6} y=${y(value)} dy="0.35em" text-anchor="end">${format(value)}</text>
      </g>`)}
      ${ticks.map((iteration) => html`<line class="chart-promoted" x1=${x(iteration)} x2=${x(iteration)} y1=${foot} y2=${foot + 4} />`)}
      ${named.map((iteration) => html`<text class="chart-tick" x=${x(iteration)} y=${HEIGHT - 5} text-anchor=${iteration === last && last > 1 ? "end" : "middle"}>${iteration}</text>`)}
      ${chosen >= 1 && html`<line class="chart-chosen" x1=${x(chosen)} x2=${x(chosen)} y1=${TOP} y2=${foot} />`}
      ${filled.map(({ label: name, points, isSecond }) => html`<g key=${name} class="series series-${isSecond ? 1 : 0}">
        <path d=${pathOf(thinned(points, x), x, y)} />
        ${(points.length <= FEW && points.length < last ? points : points.slice(-1)).map(([at, value]) => html`<circle cx=${x(at)} cy=${y(value)} r="2.6" />`)}
      </g>`)}
      ${spaced(filled.map(({ label: name, points }) => ({ name, value: points.at(-1)[1], at: y(points.at(-1)[1]) })), TOP + 4, foot).map(({ name, value, at }) => html`<g>
        <text class="chart-last" x=${end + 8} y=${at + 2}>${format(value)}</text>
        <text class="chart-label" x=${end + 8} y=${at + 12}>${name}</text>
      </g>`)}
    </svg>
    <details class="as-table"><summary aria-label="${title} as a table">as a table</summary><${Table} series=${filled} format=${format} title=${title} /></details>
  </figure>`;
}

const pathOf = (points, x, y) => points.map(([at, value], k) => `${k ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");

function Table({ series, format, title }) {
  const rows = [...new Set(series.flatMap(({ points }) => points.map(([iteration]) => iteration)))].sort((a, b) => b - a);
  const maps = series.map(({ points }) => new Map(points));
  return html`<table aria-label=${title}>
    <thead><tr><th scope="col">iteration</th>${series.map(({ label }) => html`<th scope="col">${label}</th>`)}</tr></thead>
    <tbody>${rows.slice(0, MOST_ROWS).map((iteration) => html`<tr><th scope="row">${iteration}</th>${maps.map((map) => html`<td>${map.has(iteration) ? format(map.get(iteration)) : ""}</td>`)}</tr>`)}</tbody>
  </table>`;
}
