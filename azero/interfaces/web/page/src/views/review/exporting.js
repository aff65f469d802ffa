// A review as files: the record with its annotations, and the JSON of `azero review --json`.

import { download, writeRecord } from "../../records/files.js";
import { annotated, countsOf, meanLosses } from "./report.js";

/** Saves the record with glyphs, losses and better lines; `format` is "azero" or "sgf". */
export async function saveRecord(session, review, format) {
  const text = await writeRecord(session, format, annotated(session.tree, review.nodes, review.moves));
  download(text, `review.${format === "sgf" ? "sgf" : "txt"}`);
}

/** Saves the review as in `azero review --json`, without times; of one that was stopped, the moves that have come. */
export function saveJson(session, review) {
  const counts = countsOf(review.moves);
  const { values, ...whole } = review.whole ?? {};
  const part = {
    game: session.game.id,
    moves: review.moves,
    mean_loss: meanLosses(review.moves).map((loss) => (loss === null ? null : loss / 50)),
    inaccuracies: counts["?!"],
    mistakes: counts["?"],
    blunders: counts["??"],
  };
  const made = { agent: review.agent, simulations: review.searched, games: [review.whole ? whole : part] };
  download(`${JSON.stringify(made, null, 2)}\n`, "review.json", "application/json");
}
