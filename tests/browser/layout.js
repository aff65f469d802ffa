() => {
  // What is wrong with the layout, as lines of text.
  const wrong = new Set();
  const [width, height] = [innerWidth, innerHeight];
  const root = document.documentElement;
  const isWide = width > 820;
  const box = (element) => element.getBoundingClientRect();
  const styleOf = (element) => getComputedStyle(element);
  const clips = (element) => /auto|scroll|hidden/.test(styleOf(element).overflowX + styleOf(element).overflowY);
  const nameOf = (element) => `${element.className} ${element.getAttribute("aria-label") ?? element.textContent}`.trim().slice(0, 60);
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true }) && box(element).width > 0 && !element.closest(".hidden, details:not([open])");
  const all = (query) => [...document.querySelectorAll(query)].filter(isShown);

  if (root.scrollWidth > width) wrong.add(`the page is ${root.scrollWidth} wide`);
  if (isWide && height >= 560 && root.scrollHeight > height) wrong.add(`the page is ${root.scrollHeight} high`);
  for (const stage of all(".stage")) {
    const { left, right, bottom, height: side } = box(stage);
    if (left < 0 || right > width || side > height || (isWide && bottom > height)) wrong.add(`the board ends at ${right}, ${bottom}`);
  }

  // scrolls sideways only where it should
  for (const element of all("body *")) {
    if (element.matches(".moves, .tree-scroll, .chart-table, .as-table, input, select, textarea")) continue;
    if (/auto|scroll/.test(styleOf(element).overflowX) && element.scrollWidth > element.clientWidth + 1) wrong.add(`scrolls sideways: ${nameOf(element)}`);
  }

  // no text of a button is cut off
  for (const button of all("button:not(.heat-column)")) {
    if (button.scrollWidth > button.clientWidth + 1 && !button.querySelector(".picker-text, .subtitle")) wrong.add(`too long: ${nameOf(button)}`);
  }

  // what can be seen of an element
  const visible = (element) => {
    let { left, right, top, bottom } = box(element);
    for (let each = element.parentElement; each && each !== document.body; each = each.parentElement) {
      if (!clips(each)) continue;
      const outer = box(each);
      [left, right, top, bottom] = [Math.max(left, outer.left), Math.min(right, outer.right), Math.max(top, outer.top), Math.min(bottom, outer.bottom)];
    }
    return { element, left, right, top, bottom };
  };
  const inBar = (element) => element.closest(".panel-bar, .dialog-foot") !== null; // under which the rest scrolls
  const inDialog = (element) => element.closest("[role=dialog]") !== null;
  const parts = all("button, select, input, .stage, .side, .help, h2, h3, p")
    .filter((element) => !element.closest("[role=grid], svg, .menu, .toasts, .notices, .error-mark, .heat-columns"))
    .map(visible)
    .filter(({ left, right, top, bottom }) => right - left > 1 && bottom - top > 1);
  parts.forEach((one, k) => {
    for (const other of parts.slice(k + 1)) {
      if (one.element.contains(other.element) || other.element.contains(one.element)) continue;
      if (inBar(one.element) !== inBar(other.element) || inDialog(one.element) !== inDialog(other.element)) continue;
      const [across, down] = [Math.min(one.right, other.right) - Math.max(one.left, other.left), Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)];
      if (across > 2 && down > 2) wrong.add(`${nameOf(one.element)} lies on ${nameOf(other.element)}`);
    }
  });
  return [...wrong];
}
