// The page begins.

import { Session } from "./game/session.js";
import { html, render } from "./html.js";
import { applyTheme, settings } from "./settings.js";
import { App } from "./shell/App.js";

applyTheme();
settings.subscribe(applyTheme);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyTheme);
const place = document.getElementById("app");
place.replaceChildren(); // a line that says that the page did not load
render(html`<${App} session=${new Session()} />`, place);
