// Messages that go by themselves; some have a button.

import { html } from "../html.js";
import { Icon } from "./icons.js";

export function Toasts({ app }) {
  const act = (toast) => {
    toast.button.onPick();
    app.dropToast(toast);
  };
  return html`<div class="toasts">
    ${app.toasts.map((toast) => html`<div class="toast toast-${toast.kind}" role=${toast.kind === "error" ? "alert" : "status"} key=${toast.id}>
      <span>${toast.text}</span>
      ${toast.button && html`<button onClick=${() => act(toast)}>${toast.button.text}</button>
        <button aria-label="Dismiss" onClick=${() => app.dropToast(toast)}><${Icon} name="close" /></button>`}
    </div>`)}
  </div>`;
}
