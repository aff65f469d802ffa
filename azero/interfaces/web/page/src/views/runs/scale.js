// Round numbers for axes, places of labels, and fewer points than pixels.

const STEPS = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 10];
const MANY = 400; // points
const LINE = 24; // height of a label with its name

/** Least, middle and greatest value of an axis: round numbers around the values. It begins at 0 unless that wastes much. */
export function ticksOf(values) {
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
export function thinned(points, x) {
  if (points.length < MANY) return points;
  const columns = new Map();
  for (const point of points) {
    const column = Math.round(x(point[0]));
    const seen = columns.get(column) ?? [point, point];
    columns.set(column, [point[1] < seen[0][1] ? point : seen[0], point[1] > seen[1][1] ? point : seen[1]]);
  }
  return [...columns.values()].flatMap(([least, most]) => (least === most ? [least] : [least, most].sort((a, b) => a[0] - b[0])));
}

/** Moves labels at heights `at` apart from each other, between `top` and `foot`. */
export function spaced(labels, top, foot) {
  const placed = labels.map((label) => ({ ...label, at: Math.max(top, Math.min(foot - 10, label.at)) })).sort((a, b) => a.at - b.at);
  for (let k = 1; k < placed.length; k++) placed[k].at = Math.max(placed[k].at, placed[k - 1].at + LINE);
  for (let k = placed.length - 1, limit = foot - 4; k >= 0; k--, limit -= LINE) placed[k].at = Math.min(placed[k].at, limit);
  return placed;
}
