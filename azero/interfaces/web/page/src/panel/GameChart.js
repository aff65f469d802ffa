// The chart of a game. Its areas have the colours of the players and never turn over; a click goes to a ply.

import { html, useApp, useState } from "../html.js";
import { percentsOf } from "../score.js";

/** The gauge beside the board: the first player from below, draws in the middle, the second player from above. */
export function Gauge({ opinion }) {
  const { players } = useApp().session.game;
  if (!opinion) return html`<div class="gauge" aria-hidden="true"></div>`;
  const { first, draw } = sharesOf(opinion);
  const percent = (share) => `${100 * share}%`;
  return html`<div class="gauge" aria-hidden="true">
    <span class="gauge-part area-${players[1].colour}" style=${{ height: percent(1 - first - draw) }}></span>
    <span class="gauge-part area-draw" style=${{ height: percent(draw) }}></span>
    <span class="gauge-part area-${players[0].colour}" style=${{ height: percent(first) }}></span>
    <span class="gauge-tick" style=${{ bottom: percent(heightOf(opinion)) }}></span>
  </div>`;
}

/**
 * Returns {first, draw} in [0, 1] of an opinion {value, outcomes}, both the first player's. An agent that only knows a
 * value gets two areas.
 */
function sharesOf({ value, outcomes }) {
  if (outcomes) return { first: outcomes[0], draw: outcomes[1] };
  return { first: (1 + value) / 2, draw: 0 };
}

/** The first player's expected score in [0, 1]. */
const heightOf = ({ value }) => (1 + value) / 2;

/** How many plies the chart shows: the whole of a game that is over, and some room to play on otherwise. */
function extentOf(length, maxPlies, isOver) {
  if (isOver) return Math.max(1, length);
  if (maxPlies && maxPlies <= 64) return Math.max(length, maxPlies);
  const steps = [20, 30, 40, 60, 90, 120, 160, 200, 300, 400];
  const roomy = steps.find((step) => step >= 1.4 * length) ?? Math.ceil(1.2 * length);
  return Math.max(length, 1, Math.min(roomy, maxPlies || roomy));
}

/** Runs of consecutive plies with an opinion: [[from, to], ...]. */
function runsOf(opinions) {
  const runs = [];
  opinions.forEach((opinion, ply) => {
    if (!opinion) return;
    const last = runs.at(-1);
    if (last && last[1] === ply - 1) last[1] = ply;
    else runs.push([ply, ply]);
  });
  return runs;
}

/**
 * Returns polygons as texts of points, in a box of `width` by 100, y down: [{first, draw, second, lines}].
 *
 * A lone ply is as wide as one ply. `lines` are the borders between the areas.
 */
function areasOf(opinions, extent, width = 1000) {
  const x = (ply) => (width * Math.min(Math.max(ply, 0), extent)) / extent;
  const y = (share) => 100 * (1 - share);
  return runsOf(opinions).map(([from, to]) => {
    const points = [];
    for (let ply = from; ply <= to; ply++) points.push({ x: x(ply), ...sharesOf(opinions[ply]) });
    if (from === to) points.splice(0, 1, { ...points[0], x: x(from - 0.5) }, { ...points[0], x: x(to + 0.5) });
    const low = points.map((point) => [point.x, y(point.first)]);
    const high = points.map((point) => [point.x, y(point.first + point.draw)]);
    const [left, right] = [points[0].x, points.at(-1).x];
    const text = (list) => list.map(([a, b]) => `${round(a)},${round(b)}`).join(" ");
    const hasDraws = points.some((point) => point.draw > 0.001);
    return {
      first: text([[left, 100], ...low, [right, 100]]),
      draw: hasDraws ? text([...low, ...[...high].reverse()]) : null,
      second: text([[left, 0], ...high, [right, 0]]),
      lines: hasDraws ? [text(low), text(high)] : [text(low)],
    };
  });
}

const round = (number) => Math.round(100 * number) / 100;

/** The ply at a place of the chart, `fraction` in [0, 1] from the left, no later than the line's end. */
const plyAt = (fraction, extent, length) => Math.max(0, Math.min(length, Math.round(fraction * extent)));

const AREA = 1000; // units of the drawing's width

/**
 * Props:
 *   opinions: one a ply from 0, null where nothing is known.
 *   ply, length: the current ply, and the last of the line.
 *   isOver: whether the game is, for the width of the future.
 *   caption: below the current ply.
 *   second: the opinions of a second agent, shown as a line.
 *   errors: [{ply, player, mark}], as triangles on the side of who erred.
 *   onPly(ply): called by clicks and keys.
 */
export function GameChart({ opinions, ply, length, isOver, caption, second = null, errors = null, onPly }) {
  const [isTable, setTable] = useState(false);
  const { players, max_plies: maxPlies } = useApp().session.game;
  const extent = extentOf(length, maxPlies, isOver);
  const left = (at) => `${(100 * at) / extent}%`;
  const here = opinions[ply];
  const pick = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    onPly(plyAt((event.clientX - box.left) / box.width, extent, length));
  };
  const onKeyDown = (event) => {
    const to = {
      ArrowLeft: ply - 1,
      ArrowRight: ply + 1,
      ArrowDown: ply - 1,
      ArrowUp: ply + 1,
      PageUp: ply - 10,
      PageDown: ply + 10,
      Home: 0,
      End: length,
    }[event.key];
    if (to === undefined || event.shiftKey) return;
    onPly(Math.max(0, Math.min(length, to)));
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="chart ${errors ? "has-errors" : ""}">
    ${errors && html`<${Errors} errors=${errors.filter(({ player }) => player === 1)} side="above" left=${left} onPly=${onPly} />`}
    <div
      class="chart-plot"
      role="slider"
      tabindex="0"
      aria-label="Ply"
      aria-valuemin="0"
      aria-valuemax=${length}
      aria-valuenow=${ply}
      aria-valuetext=${`${caption}${here ? `, ${sentenceOf(players, here)}` : ""}`}
      onClick=${pick}
      onKeyDown=${onKeyDown}
    >
      <svg viewBox="0 0 ${AREA} 100" preserveAspectRatio="none" aria-hidden="true" focusable="false">
        ${areasOf(opinions, extent, AREA).map(
          (area, k) => html`<g key=${k}>
          <polygon class="area-${players[1].colour}" points=${area.second} />
          ${area.draw && html`<polygon class="area-draw" points=${area.draw} />`}
          <polygon class="area-${players[0].colour}" points=${area.first} />
          ${area.lines.map((points) => html`<polyline class="area-line" points=${points} />`)}
        </g>`,
        )}
        <line class="chart-half" x1="0" y1="50" x2=${AREA} y2="50" />
        ${second && html`<${SecondLine} opinions=${second} extent=${extent} />`}
      </svg>
      <span class="chart-now" style=${{ left: left(ply) }}></span>
      ${here && html`<span class="chart-dot" style=${{ left: left(ply), bottom: `${100 * heightOf(here)}%` }}></span>`}
    </div>
    ${errors && html`<${Errors} errors=${errors.filter(({ player }) => player === 0)} side="below" left=${left} onPly=${onPly} />`}
    <div class="chart-foot">
      <span>0</span>
      <span class="chart-caption" style=${{ left: captionPlace(ply, extent) }}>${caption}</span>
      <button class="as-table" aria-expanded=${String(isTable)} onClick=${() => setTable(!isTable)}>as a table</button>
      <span>${extent}</span>
    </div>
    ${isTable && html`<${AsTable} ...${{ opinions, ply, onPly }} />`}
  </div>`;
}

/** The caption's centre: below the ply, but clear of the other words of that row. */
const captionPlace = (ply, extent) => `clamp(92px, ${(100 * ply) / extent}%, calc(100% - 200px))`;

function SecondLine({ opinions, extent }) {
  const points = opinions.map((opinion, ply) => opinion && `${(AREA * ply) / extent},${100 * (1 - heightOf(opinion))}`);
  return html`<polyline class="second-line" points=${points.filter(Boolean).join(" ")} />`;
}

/** Triangles with glyphs; above the chart for the second player, below it for the first. */
const Errors = ({ errors, side, left, onPly }) => html`<div class="errors errors-${side}" aria-hidden="true">
  ${errors.map(
    ({
      ply,
      mark,
    }) => html`<span class="error-mark glyph-text" data-mark=${mark} style=${{ left: left(ply) }} onClick=${() => onPly(ply)}>
    ${side === "above" ? html`<b>${mark}</b><i>▼</i>` : html`<i>▲</i><b>${mark}</b>`}
  </span>`,
  )}
</div>`;

function sentenceOf(players, opinion) {
  const { first, draw } = sharesOf(opinion);
  const [one, two] = players.map(({ name }) => name);
  if (draw < 0.005) {
    const [low, high] = percentsOf([heightOf(opinion), 1 - heightOf(opinion)]);
    return `${one} ${low} %, ${two} ${high} %`;
  }
  const [wins, draws, losses] = percentsOf([first, draw, 1 - first - draw]);
  return `${one} wins ${wins} %, draws ${draws} %, ${two} wins ${losses} %`;
}

function AsTable({ opinions, ply, onPly }) {
  const { players } = useApp().session.game;
  const known = opinions.map((opinion, at) => ({ opinion, at })).filter(({ opinion }) => opinion);
  return html`<div class="chart-table"><table>
    <caption class="hidden">Scores by ply</caption>
    <thead><tr><th scope="col">ply</th><th scope="col">${players[0].name}</th><th scope="col">draws</th><th scope="col">${players[1].name}</th></tr></thead>
    <tbody>
      ${known.map(({ opinion, at }) => {
        const { first, draw } = sharesOf(opinion);
        const [wins, draws, losses] = percentsOf([first, draw, 1 - first - draw], 1);
        return html`<tr key=${at} aria-current=${at === ply ? "step" : null}>
          <th scope="row"><button class="link" onClick=${() => onPly(at)}>${at}</button></th>
          <td>${wins}</td><td>${opinion.outcomes ? draws : "–"}</td><td>${losses}</td>
        </tr>`;
      })}
    </tbody>
  </table></div>`;
}
