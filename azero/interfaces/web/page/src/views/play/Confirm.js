// A question before what cannot be undone.

import { html } from "../../html.js";
import { Dialog } from "../../shell/dialog.js";

export function Confirm({ app, title, yes, onYes }) {
  const go = () => {
    app.closeDialog();
    onYes();
  };
  return html`<${Dialog} title=${title} onClose=${app.closeDialog} footer=${html`
    <button onClick=${app.closeDialog}>Keep playing</button>
    <button class="primary" data-autofocus onClick=${go}>${yes}</button>`}></${Dialog}>`;
}
