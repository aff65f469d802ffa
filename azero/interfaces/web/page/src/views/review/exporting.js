// A review as files: the record with its annotations, and the JSON of `azero review --json`.

import { post } from "../../api.js";
import { countsOf, annotated, meanLosses } from "./report.js";

/** Saves a text as a file. */
export function download(name, text, type = "text/plain") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Saves the record with glyphs, losses and better lines; `format` is "azero" or "sgf". */
export async function saveRecord(session, review, format) {
  const root = annotated(session.tree, review.nodes, review.moves);
  const { text } = await post("records/write", { format, game: session.game.id, tags: session.tags, root });
  download(`review.${format === "sgf" ? "sgf" : "txt"}`, text);
}

/** Saves the object of the review; of one that was stopped, the moves that have come. */
export function saveJson(session, review) {
  const counts = countsOf(review.moves);
  const part = {
    game: session.game.id,
    moves: review.moves,
    mean_loss: meanLosses(review.moves).map((loss) => (loss === null ? null : loss / 50)),
    inaccuracies: counts["?!"],
    mistakes: counts["?"],
    blunders: counts["??"],
  };
  download("review.json", `${JSON.stringify({ agent: review.agent, simulations: review.simulations, ...(review.whole ?? part) }, null, 2)}\n`, "application/json");
}
