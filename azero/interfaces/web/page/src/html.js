// Preact with htm: the components of the page are functions that return html`...`.

import { Fragment, h, render } from "../vendor/preact.mjs";
import htm from "../vendor/htm.mjs";

export { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "../vendor/hooks.mjs";
export { Fragment, render };
export const html = htm.bind(h);
