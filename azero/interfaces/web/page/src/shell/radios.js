// Groups of radio buttons: one tab stop, arrow keys choose.

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

/** Attributes of one radio button. `isFirst`: it takes the tab stop where none is chosen. */
export const radio = (isChosen, isFirst = false) => ({ role: "radio", "aria-checked": String(isChosen), tabindex: isChosen || isFirst ? 0 : -1 });
