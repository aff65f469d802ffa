// The six charts of a run.

import { html, useApp } from "../../html.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [250, 94, 38, 60, 8, 18];
const FEW = 12; // points that are drawn each
const MOST_ROWS = 500; // of the table

/**
 * Draws series [{label, points: [[iteration, value]], isSecond}], the second one dashed. `format` writes a value; `range`
 * fixes the least and greatest value; `included` are values that the axis reaches; `ticks` are iterations to mark below;
 * `chosen` is the one that is selected.
 */
function Chart({ title, note, series, format, range, included = [], ticks = [], chosen, last, onChoose }) {
  const filled = series.filter(({ points }) => points.length);
  const values = filled.flatMap(({ points }) => points.map(([, value]) => value));
  if (!values.length)
    return html`<figure class="chart"><figcaption>${title}</figcaption><p class="detail">No values.</p></figure>`;
  const [low, middle, high] = range
    ? [range[0], (range[0] + range[1]) / 2, range[1]]
    : ticksOf([...values, ...included]);
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
      ${[low, middle, high].map(
        (value) => html`<g>
        <line class="chart-grid" x1=${LEFT} x2=${end} y1=${y(value)} y2=${y(value)} />
        <text class="chart-tick" x=${LEFT - 6} y=${y(value)} dy="0.35em" text-anchor="end">${format(value)}</text>
      </g>`,
      )}
      ${ticks.map((iteration) => html`<line class="chart-promoted" x1=${x(iteration)} x2=${x(iteration)} y1=${foot} y2=${foot + 4} />`)}
      ${named.map((iteration) => html`<text class="chart-tick" x=${x(iteration)} y=${HEIGHT - 5} text-anchor=${iteration === last && last > 1 ? "end" : "middle"}>${iteration}</text>`)}
      ${chosen >= 1 && html`<line class="chart-chosen" x1=${x(chosen)} x2=${x(chosen)} y1=${TOP} y2=${foot} />`}
      ${filled.map(
        ({ label: name, points, isSecond }) => html`<g key=${name} class="series series-${isSecond ? 1 : 0}">
        <path d=${pathOf(thinned(points, x), x, y)} />
        ${(points.length <= FEW && points.length < last ? points : points.slice(-1)).map(([at, value]) => html`<circle cx=${x(at)} cy=${y(value)} r="2.6" />`)}
      </g>`,
      )}
      ${spaced(
        filled.map(({ label: name, points }) => ({ name, value: points.at(-1)[1], at: y(points.at(-1)[1]) })),
        TOP + 4,
        foot,
      ).map(
        ({ name, value, at }) => html`<g>
        <text class="chart-last" x=${end + 8} y=${at + 2}>${format(value)}</text>
        <text class="chart-label" x=${end + 8} y=${at + 12}>${name}</text>
      </g>`,
      )}
    </svg>
    <details class="as-table"><summary aria-label="${title} as a table">as a table</summary><${Table} series=${filled} format=${format} title=${title} /></details>
  </figure>`;
}

const pathOf = (points, x, y) =>
  points.map(([at, value], k) => `${k ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");

function Table({ series, format, title }) {
  const rows = [...new Set(series.flatMap(({ points }) => points.map(([iteration]) => iteration)))].sort(
    (a, b) => b - a,
  );
  const maps = series.map(({ points }) => new Map(points));
  return html`<table aria-label=${title}>
    <thead><tr><th scope="col">iteration</th>${series.map(({ label }) => html`<th scope="col">${label}</th>`)}</tr></thead>
    <tbody>${rows.slice(0, MOST_ROWS).map((iteration) => html`<tr><th scope="row">${iteration}</th>${maps.map((map) => html`<td>${map.has(iteration) ? format(map.get(iteration)) : ""}</td>`)}</tr>`)}</tbody>
  </table>`;
}

const STEPS = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 10];
const MANY = 400; // points
const LINE = 24; // height of a label with its name

/** Least, middle and greatest value of an axis: round numbers around the values. It begins at 0 unless that wastes much. */
function ticksOf(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const isNearZero = least >= 0 && least < 0.6 * most;
  const low = isNearZero || least === most ? Math.min(0, least) : least;
  const step = roundUp((most - low) / 2 || 1);
  const from = low === 0 ? 0 : Math.floor(low / step) * step;
  const width = from + 2 * step >= most - 1e-12 ? step : roundUp((most - from) / 2);
  return [from, from + width, from + 2 * width];
}

function roundUp(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return power * STEPS.find((step) => step * power >= number - 1e-12);
}

/** At most two points a pixel: the least and the greatest value there. */
function thinned(points, x) {
  if (points.length < MANY) return points;
  const columns = new Map();
  for (const point of points) {
    const column = Math.round(x(point[0]));
    const seen = columns.get(column) ?? [point, point];
    columns.set(column, [point[1] < seen[0][1] ? point : seen[0], point[1] > seen[1][1] ? point : seen[1]]);
  }
  return [...columns.values()].flatMap(([least, most]) =>
    least === most ? [least] : [least, most].sort((a, b) => a[0] - b[0]),
  );
}

/** Moves labels at heights `at` apart from each other, between `top` and `foot`. */
function spaced(labels, top, foot) {
  const placed = labels
    .map((label) => ({ ...label, at: Math.max(top, Math.min(foot - 10, label.at)) }))
    .sort((a, b) => a.at - b.at);
  for (let k = 1; k < placed.length; k++) placed[k].at = Math.max(placed[k].at, placed[k - 1].at + LINE);
  for (let k = placed.length - 1, limit = foot - 4; k >= 0; k--, limit -= LINE)
    placed[k].at = Math.min(placed[k].at, limit);
  return placed;
}

const percent = (value) => `${Math.round(100 * value)}%`;
const whole = (value) => Math.round(value).toLocaleString("en-US");
const two = (value) => value.toFixed(2);
const brief = (value) => (value < 10 && value % 1 ? value.toFixed(1) : whole(value));

const CHARTS = [
  { title: "Rating", note: "ticks: promoted", format: whole, included: [0], series: [["Elo", "gate/rating"]] },
  {
    title: "Losses",
    format: two,
    series: [
      ["policy", "train/policy_loss"],
      ["value", "train/value_loss"],
    ],
  },
  {
    title: "First choice agrees with search",
    format: percent,
    range: [0, 1],
    series: [["agree", "fresh/policy_agreement"]],
  },
  {
    title: "Mistakes, solved positions",
    format: percent,
    series: [
      ["search", "benchmark/search_mistakes"],
      ["net", "benchmark/net_mistakes"],
    ],
  },
  {
    title: "Self-play results",
    format: percent,
    range: [0, 1],
    series: [
      ["first", "selfplay/first_player_score"],
      ["draws", "selfplay/draws"],
    ],
  },
  {
    title: "Seconds per iteration",
    format: brief,
    series: [
      ["train", "time/train_s"],
      ["play", "time/play_s"],
    ],
  },
];

export function Charts() {
  const { watch } = useApp();
  const { rows } = watch.metrics;
  const promoted = rows.filter((row) => row["gate/is_promoted"]).map((row) => row.iteration);
  const pointsOf = (key) => rows.filter((row) => Number.isFinite(row[key])).map((row) => [row.iteration, row[key]]);
  return html`<div class="charts">
    ${CHARTS.map(
      ({ series, ...chart }) => html`<${Chart}
      ...${chart}
      key=${chart.title}
      series=${series.map(([label, key], k) => ({ label, points: pointsOf(key), isSecond: k > 0 }))}
      ticks=${chart.title === "Rating" ? promoted : []}
      chosen=${watch.chosen}
      last=${watch.last}
      onChoose=${watch.chooseIteration}
    />`,
    )}
  </div>`;
}
