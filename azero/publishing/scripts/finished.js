// A review as one file: the answers to all that the page asks lie in it.

import { bytesOf } from "./packed.js";

const NOT_HERE = { code: "not_found", message: "This file has the moves of the reviewed game alone." };

/** What the page asks by `path`; undefined if the file does not have it. */
function answerTo({ game, agent, positions, record }, path, body) {
  const [name, rest] = path.replace(/\?.*/, "").split("/");
  if (name === "games") return rest ? game : [game];
  if (name === "agents") return rest ? agent : [agent];
  if (name === "positions") {
    const asked = [body.game, ...[body.moves].flat()].join(" ").trim();
    return Object.hasOwn(positions, asked) ? positions[asked] : undefined;
  }
  return name === "records" && rest === "write" ? { text: record } : undefined;
}

/** Does what `fetch` does with a request of api.js; `text` has the answers, packed. */
export function answering(text) {
  const answers = bytesOf(text).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
  return async (path, /** @type {RequestInit} */ { body } = {}) => {
    const found = answerTo(await answers, path, body === undefined ? null : JSON.parse(String(body)));
    return new Response(JSON.stringify(found ?? { error: NOT_HERE }), { status: found ? 200 : 404 });
  };
}
