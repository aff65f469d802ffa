// The views, in the order of the header. All but Play are loaded after the first board is shown.

import { html, useApp, useLayoutEffect, useRender } from "../html.js";
import { IS_REVIEW, published } from "../published.js";
import { PanelFrame, Stage } from "../shell/layout.js";
import { Play } from "./play/Play.js";

const IDLE_MS = 1500; // after which views are loaded that nobody has asked for yet

const ALL = [
  { id: "play", title: "Play", key: "p", View: Play, load: async () => {} },
  {
    id: "analyse",
    title: "Analyse",
    key: "a",
    ...later("Analyse", async () => (await import("./analyse/Analyse.js")).Analyse),
  },
  {
    id: "review",
    title: "Review",
    key: "r",
    ...later("Review", async () => (await import("./review/Review.js")).Review),
  },
  ...(published
    ? [] // a file has no runs
    : [{ id: "runs", title: "Runs", key: "w", ...later("Runs", async () => (await import("./runs/Runs.js")).Runs) }]),
  { id: "learn", title: "Learn", key: "l", ...later("Learn", async () => (await import("./learn/Learn.js")).Learn) },
];

/** A file with a review shows nothing else. */
export const VIEWS = IS_REVIEW ? ALL.filter(({ id }) => id === "review") : ALL;

/** The view with this id; Play if there is none. */
export const viewOf = (id) => VIEWS.find((view) => view.id === id) ?? VIEWS[0];

/** Loads the other views while nothing else happens, so that they work when the server is away. */
export const loadViewsSoon = () => setTimeout(() => VIEWS.forEach(({ load }) => load().catch(() => {})), IDLE_MS);

/** A component whose module is loaded when it is first shown; until then the board is. */
function later(name, load) {
  let Found = null;
  const loadNow = async () => {
    Found = await load();
  };
  const View = () => {
    const { fail } = useApp();
    const render = useRender();
    useLayoutEffect(() => void (Found ?? loadNow().then(render, fail)), []);
    if (Found) return html`<${Found} />`;
    return html`<${Stage} isInteractive=${false} /><${PanelFrame} label=${name}></${PanelFrame}>`;
  };
  return { View, load: loadNow };
}
