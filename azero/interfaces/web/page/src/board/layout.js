// How a picture lies on the stage: seen from either side, and tilted where that makes it larger.

const TILT = 15; // degrees, by which a rhombus of hexagons has its long diagonal on that of the stage
const ROOM = { cell: 0.6, edge: 0.1, label: 0.32 }; // around centres and lines

/** The picture as it is drawn. */
export function laid(picture, isTurned) {
  const seen = isTurned && canTurn(picture) ? turned(picture) : picture;
  if (seen.style !== "hexes") return seen;
  const [flat, tilted] = [moved(seen, 0), moved(seen, TILT)];
  return Math.max(tilted.width, tilted.height) < Math.max(flat.width, flat.height) ? tilted : flat;
}

/** Whether a picture may be turned: discs do not fall upwards, and a tree grows down. */
const canTurn = (picture) => !picture.drops && picture.style !== "tree";

/** The picture with all its points moved by `point`, which takes and returns [x, y]. */
function mapped(picture, point) {
  const place = (each) => {
    const [x, y] = point([each.x, each.y]);
    return { ...each, x, y };
  };
  return {
    ...picture,
    cells: picture.cells.map(place),
    labels: picture.labels.map(place),
    texts: picture.texts.map(place),
    lines: picture.lines.map(([x1, y1, x2, y2]) => [...point([x1, y1]), ...point([x2, y2])]),
    dots: picture.dots.map(point),
    edges: picture.edges.map((edge) => ({ ...edge, points: edge.points.map(point) })),
  };
}

/** The picture seen from the other side. Labels beside rows and columns stay where they are read. */
function turned(picture) {
  const { width, height, style } = picture;
  const whole = mapped(picture, ([x, y]) => [width - x, height - y]);
  const labels = picture.labels.map((label) => ({
    text: label.text,
    x: label.x < 0 || label.x > width ? label.x : width - label.x,
    y: label.y < 0 || label.y > height ? label.y : height - label.y,
  }));
  const rows = [...picture.rows].reverse().map((row) => [...row].reverse());
  return { ...whole, labels: style === "hexes" ? whole.labels : labels, rows };
}

/** The picture turned clockwise by an angle in degrees, with its box and labels within [0, width] and [0, height]. */
function moved(picture, tilt) {
  const [cos, sin] = [Math.cos((tilt * Math.PI) / 180), Math.sin((tilt * Math.PI) / 180)];
  const spun = mapped(picture, ([x, y]) => [x * cos - y * sin, x * sin + y * cos]);
  const around = (places, room) => places.flatMap(([x, y]) => [[x - room, y - room], [x + room, y + room]]);
  const xy = ({ x, y }) => [x, y];
  const points = [
    ...around(spun.cells.map(xy), ROOM.cell),
    ...around(spun.edges.flatMap(({ points: line }) => line), ROOM.edge),
    ...around(spun.labels.map(xy), ROOM.label),
  ];
  const [left, right] = [Math.min(...points.map(([x]) => x)), Math.max(...points.map(([x]) => x))];
  const [top, bottom] = [Math.min(...points.map(([, y]) => y)), Math.max(...points.map(([, y]) => y))];
  const cornered = mapped(spun, ([x, y]) => [x - left, y - top]);
  const cells = cornered.cells.map((cell) => ({ ...cell, tilt }));
  return { ...cornered, cells, width: right - left, height: bottom - top };
}
