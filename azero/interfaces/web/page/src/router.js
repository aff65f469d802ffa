// Links: view, game, moves, place in the tree and agent after the #, so that nothing reaches a log.

import { GameTree } from "./game/tree.js";

const LONG = 1500; // characters, from which on a link is deflated
const READABLE = /[^A-Za-z0-9\-_.~!*'(),=:@/+]/g;

const encode = (text) => text.replace(READABLE, encodeURIComponent);

/** Returns the link of {view, game, tree, node, agent, learn}, beginning with #. */
export function writeLink({ view, game, tree, node, agent, learn }) {
  const parts = { v: view, g: game, m: tree.toText(), at: tree.placeOf(node), a: agent, ...writeLearn(learn) };
  const written = Object.entries(parts)
    .filter(([name, value]) => value && !(name === "at" && !tree.root.children.length))
    .map(([name, value]) => `${name}=${encode(String(value))}`);
  return `#${written.join("&")}`;
}

/** Returns a link that fits the address bar. */
export const pack = async (link) =>
  link.length > LONG && "CompressionStream" in window ? `#z=${await deflate(link.slice(1))}` : link;

/** Returns a link as it was before it was packed; throws an Error with a line for people. */
export const unpack = async (link) => (link.startsWith("#z=") ? `#${await inflate(link.slice(3))}` : link);

/** Returns {view, game, tree, place, agent, learn} of a link; throws an Error with a line for people. */
export function readLink(link) {
  const parts = new Map(
    link
      .replace(/^#/, "")
      .split("&")
      .map((part) => split(part)),
  );
  return {
    view: parts.get("v"),
    game: parts.get("g"),
    tree: GameTree.fromText(parts.get("m") ?? ""),
    place: parts.get("at"),
    agent: parts.get("a"),
    learn: readLearn(parts),
  };
}

/** What Learn shows: how it searches, the constant, the seed, and the simulation and step. */
const writeLearn = (learn) =>
  learn && {
    by: learn.method,
    c: learn.c === null ? null : String(learn.c),
    s: learn.seed || null,
    n: learn.place,
  };

function readLearn(parts) {
  const [c, seed] = [parts.get("c") ?? "", parts.get("s") ?? ""];
  return {
    method: ["uct", "puct"].find((method) => method === parts.get("by")) ?? null,
    c: /^\d{1,2}(\.\d{1,6})?$/.test(c) ? Math.min(10, Number(c)) : null,
    seed: /^\d{1,9}$/.test(seed) ? Number(seed) : 0,
    place: parts.get("n") ?? null,
  };
}

function split(part) {
  const at = part.indexOf("=");
  if (at < 0) return [part, ""];
  try {
    return [part.slice(0, at), decodeURIComponent(part.slice(at + 1))];
  } catch {
    throw new Error(`the link is damaged at ${JSON.stringify(part.slice(0, 40))}`);
  }
}

async function deflate(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

async function inflate(text) {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    let all = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return all;
      all += value;
      if (all.length > 200_000) throw new Error("too long");
    }
  } catch {
    throw new Error("the link is damaged: its packed part cannot be read");
  }
}
