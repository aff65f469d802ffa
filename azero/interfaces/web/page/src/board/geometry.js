// Where things lie: the part of the plane that a picture needs, and outlines of cells. Lengths are in sides of a cell.

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
  const around = (places, room) =>
    places.flatMap(([x, y]) => [
      [x - room, y - room],
      [x + room, y + room],
    ]);
  const xy = ({ x, y }) => [x, y];
  const points = [
    ...around(spun.cells.map(xy), ROOM.cell),
    ...around(
      spun.edges.flatMap(({ points: line }) => line),
      ROOM.edge,
    ),
    ...around(spun.labels.map(xy), ROOM.label),
  ];
  const [left, right] = [Math.min(...points.map(([x]) => x)), Math.max(...points.map(([x]) => x))];
  const [top, bottom] = [Math.min(...points.map(([, y]) => y)), Math.max(...points.map(([, y]) => y))];
  const cornered = mapped(spun, ([x, y]) => [x - left, y - top]);
  const cells = cornered.cells.map((cell) => ({ ...cell, tilt }));
  return { ...cornered, cells, width: right - left, height: bottom - top };
}

const MARGINS = {
  // left, top, right, bottom: of the ground around the cells
  holes: [0.22, 0.22, 0.22, 0.26],
  squares: [0.7, 0.5, 0.5, 0.7],
  felt: [0.7, 0.5, 0.5, 0.7],
  points: [0.7, 0.35, 0.35, 0.7],
  hexes: [0.05, 0.05, 0.05, 0.05],
  lines: [0.22, 0.1, 0.1, 0.22],
  tree: [0.1, 0.1, 0.1, 0.1],
  plain: [0.7, 0.5, 0.5, 0.7],
};

const DROP_ROW = 0.96;

/** The ground's rectangle {x, y, width, height}. */
export function groundOf(picture) {
  const [left, top, right, bottom] = MARGINS[picture.style] ?? MARGINS.plain;
  const sides = { width: picture.width + left + right, height: picture.height + top + bottom };
  if (picture.style !== "tree") return { x: -left, y: -top, ...sides };
  const side = Math.max(sides.width, sides.height); // a tree grows on all of the stage
  return { x: (picture.width - side) / 2, y: -top, width: side, height: side };
}

/** The square that the stage shows, {x, y, side}: the ground and, above it, the row from which discs fall. */
export function stageOf(picture) {
  const ground = groundOf(picture);
  const above = picture.drops ? DROP_ROW : 0;
  const height = ground.height + above;
  const side = Math.max(ground.width, height);
  const x = ground.x - (side - ground.width) / 2;
  return { x, y: ground.y - above - (side - height) / 2, side };
}

/** The box of a cell that takes clicks, {x, y, width, height}. The top holes reach up into the drop row. */
export function boxOf(picture, index) {
  const { x, y, shape } = picture.cells[index];
  if (shape === "hexagon") return { x: x - 0.5, y: y - 0.577, width: 1, height: 1.155 };
  const isTop = picture.drops?.some((column) => column.at(-1) === index);
  const up = isTop ? DROP_ROW + MARGINS.holes[1] : 0;
  return { x: x - 0.5, y: y - 0.5 - up, width: 1, height: 1 + up };
}

/** The points of a hexagon with a point at the top, or turned clockwise by the cell's `tilt` in degrees. */
export function hexagon({ x, y, tilt = 0 }, radius = 0.5774) {
  const corners = [0, 1, 2, 3, 4, 5].map((k) => (Math.PI / 3) * k + Math.PI / 6 + (tilt * Math.PI) / 180);
  return corners.map((angle) => `${x + radius * Math.cos(angle)},${y + radius * Math.sin(angle)}`).join(" ");
}

/** The path of a part of a circle, clockwise from the top. */
export function arc(x, y, radius, share) {
  if (share <= 0) return "";
  const angle = 2 * Math.PI * Math.min(share, 0.9999);
  const end = `${x + radius * Math.sin(angle)} ${y - radius * Math.cos(angle)}`;
  return `M${x} ${y - radius} A${radius} ${radius} 0 ${share > 0.5 ? 1 : 0} 1 ${end}`;
}
