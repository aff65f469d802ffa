// What agents have said of positions, so that the chart, the gauge and the table have it when the user comes back.

import { opinionOf } from "./words.js";

const MOST = 3000; // opinions
const MOST_UPDATES = 200; // whole updates

export class Opinions {
  constructor() {
    this.opinions = new Map();
    this.updates = new Map();
  }

  static key = (agent, game, moves) => `${agent} ${game} ${moves.join(" ")}`;

  /** Notes an update; fewer simulations never replace more. */
  note(key, update) {
    const known = this.opinions.get(key);
    const opinion = opinionOf(update);
    if (!known || known.simulations <= opinion.simulations) put(this.opinions, key, opinion, MOST);
    const before = this.updates.get(key);
    if (!before || before.simulations <= update.simulations) put(this.updates, key, update, MOST_UPDATES);
  }

  opinion = (key) => this.opinions.get(key) ?? null;
  update = (key) => this.updates.get(key) ?? null;
}

function put(map, key, value, most) {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value);
}
