// Records of games: reading and writing through the server, which checks every move.

import { post } from "../api.js";
import { GameTree, nodesOfRecord } from "../game/tree.js";

const LARGEST = 1 << 20; // characters that the server takes

/** Returns the text of a record's file, in the encoding that an SGF tells, in UTF-8 or, if it is in neither, in Latin-1. */
export function textOf(bytes) {
  const head = new TextDecoder("latin1").decode(bytes.slice(0, 1000));
  const told = /^\s*\(\s*;.*?CA\[\s*(iso-8859-1|latin-?1|windows-1252|gb2312|gbk|gb18030|big5|shift_jis|euc-jp|euc-kr)\s*\]/is.exec(head)?.[1];
  for (const encoding of [told, "utf-8"].filter(Boolean)) {
    try {
      return new TextDecoder(encoding, { fatal: true }).decode(bytes);
    } catch {
      // no encoding of this name, or the bytes are not in it
    }
  }
  return new TextDecoder("latin1").decode(bytes);
}

/** Returns the games of a record's text: [{game, tags, result, start, nodes}]; throws an error with a line for people. */
export async function readRecord(text, name = "") {
  if (text.length > LARGEST) throw new Error(`${name || "the record"} is too large: at most 1 MB of text can be read here; azero show reads larger files`);
  if (!text.trim()) throw new Error(`${name || "the record"} is empty`);
  const format = /\.sgf$/i.test(name) || /^\s*\(\s*;/.test(text) ? "sgf" : "auto";
  return (await post("records/read", { text, format })).games;
}

/** Shows a game of a record: its own game, its tree, the end of its main line. */
export async function openGame(app, found) {
  if (!found.game) throw new Error("the server does not offer the game of this record");
  if (found.start) throw new Error("the record begins at a position of its own, which the page cannot show; use azero show");
  if (found.game !== app.session.game.id) await app.openGame(found.game);
  const tree = GameTree.fromRecord(found.nodes);
  await app.session.setTree(tree, "0", { ...found.tags, Result: found.result });
  if (app.view === "play" || app.view === "runs") app.setView("analyse");
}

/** Returns the record of the session's game as text; `root` is that of its tree, or of a tree to save instead. */
export async function writeRecord(session, format, root = session.tree.root) {
  const { Result, ...tags } = session.tags;
  const body = { game: session.game.id, position: session.start, moves: [], format, tags, nodes: nodesOfRecord(root) };
  if (["1-0", "0-1", "1/2-1/2"].includes(Result)) body.result = Result;
  return (await post("records/write", body)).text;
}

/** Hands a text to the browser as a file to save. */
export function download(text, name, type = "text/plain") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
