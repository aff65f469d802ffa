// What the board shows of a move: the search's policy, solid, beside the net's prior, outlined.

const LEAST = 0.02; // share of a move that is shown on other boards
const MOST = 8; // moves

/** Bars above the columns. On other boards marks: number and arc are the search's, the dashed arc and the number below it the prior's. */
export function overlayOf(thought, prior, position) {
  const { picture } = position;
  if (!thought && !prior) return {};
  const policy = thought?.policy ?? null;
  if (picture.drops) {
    return { bars: picture.actions.map(({ move, cells }) => ({ cell: cells[0], prior: prior?.[move] ?? null, policy: policy ? (policy[move] ?? 0) : null })) };
  }
  const shareOf = ({ move }) => policy?.[move] ?? 0;
  const priorOf = ({ move }) => prior?.[move] ?? 0;
  const weight = (action) => Math.max(shareOf(action), priorOf(action));
  const ranked = picture.actions
    .filter((action) => weight(action) >= LEAST)
    .sort((a, b) => shareOf(b) - shareOf(a) || priorOf(b) - priorOf(a))
    .slice(0, MOST);
  const percent = (share) => String(Math.round(100 * share));
  const marks = ranked.map((action, k) => ({
    cells: action.cells,
    text: policy ? percent(shareOf(action)) : "",
    note: prior ? percent(priorOf(action)) : "",
    share: shareOf(action),
    prior: priorOf(action),
    kind: k || !policy ? "other" : "best",
  }));
  return { marks, hidesTargets: true };
}
