// Two clocks with an increment. They stand still until the first move.

/**
 * `limit` is {minutes, increment} with the increment in seconds; `left` has the milliseconds of both players if the
 * clocks have run before, otherwise null. `onFlag(player)` is called when time is up.
 */
export class Clocks {
  constructor(limit, left, onFlag) {
    this.hasBegun = left !== null;
    this.left = left ? [...left] : [limit.minutes * 60_000, limit.minutes * 60_000];
    this.increment = limit.increment * 1000;
    this.onFlag = onFlag;
    this.running = null;
  }

  /** Lets the clock of a player run. */
  run(player) {
    if (this.running?.player === player) return;
    this.stop();
    this.hasBegun = true;
    this.running = { player, since: performance.now() };
    this.timer = setTimeout(() => this.flag(player), this.left[player]);
  }

  flag(player) {
    this.stop();
    this.left[player] = 0;
    this.onFlag(player);
  }

  stop() {
    clearTimeout(this.timer);
    if (this.running) this.left[this.running.player] = this.now(this.running.player);
    this.running = null;
  }

  /** A player's turn is over, and brings the increment, unless it was the first move of all. */
  gain(player) {
    if (this.hasBegun) this.left[player] += this.increment;
  }

  /** Milliseconds that a player has left. */
  now(player) {
    const passed = this.running?.player === player ? performance.now() - this.running.since : 0;
    return Math.max(0, this.left[player] - passed);
  }

  /** Milliseconds that both have left; null if the clocks have not run yet. */
  get both() {
    return this.hasBegun ? [this.now(0), this.now(1)] : null;
  }
}

/** "4:12", below ten seconds "9.8". */
export function formatClock(ms) {
  if (ms < 10_000) return (Math.floor(ms / 100) / 10).toFixed(1);
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
