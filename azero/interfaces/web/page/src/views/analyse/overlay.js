// What an analysis adds to the board: marks, a line, ownership, heat.

import { overlayOfLine } from "../../panel/lines.js";
import { heatOf, overlayOfRows, ownersOf } from "../../panel/marks.js";
import { settings } from "../../settings.js";

/** `active` is the move whose line is shown; without one, the best move's line if the user wants it. */
export function overlayOf({ position, first, second, active, update }) {
  const { picture, to_move: toMove } = position;
  if (toMove === null || !(first.length || second?.length)) return {};
  const rows = [...first, ...(second ?? [])];
  const heat = settings.get("heat");
  const overlay = {
    ownership: settings.get("showsOwnership") ? ownersOf(update, picture) : null,
    heat: heat === "none" ? null : heatOf(picture, first, heat),
  };
  const best = settings.get("showsLine") ? first.find((row) => row.isBest) : null;
  const shown = active ? rows.find((row) => row.move === active) : best;
  if (shown) return { ...overlay, hidesTargets: true, ...overlayOfLine(picture, toMove, shown.pv) };
  const options = { mode: settings.get("marks"), shows: settings.get("markNumbers") };
  return { ...overlay, ...overlayOfRows(picture, first, options, second ?? []) };
}
