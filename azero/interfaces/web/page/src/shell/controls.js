// Dialogs and menus: they hold the focus, close by Esc, and give the focus back.

import { html, useApp, useEffect, useLayoutEffect, useRef } from "../html.js";
import { Icon } from "./icons.js";

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** For onKeyDown of an element with role=radiogroup. */
export function radioKeys(event) {
  const step = STEPS[event.key];
  if (!step) return;
  const radios = [...event.currentTarget.querySelectorAll("[role=radio]:not(:disabled)")];
  const next = radios.at((radios.indexOf(document.activeElement) + step) % radios.length);
  next.focus();
  next.click();
  event.preventDefault();
  event.stopPropagation();
}

/** For onKeyDown of the body of a table whose rows have a button each: the arrows go up and down. */
export function rowKeys(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || event.shiftKey) return;
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  buttons[buttons.indexOf(event.target) + step]?.focus();
  event.preventDefault();
  event.stopPropagation();
}

/** Attributes of one radio button. `isFirst`: it takes the tab stop where none is chosen. */
export const radio = (isChosen, isFirst = false) => ({
  role: "radio",
  "aria-checked": String(isChosen),
  tabindex: isChosen || isFirst ? 0 : -1,
});

const FOCUSABLE = "button:not([disabled], [tabindex='-1']), [href], input, select, textarea, [tabindex='0']";

/** A dialog over the page. */
export function Dialog({ title, children, className = "", footer }) {
  const { closeDialog } = useApp();
  const box = useRef(null);
  // before the next key is pressed
  useLayoutEffect(() => {
    const before = /** @type {HTMLElement} */ (document.activeElement);
    const wanted = box.current.querySelector("[data-autofocus]") ?? box.current.querySelectorAll(FOCUSABLE)[1];
    (wanted ?? box.current).focus();
    return () => before?.focus?.();
  }, []);
  const onKeyDown = (event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      event.preventDefault();
      closeDialog();
    }
    if (event.key === "Tab") keepFocus(event, box.current);
  };
  return html`<div class="veil" onPointerDown=${(event) => event.target === event.currentTarget && closeDialog()}>
    <div class="dialog ${className}" role="dialog" aria-modal="true" aria-label=${title} tabindex="-1" ref=${box} onKeyDown=${onKeyDown}>
      <div class="dialog-head">
        <h2>${title}</h2>
        <button class="quiet icon-button" aria-label="Close" onClick=${closeDialog}><${Icon} name="close" /></button>
      </div>
      <div class="dialog-body">${children}</div>
      ${footer && html`<div class="dialog-foot">${footer}</div>`}
    </div>
  </div>`;
}

function keepFocus(event, box) {
  const all = [...box.querySelectorAll(FOCUSABLE)].filter((each) => each.offsetParent !== null);
  const [first, last] = [all[0], all.at(-1)];
  if (event.shiftKey && document.activeElement === first) last.focus();
  else if (!event.shiftKey && document.activeElement === last) first.focus();
  else return;
  event.preventDefault();
}

/** A list of buttons below the button that opened it. `items`: [{text, detail, onPick, isChosen}] or "-". */
export function DropDown({ label, items, onClose }) {
  const list = useRef(null);
  useEffect(() => {
    const before = /** @type {HTMLElement} */ (document.activeElement);
    (list.current.querySelector("[aria-checked=true]") ?? list.current.querySelector("button"))?.focus();
    const outside = (event) => !list.current?.parentElement.contains(event.target) && onClose();
    document.addEventListener("pointerdown", outside);
    return () => {
      document.removeEventListener("pointerdown", outside);
      before?.focus?.();
    };
  }, []);
  const onKeyDown = (event) => {
    const buttons = [...list.current.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") onClose();
    else if (to !== undefined) buttons.at(to % buttons.length).focus();
    else return;
    if (event.key !== "Tab") event.preventDefault();
    event.stopPropagation();
  };
  const pick = (item) => {
    onClose();
    item.onPick();
  };
  return html`<div class="menu drop-down" role="menu" aria-label=${label} ref=${list} onKeyDown=${onKeyDown}>
    ${items.map((item) =>
      item === "-"
        ? html`<hr />`
        : html`<button role=${item.isChosen === undefined ? "menuitem" : "menuitemradio"} aria-checked=${item.isChosen === undefined ? null : String(item.isChosen)} onClick=${() => pick(item)}>
          <span>${item.text}</span>${item.detail && html`<small>${item.detail}</small>`}
        </button>`,
    )}
  </div>`;
}
