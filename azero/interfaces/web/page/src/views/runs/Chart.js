// A small chart of one or two series over the iterations, with a table behind it.

import { html } from "../../html.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [250, 96, 38, 58, 8, 16];

/**
 * Draws series [{label, points: [[iteration, value]]}], the second one dashed. `format` writes a value; `range` fixes
 * the least and greatest value; `ticks` are iterations to mark below; `chosen` is the iteration that is selected.
 */
export function Chart({ title, note, series, format, range, ticks = [], chosen, last, onChoose }) {
  const values = series.flatMap(({ points }) => points.map(([, value]) => value));
  if (!values.length) return html`<figure class="chart"><figcaption>${title}</figcaption><p class="detail">no values yet</p></figure>`;
  const [low, high] = range ?? extent(values);
  const first = 1;
  const x = (iteration) => LEFT + ((WIDTH - LEFT - RIGHT) * (iteration - first)) / Math.max(1, last - first);
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - low) / (high - low || 1));
  const choose = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width) * WIDTH;
    onChoose(Math.round(first + ((share - LEFT) / (WIDTH - LEFT - RIGHT)) * (last - first)));
  };
  return html`<figure class="chart">
    <figcaption>${title}${note && html`<small>${note}</small>`}</figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true" onClick=${choose}>
      ${[low, (low + high) / 2, high].map((value) => html`<g>
        <line class="chart-grid" x1=${LEFT} x2=${WIDTH - RIGHT} y1=${y(value)} y2=${y(value)} />
        <text class="chart-tick" x=${LEFT - 5} y=${y(value)} dy="0.35em" text-anchor="end">${format(value)}</text>
      </g>`)}
      ${ticks.map((iteration) => html`<line class="chart-promoted" x1=${x(iteration)} x2=${x(iteration)} y1=${HEIGHT - BOTTOM} y2=${HEIGHT - BOTTOM + 4} />`)}
      ${[first, last].map((iteration) => html`<text class="chart-tick" x=${x(iteration)} y=${HEIGHT - 2} text-anchor="middle">${iteration}</text>`)}
      ${chosen >= first && html`<line class="chart-chosen" x1=${x(chosen)} x2=${x(chosen)} y1=${TOP} y2=${HEIGHT - BOTTOM} />`}
      ${series.map(({ points }, k) => points.length > 0 && html`<g class="series series-${k}">
        <path d=${pathOf(thinned(points, x), x, y)} />
        <circle cx=${x(points.at(-1)[0])} cy=${y(points.at(-1)[1])} r="2.6" />
      </g>`)}
      ${ends(series, y).map(({ label, value, at }) => html`<g>
        <text class="chart-last" x=${WIDTH - RIGHT + 7} y=${at}>${format(value)}</text>
        <text class="chart-label" x=${WIDTH - RIGHT + 7} y=${at + 9}>${label}</text>
      </g>`)}
    </svg>
    <details><summary>as a table</summary><${Table} series=${series} format=${format} title=${title} /></details>
  </figure>`;
}

function extent(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? [low - 1, high + 1] : [low, high];
}

/** At most two points a pixel: the least and the greatest value there. */
export function thinned(points, x) {
  if (points.length < 400) return points;
  const columns = new Map();
  for (const point of points) {
    const column = Math.round(x(point[0]));
    const seen = columns.get(column) ?? [point, point];
    columns.set(column, [point[1] < seen[0][1] ? point : seen[0], point[1] > seen[1][1] ? point : seen[1]]);
  }
  return [...columns.values()].flatMap(([least, most]) => [least, most].sort((a, b) => a[0] - b[0]));
}

const pathOf = (points, x, y) => points.map(([at, value], k) => `${k ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");

/** Where the last values stand: apart from each other. */
function ends(series, y) {
  const all = series.filter(({ points }) => points.length).map(({ label, points }) => ({ label, value: points.at(-1)[1], at: y(points.at(-1)[1]) }));
  if (all.length === 2 && Math.abs(all[0].at - all[1].at) < 21) {
    const middle = Math.min(HEIGHT - 24, Math.max(14, (all[0].at + all[1].at) / 2));
    const upper = all[0].at <= all[1].at ? 0 : 1;
    all[upper].at = middle - 10;
    all[1 - upper].at = middle + 11;
  }
  return all;
}

function Table({ series, format, title }) {
  const rows = [...new Set(series.flatMap(({ points }) => points.map(([iteration]) => iteration)))].sort((a, b) => a - b);
  const maps = series.map(({ points }) => new Map(points));
  return html`<table aria-label=${title}>
    <thead><tr><th scope="col">iteration</th>${series.map(({ label }) => html`<th scope="col">${label}</th>`)}</tr></thead>
    <tbody>${rows.slice(-200).map((iteration) => html`<tr><th scope="row">${iteration}</th>${maps.map((map) => html`<td>${map.has(iteration) ? format(map.get(iteration)) : ""}</td>`)}</tr>`)}</tbody>
  </table>`;
}
