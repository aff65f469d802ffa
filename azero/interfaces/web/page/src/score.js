// Values as people read them: scores in percent, proofs in words, always of a named player.

/** Score in percent of a value in [-1, 1]: a win is 100, a draw 50. */
export const scoreOf = (value) => 50 + 50 * value;

/** The value for the first player of a value for the player to move. */
export const forFirst = (value, toMove) => (toMove === 1 ? -value : value);

/** "46.3", or "46" without digits. */
export const formatScore = (value, digits = 1) => scoreOf(value).toFixed(digits);

/** Shares of a whole in percent, as texts. They add up to 100: where rounding does not, the largest rests are rounded up. */
export function percentsOf(shares, digits = 0) {
  const unit = 10 ** digits;
  const exact = shares.map((share) => 100 * unit * share);
  const whole = exact.map(Math.floor);
  const left = 100 * unit - whole.reduce((sum, each) => sum + each, 0);
  const order = exact.map((each, k) => [each - whole[k], k]).sort((a, b) => b[0] - a[0]);
  for (const [, k] of order.slice(0, Math.max(0, left))) whole[k]++;
  return whole.map((each) => (each / unit).toFixed(digits));
}

/** "win 5", "draw", "loss 8" of a move with a proof; null without one. */
export function proofOf(move) {
  if (!move.proven) return null;
  return move.proven === "draw" || !move.proven_plies ? move.proven : `${move.proven} ${move.proven_plies}`;
}

/** 12480 as "12,480". */
export const formatCount = (number) => Math.round(number).toLocaleString("en-US");

/** The same in a narrow column: from a million on "2.54 M". */
export const formatVisits = (number) => (number < 1e6 ? formatCount(number) : `${(number / 1e6).toFixed(2)} M`);

/** The player whose turn is at `player`, from a game or a picture. */
export const nameOf = (game, player) => game.players[player]?.name ?? (player === 0 ? "First player" : "Second player");

/** The prior in percent: "31", "0.4" where it is below 1. */
export function priorText(prior) {
  const percent = 100 * prior;
  return percent > 0 && percent < 0.95 ? percent.toFixed(1) : percent.toFixed(0);
}
