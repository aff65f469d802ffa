// The board on the page as an SVG that stands by itself.

const COPIED = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "font-size", "font-weight", "text-anchor", "paint-order", "stop-color", "display", "transform"];

/** Returns the drawing's source, with the colours of the current theme written into it. */
export function boardAsSvg() {
  const drawing = document.querySelector(".drawing");
  const copy = drawing.cloneNode(true);
  const [from, to] = [drawing.querySelectorAll("*"), copy.querySelectorAll("*")];
  to.forEach((element, k) => {
    const style = getComputedStyle(from[k]);
    for (const name of COPIED) {
      const value = style.getPropertyValue(name);
      if (value && value !== "none 0s ease 0s") element.style.setProperty(name, value.replace(/url\("[^"]*#/, 'url("#'));
    }
    element.removeAttribute("class");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("font-family", "system-ui, sans-serif");
  copy.removeAttribute("class");
  return new XMLSerializer().serializeToString(copy);
}
