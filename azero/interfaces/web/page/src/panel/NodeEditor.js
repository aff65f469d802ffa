// What can be done with the current move: glyph, name, comment, main line, delete.

import { html, useEffect, useRef } from "../html.js";
import { Icon } from "../shell/icons.js";
import { deleteFromHere, makeMain } from "./navigation.js";
import { GLYPHS } from "./variations.js";

/** `isOpen` shows the fields; `onOpen(isOpen)` changes it. */
export function NodeEditor({ session, app, isOpen, onOpen }) {
  const { node, tree } = session;
  const area = useRef(null);
  useEffect(() => {
    if (isOpen) area.current?.focus();
  }, [isOpen]);
  const change = (fields) => {
    Object.assign(node, fields);
    session.changed();
  };
  const setMark = (glyph) => {
    const isCleared = node.mark === glyph;
    change({ mark: isCleared ? "" : glyph, isMarkedByReview: isCleared ? undefined : false }); // a review leaves what is set by hand
  };
  const onKeyDown = (event) => {
    if (event.key !== "Escape" && !(event.key === "Enter" && (event.ctrlKey || event.metaKey))) return;
    event.preventDefault();
    event.stopPropagation();
    onOpen(false);
  };
  const isRoot = !node.parent;
  return html`<div class="editor">
    <div class="editor-tools" role="group" aria-label="This move">
      ${Object.entries(GLYPHS).map(([glyph, name]) => html`<button class="glyph-button glyph-text" data-mark=${glyph} disabled=${isRoot} aria-pressed=${String(node.mark === glyph)}
        aria-label="${glyph}, ${name}" title=${name} onClick=${() => setMark(glyph)}>${glyph}</button>`)}
      <button class="quiet small" aria-expanded=${String(isOpen)} onClick=${() => onOpen(!isOpen)} title="Comment and name (C)">Comment</button>
      ${!tree.isMain(node) && html`<button class="quiet small" onClick=${() => makeMain(session)} title="Make main line (Shift ↑)">Main line</button>`}
      <button class="quiet small icon-button" disabled=${isRoot} aria-label="Delete from here" title="Delete from here (Del)" onClick=${() => deleteFromHere(session, app)}><${Icon} name="bin" /></button>
    </div>
    ${isOpen && html`<div class="editor-fields" onKeyDown=${onKeyDown} key=${node.id}>
      <textarea ref=${area} rows="2" maxlength="4000" aria-label="Comment" placeholder="Comment" value=${node.comment} onInput=${(event) => change({ comment: event.target.value })}></textarea>
      ${!isRoot && html`<input type="text" maxlength="80" aria-label="Name of this variation" placeholder="Name of this variation" value=${node.name} onInput=${(event) => change({ name: event.target.value })} />`}
    </div>`}
  </div>`;
}
