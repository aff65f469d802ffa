// Icons; dialogs and menus, which hold the focus, close by Esc, and give the focus back.

import { html, useApp, useEffect, useLayoutEffect, useRef } from "../html.js";

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

const PATHS = {
  link: "M8.5 11.5l3-3M7 9L5.2 10.8a2.8 2.8 0 0 0 4 4L11 13M9 7l1.8-1.8a2.8 2.8 0 0 1 4 4L13 11",
  code: "M7 6l-4 4l4 4M13 6l4 4l-4 4",
  turn: "M4 8a6 6 0 0 1 11-1.5M16 12a6 6 0 0 1-11 1.5M15 3v4h-4M5 17v-4h4",
  moon: "M16 11.5A6.5 6.5 0 0 1 8.5 4a6.5 6.5 0 1 0 7.5 7.5z",
  sun: "M10 6.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 0 0 0-7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.4 4.4l1 1M14.6 14.6l1 1M4.4 15.6l1-1M14.6 5.4l1-1",
  keys: "M3 6h14v8.5H3zM6 9h.1M9 9h.1M12 9h.1M14.5 9h.1M6.5 12h7",
  about: "M10 3a7 7 0 1 0 0 14a7 7 0 0 0 0-14zM10 9v4.5M10 6.5v.1",
  down: "M6 8l4 4l4-4",
  close: "M5.5 5.5l9 9M14.5 5.5l-9 9",
  bin: "M4 6h12M8 6V4h4v2M5.5 6l1 10.5h7l1-10.5M8.5 9v4.5M11.5 9v4.5",
  undo: "M7.5 5L4 8.5L7.5 12M4 8.5h8a4 4 0 0 1 0 8h-3",
  hint: "M7.5 13a5 5 0 1 1 5 0v1.5h-5zM8 17h4",
  swap: "M4 7h11M12 4l3 3l-3 3M16 13H5M8 10l-3 3l3 3",
  flag: "M5 17V4h9l-2 3l2 3H5",
  first: "M5 5v10M15 5l-7 5l7 5z",
  back: "M13 5l-7 5l7 5z",
  forward: "M7 5l7 5l-7 5z",
  last: "M15 5v10M5 5l7 5l-7 5z",
  play: "M6 4.5l9 5.5l-9 5.5z",
  pause: "M7 5v10M13 5v10",
  eye: "M2.5 10S5 5 10 5s7.5 5 7.5 5S15 15 10 15s-7.5-5-7.5-5zM10 8a2 2 0 1 0 0 4a2 2 0 0 0 0-4z",
  branch: "M3 10h5l4-4h4M8 10l4 4h4",
  save: "M10 3v9M6.5 9l3.5 3.5L13.5 9M4 16.5h12",
  open: "M10 12.5v-9M6.5 7L10 3.5L13.5 7M4 16.5h12",
  left: "M12 5l-5 5l5 5",
  warning: "M10 3.5l7.5 13h-15zM10 8.5v3.5M10 14.2v.1",
  check: "M5 10.5l3.5 3.5L15 7",
  more: "M4.5 10h.1M10 10h.1M15.5 10h.1",
};

const FILLED = new Set(["first", "back", "forward", "last", "play"]);

export const Icon = ({
  name,
}) => html`<svg class="icon ${FILLED.has(name) ? "filled" : ""}" viewBox="0 0 20 20" aria-hidden="true">
  <path d=${PATHS[name]} />
</svg>`;

export const Logo = () => html`<svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
  <circle class="logo-disc" cx="12" cy="12" r="11" />
  <path class="logo-half" d="M12 1.5a5.2 5.2 0 0 1 0 10.5a5.2 5.2 0 0 0 0 10.5a10.5 10.5 0 0 0 0-21z" />
  <circle class="logo-disc" cx="12" cy="6.7" r="1.6" />
  <circle class="logo-half" cx="12" cy="17.3" r="1.6" />
</svg>`;

/** The stone of a player of the game on the board, as small as text. */
export const Stone = ({ player, size = 1 }) => {
  const colour = useApp().shown.game.players[player]?.colour ?? "none";
  const isRinged = player === 1 && colour !== "white" && colour !== "black";
  return html`<svg class="stone stone-${colour}" viewBox="0 0 20 20" aria-hidden="true" style=${{ width: `${size}em`, height: `${size}em` }}>
    <circle class="stone-body" cx="10" cy="10" r="9" />
    ${isRinged && html`<circle class="stone-ring" cx="10" cy="10" r="5" />`}
  </svg>`;
};
