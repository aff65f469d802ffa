// Where things lie: the part of the plane that a picture needs, and outlines of cells. Lengths are in sides of a cell.

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
