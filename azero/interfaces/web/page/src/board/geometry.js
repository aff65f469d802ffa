// Where things lie: the part of the plane that a picture needs, and outlines of cells. Lengths are in sides of a cell.

const MARGINS = {
  // left, top, right, bottom: of the ground around the cells
  holes: [0.35, 0.32, 0.35, 0.5],
  squares: [0.62, 0.5, 0.5, 0.62],
  felt: [0.62, 0.5, 0.5, 0.62],
  points: [0.62, 0.35, 0.35, 0.62],
  hexes: [0.75, 0.85, 0.75, 0.75],
  lines: [0.15, 0.15, 0.15, 0.15],
  tree: [0.1, 0.1, 0.1, 0.1],
  plain: [0.7, 0.5, 0.5, 0.7],
};

const DROP_ROW = 0.88;

/** The ground's rectangle {x, y, width, height}. */
export function groundOf(picture) {
  const [left, top, right, bottom] = MARGINS[picture.style] ?? MARGINS.plain;
  return { x: -left, y: -top, width: picture.width + left + right, height: picture.height + top + bottom };
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

/** The points of a hexagon with a point at the top. */
export function hexagon({ x, y }, radius = 0.5774) {
  const corners = [0, 1, 2, 3, 4, 5].map((k) => (Math.PI / 3) * k + Math.PI / 6);
  return corners.map((angle) => `${x + radius * Math.cos(angle)},${y + radius * Math.sin(angle)}`).join(" ");
}

/** The path of a part of a circle, clockwise from the top. */
export function arc(x, y, radius, share) {
  if (share <= 0) return "";
  const angle = 2 * Math.PI * Math.min(share, 0.9999);
  const end = `${x + radius * Math.sin(angle)} ${y - radius * Math.cos(angle)}`;
  return `M${x} ${y - radius} A${radius} ${radius} 0 ${share > 0.5 ? 1 : 0} 1 ${end}`;
}

/** The picture seen from the other side. */
export function turned(picture) {
  const { width, height } = picture;
  const point = ([x, y]) => [width - x, height - y];
  const place = (each) => ({ ...each, x: width - each.x, y: height - each.y });
  return {
    ...picture,
    cells: picture.cells.map(place),
    labels: picture.labels.map((label) => ({
      text: label.text,
      x: label.x < 0 || label.x > width ? label.x : width - label.x,
      y: label.y < 0 || label.y > height ? label.y : height - label.y,
    })),
    texts: picture.texts.map(place),
    lines: picture.lines.map(([x1, y1, x2, y2]) => [...point([x1, y1]), ...point([x2, y2])]),
    dots: picture.dots.map(point),
    edges: picture.edges.map((edge) => ({ ...edge, points: edge.points.map(point) })),
    rows: [...picture.rows].reverse().map((row) => [...row].reverse()),
  };
}

/** Whether a picture may be turned: discs do not fall upwards, and a tree grows down. */
export const canTurn = (picture) => !picture.drops && picture.style !== "tree";
