// Values as people read them: scores in percent, proofs in words, always of a named player.

/** Score in percent of a value in [-1, 1]: a win is 100, a draw 50. */
export const scoreOf = (value) => 50 + 50 * value;

/** The value for the first player of a value for the player to move. */
export const forFirst = (value, toMove) => (toMove === 1 ? -value : value);

/** "46.3", or "46" without digits. */
export const formatScore = (value, digits = 1) => scoreOf(value).toFixed(digits);

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
