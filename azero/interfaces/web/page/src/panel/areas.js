// The chart of a game as areas: first player from below, draws in the middle, second player from above. Pure.

/**
 * Returns {first, draw} in [0, 1] of an opinion {value, outcomes}, both the first player's. An agent that only knows a
 * value gets two areas.
 */
export function sharesOf({ value, outcomes }) {
  if (outcomes) return { first: outcomes[0], draw: outcomes[1] };
  return { first: (1 + value) / 2, draw: 0 };
}

/** The first player's expected score in [0, 1]. */
export const heightOf = ({ value }) => (1 + value) / 2;

/** How many plies the chart shows: the whole of a game that is over, and some room to play on otherwise. */
export function extentOf(length, maxPlies, isOver) {
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
export function areasOf(opinions, extent, width = 1000) {
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
export const plyAt = (fraction, extent, length) => Math.max(0, Math.min(length, Math.round(fraction * extent)));
