// The six charts of a run.

import { html } from "../../html.js";
import { Chart } from "./Chart.js";

const percent = (value) => `${Math.round(100 * value)}%`;
const whole = (value) => Math.round(value).toLocaleString("en-US");
const two = (value) => value.toFixed(2);
const brief = (value) => (value < 10 && value % 1 ? value.toFixed(1) : whole(value));

const CHARTS = [
  { title: "Rating", note: "ticks: promoted", format: whole, series: [["Elo", "gate/rating"]] },
  { title: "Losses", format: two, series: [["policy", "train/policy_loss"], ["value", "train/value_loss"]] },
  { title: "First choice agrees with search", format: percent, range: [0, 1], series: [["agree", "fresh/policy_agreement"]] },
  { title: "Mistakes, solved positions", format: percent, series: [["search", "benchmark/search_mistakes"], ["net", "benchmark/net_mistakes"]] },
  { title: "Self-play results", format: percent, range: [0, 1], series: [["first", "selfplay/first_player_score"], ["draws", "selfplay/draws"]] },
  { title: "Seconds per iteration", format: brief, series: [["train", "time/train_s"], ["play", "time/play_s"]] },
];

export function Charts({ watch }) {
  const { rows } = watch.metrics;
  const promoted = rows.filter((row) => row["gate/is_promoted"]).map((row) => row.iteration);
  const pointsOf = (key) => rows.filter((row) => Number.isFinite(row[key])).map((row) => [row.iteration, row[key]]);
  return html`<div class="charts">
    ${CHARTS.map(({ series, ...chart }) => html`<${Chart}
      ...${chart}
      key=${chart.title}
      series=${series.map(([label, key], k) => ({ label, points: pointsOf(key), isSecond: k > 0 }))}
      ticks=${chart.title === "Rating" ? promoted : []}
      chosen=${watch.chosen}
      last=${watch.last}
      onChoose=${watch.chooseIteration}
    />`)}
  </div>`;
}
