// Keys: each view names its own; they never act in text fields, and can be switched off.

import { useEffect, useRef } from "./html.js";
import { settings } from "./settings.js";

export const stepKeys = (session) => ({
  arrowleft: ["back", () => void session.back()],
  k: ["back", () => void session.back()],
  arrowright: ["forward", () => void session.forward()],
  j: ["forward", () => void session.forward()],
  home: ["first move", () => void session.first()],
  end: ["last move", () => void session.last()],
});

const ACTIVE = new Set(); // refs to the keys of all components that are shown

let isByPointer = false; // whether the focus is where it is by a click
document.addEventListener("pointerdown", () => (isByPointer = true), true);
document.addEventListener("keydown", (event) => event.key === "Tab" && (isByPointer = false), true);

/** Whether keys belong to what has the focus: it came there by Tab, not by a click. */
export const isFocusByKeys = () => !isByPointer;

/** "shift+r" of an event; plain names for keys that are no letters. */
function nameOfKey(event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const isShifted = event.shiftKey && (event.key.length > 1 || /[a-z]/i.test(event.key));
  return (isShifted ? "shift+" : "") + (key === " " ? "space" : key.toLowerCase());
}

/** Whether Space presses what has the focus, as people expect who reached it by Tab. */
const takesSpace = (target) => isFocusByKeys() && target.closest?.("button, [role=treeitem]");

const isText = (target) => target.closest?.("input, textarea, select, [contenteditable=true]") !== null;

/**
 * Listens for keys while the component is shown. `keys` maps a name, e.g. "shift+r", to [what it does, handler, acts].
 * Where `acts` is false, the key is as if it were not there. A handler that returns false leaves the event to others.
 * Components that are shown together share no key.
 */
export function useKeys(keys) {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    ACTIVE.add(latest);
    const listener = (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isText(event.target)) return;
      const name = nameOfKey(event);
      if (!settings.get("keys") && name.replace("shift+", "").length === 1) return;
      if (event.target.closest?.("[role=dialog]") || (name === "space" && takesSpace(event.target))) return;
      const found = latest.current[name];
      if (!found || found[2] === false || found[1](event) === false) return;
      event.preventDefault();
      if (name === "space") event.target.blur?.(); // otherwise letting go of the key would press a button
    };
    document.addEventListener("keydown", listener);
    return () => {
      ACTIVE.delete(latest);
      document.removeEventListener("keydown", listener);
    };
  }, []);
}

/** The keys that act now: [[names, what they do], ...]. Those without a text are left out. */
export function activeKeys() {
  const byText = new Map();
  for (const { current } of ACTIVE) {
    for (const [name, [text, , acts]] of Object.entries(current))
      if (text && acts !== false) byText.set(text, [...(byText.get(text) ?? []), name]);
  }
  return [...byText].map(([text, names]) => [names, text]);
}
