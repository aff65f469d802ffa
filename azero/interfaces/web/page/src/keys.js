// Keys: each view names its own; they never act in text fields, and can be switched off.

import { useEffect, useRef } from "./html.js";
import { settings } from "./settings.js";

const ACTIVE = new Map(); // of all mounted components: key to {handler, text}

/** "shift+r" of an event; plain names for keys that are no letters. */
function nameOfKey(event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const isShifted = event.shiftKey && (event.key.length > 1 || /[a-z]/i.test(event.key));
  return (isShifted ? "shift+" : "") + (key === " " ? "space" : key.toLowerCase());
}

const isText = (target) => target.closest?.("input, textarea, select, [contenteditable=true]") !== null;

/**
 * Listens for keys while the component is shown. `keys` maps a name, e.g. "shift+r", to [what it does, handler]. A
 * handler that returns false leaves the event to others. Later components come first.
 */
export function useKeys(keys) {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const own = { get: () => latest.current };
    ACTIVE.set(own, true);
    const listener = (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isText(event.target)) return;
      const name = nameOfKey(event);
      if (!settings.get("keys") && name.replace("shift+", "").length === 1) return;
      if (event.target.closest?.("[role=dialog]") && !latest.current.inDialog) return;
      const found = latest.current[name];
      if (!found || found[1](event) === false) return;
      event.preventDefault();
    };
    document.addEventListener("keydown", listener);
    return () => {
      ACTIVE.delete(own);
      document.removeEventListener("keydown", listener);
    };
  }, []);
}

/** The keys that act now: [[names, what they do], ...]. Those without a text are left out. */
export function activeKeys() {
  const all = new Map(); // of names; the component that came last counts
  for (const own of ACTIVE.keys()) {
    for (const [name, entry] of Object.entries(own.get())) if (Array.isArray(entry) && entry[0]) all.set(name, entry[0]);
  }
  const byText = new Map();
  for (const [name, text] of all) byText.set(text, [...(byText.get(text) ?? []), name]);
  return [...byText].map(([text, names]) => [names, text]);
}
