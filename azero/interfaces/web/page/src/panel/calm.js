// Calm: how often the panel redraws, and when rows change places. Pure, so that tests can set the clock.

const REDRAW_MS = 200;
const REORDER_MS = 1000;

/**
 * Passes the newest of many values on, the first at once and then at most one in `interval` milliseconds.
 *
 * `now` returns milliseconds; `later(callback, ms)` is setTimeout and `cancel` is clearTimeout.
 */
export class Pacer {
  constructor(
    emit,
    { interval = REDRAW_MS, now = () => performance.now(), later = setTimeout, cancel = clearTimeout } = {},
  ) {
    this.emit = emit;
    this.interval = interval;
    this.now = now;
    this.later = later;
    this.cancel = cancel;
    this.last = -Infinity;
    this.timer = null;
    this.value = undefined;
  }

  push(value) {
    this.value = value;
    const wait = this.last + this.interval - this.now();
    if (this.timer !== null) return;
    if (wait <= 0) this.flush();
    else this.timer = this.later.call(globalThis, () => this.flush(), wait);
  }

  /** Passes what waits on now. */
  flush() {
    this.clear();
    this.last = this.now();
    this.emit(this.value);
  }

  /** Forgets what waits. */
  clear() {
    if (this.timer !== null) this.cancel.call(globalThis, this.timer);
    this.timer = null;
  }
}

/** An order of rows that is calm. `key` names what the rows belong to, e.g. a position and a sorting. */
export const newOrder = () => ({ key: null, names: [], since: -Infinity });

/**
 * Returns the order of rows to show.
 *
 * A new key takes the wanted order at once. Otherwise rows change places at most once a second, and never while the
 * pointer or the focus is on them; new rows are put at the end, and rows that are no longer wanted go.
 */
export function settle(order, key, wanted, now, isHeld) {
  if (order.key !== key) return { key, names: wanted, since: now };
  const isSame = wanted.length === order.names.length && wanted.every((name, k) => name === order.names[k]);
  if (isSame) return order;
  if (!isHeld && now - order.since >= REORDER_MS) return { key, names: wanted, since: now };
  const known = new Set(wanted);
  const kept = order.names.filter((name) => known.has(name));
  const shown = new Set(kept);
  return { ...order, names: [...kept, ...wanted.filter((name) => !shown.has(name))] };
}
