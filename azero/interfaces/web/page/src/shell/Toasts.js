// Messages that go by themselves; some can be undone.

import { html } from "../html.js";

export function Toasts({ app }) {
  const undo = (toast) => {
    toast.undo();
    app.dropToast(toast);
  };
  return html`<div class="toasts">
    ${app.toasts.map((toast) => html`<div class="toast toast-${toast.kind}" role=${toast.kind === "error" ? "alert" : "status"} key=${toast.id}>
      <span>${toast.text}</span>
      ${toast.undo && html`<button onClick=${() => undo(toast)}>Undo</button>`}
    </div>`)}
  </div>`;
}
