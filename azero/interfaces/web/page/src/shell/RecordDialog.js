// Load a record by file, paste or drop; save the game on the board.

import { post } from "../api.js";
import { GameTree, nodesOfRecord } from "../game/tree.js";
import { html, useApp, useState } from "../html.js";
import { IS_REVIEW } from "../published.js";
import { Dialog, Icon, Stone } from "./controls.js";

const LARGEST = 1 << 20; // characters that the server takes

/** Returns the text of a record's file, in the encoding that an SGF tells, in UTF-8 or, if it is in neither, in Latin-1. */
export function textOf(bytes) {
  const head = new TextDecoder("latin1").decode(bytes.slice(0, 1000));
  const told =
    /^\s*\(\s*;.*?CA\[\s*(iso-8859-1|latin-?1|windows-1252|gb2312|gbk|gb18030|big5|shift_jis|euc-jp|euc-kr)\s*\]/is.exec(
      head,
    )?.[1];
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
async function readRecord(text, name = "") {
  if (text.length > LARGEST)
    throw new Error(
      `${name || "the record"} is too large: at most 1 MB of text can be read here; azero show reads larger files`,
    );
  if (!text.trim()) throw new Error(`${name || "the record"} is empty`);
  const format = /\.sgf$/i.test(name) || /^\s*\(\s*;/.test(text) ? "sgf" : "auto";
  return (await post("records/read", { text, format })).games;
}

/** Shows a game of a record: its own game, its tree, the end of its main line. */
async function openRecord(app, found) {
  if (!found.game) throw new Error("the server does not offer the game of this record");
  if (found.start)
    throw new Error("the record begins at a position of its own, which the page cannot show; use azero show");
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

const ENDING = { azero: "txt", sgf: "sgf" };

export function RecordDialog() {
  const app = useApp();
  const session = app.shown;
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const [games, setGames] = useState(null);

  const attempt =
    (action) =>
    async (...given) => {
      setProblem("");
      try {
        await action(...given);
      } catch (error) {
        setProblem(error.message);
      }
    };
  const open = attempt(async (found) => {
    await openRecord(app, found);
    app.closeDialog();
  });
  const read = attempt(async (content, name) => {
    const found = await readRecord(content, name);
    if (found.length === 1) await open(found[0]);
    else setGames(found);
  });
  const readFile = attempt(async (file) => {
    if (!file) return;
    if (file.size > 8 << 20) throw new Error(`${file.name} is too large: ${(file.size / 1e6).toFixed(1)} MB`);
    await read(textOf(await file.arrayBuffer()), file.name);
  });
  const save = attempt(async (format) => {
    download(await writeRecord(session, format), `${session.game.family.replace(/\W+/g, "_")}.${ENDING[format]}`);
    app.toast({ text: "The record is saved, with its variations and comments." });
    app.closeDialog();
  });
  const drop = (event) => {
    event.preventDefault();
    readFile(event.dataTransfer.files[0]);
  };

  return html`<${Dialog} title="Records">
    <h3>Save this game</h3>
    <div class="row">
      <button onClick=${() => save("azero")}><${Icon} name="save" />Save as text</button>
      ${session.game.has_sgf && html`<button onClick=${() => save("sgf")}><${Icon} name="save" />Save as SGF</button>`}
    </div>
    ${
      !IS_REVIEW &&
      html`<h3 class="spaced">Load a game</h3>
    <div class="drop" onDragOver=${(event) => event.preventDefault()} onDrop=${drop}>
      <label class="check">Record file <input type="file" aria-label="Record file" accept=".txt,.sgf,text/plain" onChange=${(event) => readFile(event.target.files[0])} /></label>
      <p class="detail">or drop it here, or paste its text:</p>
      <textarea aria-label="Text of a record" rows="5" value=${text} onInput=${(event) => setText(event.target.value)}></textarea>
      <button disabled=${!text.trim()} onClick=${() => read(text, "")}><${Icon} name="open" />Load</button>
    </div>`
    }
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${games && html`<${Games} games=${games} onOpen=${open} />`}
  </${Dialog}>`;
}

const Games = ({ games, onOpen }) => html`<ul class="games" aria-label="Games of the record">
  ${games.slice(0, 200).map(
    (found, k) => html`<li><button onClick=${() => onOpen(found)}>
    <span>${k + 1}</span>
    <${Stone} player=${0} /> <span class="player-name">${found.tags.First ?? "?"}</span>
    <${Stone} player=${1} /> <span class="player-name">${found.tags.Second ?? "?"}</span>
    <strong class="result">${found.result}</strong>
  </button></li>`,
  )}
</ul>`;
