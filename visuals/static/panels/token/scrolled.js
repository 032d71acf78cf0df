// What of the token strip is scrolled out of sight, and scrolling to a token.

import { h } from "../../dom.js";

/**
 * Says how many chips are scrolled out of sight. It measures only where the browser has laid out the page anyway: when the
 * strip was scrolled or resized, or when its first or last chip came into sight or left it.
 */
export function createHidden(chips, built, glass) {
  const [above, below] = [h("span", { "aria-hidden": "true" }), h("span", { "aria-hidden": "true" })];
  const show = (element, name, count) => {
    const words = count ? glass.text(`tokens.${name}`, { count }) : "";
    if (element.textContent !== words) element.textContent = words;
  };
  function count() {
    const [top, bottom] = [chips.scrollTop, chips.scrollTop + chips.clientHeight];
    const middle = (chip) => chip.offsetTop + chip.offsetHeight / 2;
    show(above, "above", firstWhere(built.list, (chip) => middle(chip) >= top));
    show(below, "below", built.list.length - firstWhere(built.list, (chip) => middle(chip) > bottom));
  }
  chips.addEventListener("scroll", count, { passive: true });
  new ResizeObserver(count).observe(chips);
  const ends = new IntersectionObserver(count, { root: chips });
  /** After the chips were replaced, or their words were. */
  function renew() {
    ends.disconnect();
    for (const chip of new Set([built.list[0], built.list.at(-1)])) ends.observe(chip);
  }
  return { element: h("p.gp-note.gp-unseen", null, above, below), renew };
}

/** The first index from which on a condition holds; the length where it never does. @returns {number} */
function firstWhere(list, holds) {
  let [from, to] = [0, list.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (holds(list[middle])) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Scrolls the strip, not the page, until the chip is in view. */
export function reveal(chips, chip) {
  const [top, bottom] = [chip.offsetTop, chip.offsetTop + chip.offsetHeight];
  if (top < chips.scrollTop) chips.scrollTop = top - 4;
  else if (bottom > chips.scrollTop + chips.clientHeight) chips.scrollTop = bottom - chips.clientHeight + 4;
  const [left, right] = [chip.offsetLeft, chip.offsetLeft + chip.offsetWidth]; // as one row it is scrolled sideways
  if (left < chips.scrollLeft) chips.scrollLeft = left - 24;
  else if (right > chips.scrollLeft + chips.clientWidth) chips.scrollLeft = right - chips.clientWidth + 24;
}
