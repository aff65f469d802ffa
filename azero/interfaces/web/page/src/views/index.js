// The views, in the order of the header.

import { Analyse } from "./analyse/Analyse.js";
import { Learn } from "./learn/Learn.js";
import { Play } from "./play/Play.js";
import { Review } from "./review/Review.js";
import { Runs } from "./runs/Runs.js";

export const VIEWS = [
  { id: "play", title: "Play", key: "p", View: Play },
  { id: "analyse", title: "Analyse", key: "a", View: Analyse },
  { id: "review", title: "Review", key: "r", View: Review },
  { id: "runs", title: "Runs", key: "w", View: Runs },
  { id: "learn", title: "Learn", key: "l", View: Learn },
];

/** The view with this id; Play if there is none. */
export const viewOf = (id) => VIEWS.find((view) => view.id === id) ?? VIEWS[0];
