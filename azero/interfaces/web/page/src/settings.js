// Settings that last: in localStorage where the browser allows it, otherwise until the page goes.

import { Emitter } from "./html.js";

const KEY = "azero";
const DEFAULTS = {
  theme: "auto", // auto, light, dark
  keys: true, // single keys act
  sound: false,
  turned: {}, // games whose board is turned, by family
  marks: "top", // none, best, top, all
  markNumbers: "score", // score, value, prior: what a mark says
  heat: "none", // none, visits, prior
  showsOwnership: false,
  showsLine: false, // of the best move
};

let current = read();

/** What is stored, as far as it has the form of a setting: other programs and versions may have written there. */
function read() {
  try {
    const stored = Object.entries(JSON.parse(localStorage.getItem(KEY) ?? "{}"));
    return {
      ...DEFAULTS,
      ...Object.fromEntries(stored.filter(([name, value]) => value !== null && typeof value === typeof DEFAULTS[name])),
    };
  } catch {
    return { ...DEFAULTS };
  }
}

class Settings extends Emitter {
  get(name) {
    return current[name];
  }

  set(name, value) {
    current = { ...current, [name]: value };
    try {
      localStorage.setItem(KEY, JSON.stringify(current));
    } catch {
      // a private window: the setting lasts until the page goes
    }
    this.changed();
  }
}

export const settings = new Settings();

const theme = () => {
  const chosen = settings.get("theme");
  if (chosen !== "auto") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
};

export function applyTheme() {
  document.documentElement.dataset.theme = theme();
}
