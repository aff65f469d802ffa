// Walking and editing the tree: keys for all views that show it, and the buttons at the panel's foot.

import { stepKeys } from "../game/stepKeys.js";
import { html } from "../html.js";
import { useKeys } from "../keys.js";
import { Icon } from "../shell/icons.js";
import { sibling } from "./variations.js";

const other = (session, step) => {
  const next = sibling(session.node, step);
  return next ? session.goTo(next) : false;
};

/** Deletes the move of the current node with all that follows; a toast offers to undo it. */
export function deleteFromHere(session, app) {
  const { node, tree } = session;
  if (!node.parent) return;
  const putBack = tree.remove(node);
  session.goTo(node.parent);
  app.toast({
    text: `Deleted ${node.move}${node.children.length ? " and what follows" : ""}.`,
    seconds: 10,
    button: {
      text: "Undo",
      onPick: () => {
        putBack();
        if (session.tree === tree) session.goTo(node);
      },
    },
  });
}

export function makeMain(session) {
  const { tree, tags, node } = session;
  if (!tree.isMain(node)) for (const name of ["Result", "Termination"]) delete tags[name]; // of another end
  tree.promote(node);
  session.changed();
}

/** The keys that walk the tree; with `isEditable`, those that change it, too. */
export function useTreeKeys(session, app, { isEditable = true, onComment = null } = {}) {
  const walk = {
    ...stepKeys(session),
    arrowup: ["previous variation", () => other(session, -1)],
    arrowdown: ["next variation", () => other(session, 1)],
    "shift+arrowleft": ["back to the branch", () => void session.goTo(session.tree.branchOf(session.node))],
  };
  const edit = {
    delete: ["delete from here", () => deleteFromHere(session, app)],
    "shift+arrowup": ["make main line", () => makeMain(session)],
    c: ["comment", () => onComment?.()],
  };
  useKeys(isEditable ? { ...walk, ...edit } : walk);
}

/** First, back, forward, last. */
export function Navigation({ session }) {
  const isFirst = !session.node.parent;
  const isLast = !session.node.children.length;
  const button = (name, label, isOff, go) => html`<button class="icon-button" aria-label=${label} title=${label} disabled=${isOff} onClick=${go}>
    <${Icon} name=${name} />
  </button>`;
  return html`<span class="navigation" role="group" aria-label="Moves">
    ${button("first", "First move", isFirst, () => session.first())}
    ${button("back", "Back", isFirst, () => session.back())}
    ${button("forward", "Forward", isLast, () => session.forward())}
    ${button("last", "Last move", isLast, () => session.last())}
  </span>`;
}
