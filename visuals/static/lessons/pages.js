// A panel that is taller than the screen, as pages that begin and end between its parts. Knows lengths and no page.

/**
 * Where a page may begin: at the top of a part, through no other.
 *
 * @param {[number, number][]} boxes
 * @returns {number[]} from the top down
 */
export function freeOf(boxes) {
  const tops = [...new Set(boxes.map(([top]) => top))].sort((a, b) => a - b);
  return tops.filter((y) => !boxes.some(([top, bottom]) => top < y - 1 && bottom > y + 1));
}

/**
 * @param {[number, number][]} boxes top and bottom of each part that is not to be cut
 * @param {number} room of a page
 * @param {number} anchor a page begins here, as near as that is between two parts
 * @returns {{ pages: [number, number][]; first: number; cut: boolean }} top and bottom of each; `first`: that of
 *   the anchor; `cut`: whether a part is taller than a page
 */
export function pagesOf(boxes, room, anchor = 0) {
  const free = freeOf(boxes);
  const end = Math.max(0, ...boxes.map(([, bottom]) => bottom));
  const start = [...free].reverse().find((y) => y <= anchor + 1) ?? free[0] ?? 0; // no page holds a margin alone
  let cut = false;

  /**
   * @param {number} from
   * @param {number} to
   */
  function fill(from, to) {
    /** @type {[number, number][]} */
    const pages = [];
    for (let top = from; top < to - 1;) {
      const next =
        bottomOf(top, to) - top <= room
          ? to
          : [...free].reverse().find((y) => y > top + 1 && y < to && bottomOf(top, y) - top <= room);
      if (next === undefined) cut = true;
      const following = next ?? Math.min(to, top + room);
      pages.push([top, next === undefined ? following : bottomOf(top, following)]);
      top = following;
    }
    return pages;
  }
  /**
   * Where what begins between two heights ends.
   *
   * @param {number} from
   * @param {number} to
   */
  const bottomOf = (from, to) =>
    Math.max(from, ...boxes.filter(([top]) => top >= from - 1 && top < to - 1).map(([, bottom]) => bottom));
  const before = start > free[0] ? fill(free[0], start) : [];
  return { pages: [...before, ...fill(start, end)], first: before.length, cut };
}

const WHOLE = [
  "canvas, svg, p, h2, h3, h4, tr, li, button, input, label, select, textarea",
  ".gp-chart, .gp-samples, .gp-fraction, [role=group], .gp-options, .kv-kind",
].join(", ");
/** These say what follows them, and stay with it. */
const LEADS = "h2, h3, h4, thead tr, [role=group], .gp-options, .gp-samples";

/**
 * The parts of a panel that stay whole.
 *
 * @param {Element} body
 * @param {number} size how large it is shown
 * @returns {[number, number][]} top and bottom of each, in the panel's own pixels from the top of its body
 */
export function partsOf(body, size) {
  const { top } = body.getBoundingClientRect();
  /** @type {[number, number, boolean][]} */
  const boxes = [];
  /** @param {Element} element */
  function add(element) {
    if (!element.checkVisibility()) return; // what a closed disclosure holds has a place, and is not seen
    const box = element.getBoundingClientRect();
    if (box.height < 1 || box.width < 1) return;
    const words = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.nodeValue?.trim());
    if (words || !element.children.length || element.matches(WHOLE))
      boxes.push([(box.top - top) / size, (box.bottom - top) / size, element.matches(LEADS)]);
    else for (const child of element.children) add(child);
  }
  for (const child of body.children) add(child);
  return led(boxes);
}

const LINE = 32; // px of what follows a heading that are to be seen with it

/**
 * Headings reach into what follows them, no further than it goes.
 *
 * @param {[number, number, boolean][]} boxes
 * @returns {[number, number][]}
 */
export function led(boxes) {
  return boxes.map(([top, bottom, leads]) => {
    const after = leads ? boxes.filter((one) => one[0] >= bottom - 1) : [];
    const next = Math.min(...after.map((one) => one[0]));
    const end = Math.max(...after.filter((one) => one[0] < next + 1).map((one) => one[1]));
    return [top, after.length ? Math.max(bottom, Math.min(next + LINE, end)) : bottom];
  });
}
