// Load a record by file, paste or drop; save the game on the board.

import { html, useState } from "../html.js";
import { Dialog } from "../shell/dialog.js";
import { Icon, Stone } from "../shell/icons.js";
import { download, openGame, readRecord, textOf, writeRecord } from "./files.js";

const ENDING = { azero: "txt", sgf: "sgf" };

export function RecordDialog({ app, session }) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const [games, setGames] = useState(null);

  const attempt = (action) => async (...given) => {
    setProblem("");
    try {
      await action(...given);
    } catch (error) {
      setProblem(error.message);
    }
  };
  const open = attempt(async (found) => {
    await openGame(app, found);
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

  return html`<${Dialog} title="Records" onClose=${app.closeDialog}>
    <h3>Save this game</h3>
    <div class="row">
      <button onClick=${() => save("azero")}><${Icon} name="save" />Save as text</button>
      ${session.game.has_sgf && html`<button onClick=${() => save("sgf")}><${Icon} name="save" />Save as SGF</button>`}
    </div>
    <h3 class="spaced">Load a game</h3>
    <div class="drop" onDragOver=${(event) => event.preventDefault()} onDrop=${drop}>
      <label class="check">Record file <input type="file" aria-label="Record file" accept=".txt,.sgf,text/plain" onChange=${(event) => readFile(event.target.files[0])} /></label>
      <p class="detail">or drop it here, or paste its text:</p>
      <textarea aria-label="Text of a record" rows="5" value=${text} onInput=${(event) => setText(event.target.value)}></textarea>
      <button disabled=${!text.trim()} onClick=${() => read(text, "")}><${Icon} name="open" />Load</button>
    </div>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${games && html`<${Games} games=${games} session=${session} onOpen=${open} />`}
  </${Dialog}>`;
}

const Games = ({ games, session, onOpen }) => html`<ul class="games" aria-label="Games of the record">
  ${games.slice(0, 200).map((found, k) => html`<li><button onClick=${() => onOpen(found)}>
    <span>${k + 1}</span>
    <${Stone} players=${session.game.players} player=${0} /> <span class="player-name">${found.tags.First ?? "?"}</span>
    <${Stone} players=${session.game.players} player=${1} /> <span class="player-name">${found.tags.Second ?? "?"}</span>
    <strong class="result">${found.result}</strong>
  </button></li>`)}
</ul>`;
