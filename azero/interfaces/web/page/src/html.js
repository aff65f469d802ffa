// Preact with htm: the components of the page are functions that return html`...`. They follow what emits changes.
// A component gets what is its own as props, and the state of the page by `useApp`.

import { useContext, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "../vendor/hooks.mjs";
import htm from "../vendor/htm.mjs";
import { createContext, Fragment, h, render } from "../vendor/preact.mjs";

export { Fragment, render, useEffect, useLayoutEffect, useMemo, useRef, useState };
export const html = htm.bind(h);

export const AppContext = createContext(null);

/** The state of the page: an `AppState`. */
export const useApp = () => useContext(AppContext);

/** What others listen to: the session, an analysis, the settings. */
export class Emitter {
  #listeners = new Set();

  /** Calls `listener` at each change; returns a function that ends it. */
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed() {
    this.#listeners.forEach((listener) => listener(this));
  }
}

/** Returns a function that renders the component again. */
export const useRender = () => useReducer((count) => count + 1, 0)[1];

/** Renders again at each change of an emitter. It listens before the page is painted, so that it misses none. */
export function useChanges(emitter) {
  const render = useRender();
  useLayoutEffect(() => emitter.subscribe(render), [emitter]);
  return emitter;
}
