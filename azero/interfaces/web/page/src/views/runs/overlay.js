// What the board shows of a move: the search's policy, solid, beside the net's prior, outlined.

const LEAST = 0.01; // share of a move that is shown on other boards
const MOST = 8; // moves

/** Bars above the columns; on other boards marks: the number and the arc are the search's, the ring is the prior. */
export function overlayOf(thought, prior, position) {
  const { picture } = position;
  if (!thought && !prior) return {};
  const policy = thought?.policy ?? null;
  if (picture.drops) {
    return { bars: picture.actions.map(({ move, cells }) => ({ cell: cells[0], prior: prior?.[move] ?? null, policy: policy ? (policy[move] ?? 0) : null })) };
  }
  const shareOf = ({ move }) => (policy ?? prior)[move] ?? 0;
  const ranked = picture.actions.filter((action) => shareOf(action) >= LEAST).sort((a, b) => shareOf(b) - shareOf(a));
  const marks = ranked.slice(0, MOST).map((action, k) => ({
    cells: action.cells,
    text: String(Math.round(100 * shareOf(action))),
    share: policy?.[action.move] ?? 0,
    prior: prior?.[action.move] ?? 0,
    kind: k || !policy ? "other" : "best",
  }));
  return { marks, hidesTargets: true };
}
