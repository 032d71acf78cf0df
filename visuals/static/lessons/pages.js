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
 * Where a page would rather begin: through no block either, which is parts that belong together, such as a table.
 *
 * @param {number[]} free
 * @param {[number, number][]} blocks
 */
const betweenOf = (free, blocks) => free.filter((y) => !blocks.some(([top, bottom]) => top < y - 1 && bottom > y + 1));

const FULL = 0.25; // of a page, at least, before what follows is kept together at the cost of room below it

/**
 * @typedef {{ blocks?: [number, number][]; repeated?: (top: number) => number }} Kept `blocks`: top and bottom of
 *   those that are cut only where they must be; `repeated`: px that stand once more above what begins at a height
 */

/**
 * @param {[number, number][]} boxes top and bottom of each part that is not to be cut
 * @param {number} room of a page
 * @param {Kept} [kept]
 * @returns {{ pages: [number, number][]; cut: boolean }} top and bottom of each; `cut`: whether a part is taller
 *   than a page
 */
export function pagesOf(boxes, room, { blocks = [], repeated = () => 0 } = {}) {
  const free = freeOf(boxes);
  const between = betweenOf(free, blocks);
  const end = Math.max(0, ...boxes.map(([, bottom]) => bottom));
  /** Where what begins between two heights ends. @type {(from: number, to: number) => number} */
  const bottomOf = (from, to) =>
    Math.max(from, ...boxes.filter(([top]) => top >= from - 1 && top < to - 1).map(([, bottom]) => bottom));
  /** @type {[number, number][]} */
  const pages = [];
  let cut = false;
  for (let top = free[0] ?? 0; top < end - 1;) {
    const most = room - repeated(top);
    const tall = (/** @type {number} */ y) => bottomOf(top, y) - top;
    const fits = (/** @type {number} */ y) => y > top + 1 && tall(y) <= most;
    const next = fits(end)
      ? end
      : (between.findLast((y) => fits(y) && tall(y) >= FULL * most) ?? free.findLast((y) => fits(y)));
    if (next === undefined) cut = true;
    const following = next ?? Math.min(end, top + most);
    pages.push([top, next === undefined ? following : bottomOf(top, following)]);
    top = following;
  }
  return { pages, cut };
}

const WHOLE = [
  "canvas, svg, p, h2, h3, h4, tr, li, button, input, label, select, textarea",
  ".gp-chart, .gp-samples, .gp-fraction, [role=group], .gp-options, .kv-kind, .position-sliders",
].join(", ");
/** These say what follows them, and stay with it. */
const LEADS = [
  "h2, h3, h4, thead tr, [role=group], .gp-options, .gp-samples, .position-sliders",
  ".gp-note:has(+ :is(canvas, .gp-columns, div:has(> canvas:only-child))), p:has(+ .kv-product)",
].join(", ");

/**
 * @param {Element} element
 * @param {number} top of the body
 * @param {number} size
 * @returns {[number, number] | null} its top and bottom in the panel's own pixels; null where nothing is seen of
 *   it: what a closed disclosure holds has a place all the same
 */
function placeOf(element, top, size) {
  const box = element.getBoundingClientRect();
  const isSeen = box.height >= 1 && box.width >= 1 && element.checkVisibility();
  return isSeen ? [(box.top - top) / size, (box.bottom - top) / size] : null;
}

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
    const place = placeOf(element, top, size);
    if (!place) return;
    const words = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.nodeValue?.trim());
    if (words || !element.children.length || element.matches(WHOLE)) boxes.push([...place, element.matches(LEADS)]);
    else for (const child of element.children) add(child);
  }
  for (const child of body.children) add(child);
  return led(boxes);
}

/**
 * What is kept together where a page has room for it: whatever the panel holds in one box.
 *
 * @param {Element} body
 * @param {number} size how large it is shown
 * @param {number} room of a page, in the panel's own pixels
 * @returns {[number, number][]} top and bottom of each
 */
export function blocksOf(body, size, room) {
  const { top } = body.getBoundingClientRect();
  /** @type {[number, number][]} */
  const blocks = [];
  /** @param {Element} element */
  function add(element) {
    const place = element.children.length ? placeOf(element, top, size) : null;
    if (!place) return;
    if (place[1] - place[0] <= room) blocks.push(place);
    else for (const child of element.children) add(child);
  }
  for (const child of body.children) add(child);
  return blocks;
}

/**
 * The heads of tables in a panel, which stand above their rows on every page.
 *
 * @param {Element} body
 * @param {number} size how large it is shown
 * @returns {{ head: HTMLElement; top: number; from: number; to: number; height: number }[]} `top`: of each, as the
 *   panel has it; `from` and `to`: where its rows are
 */
export function headsOf(body, size) {
  const { top } = body.getBoundingClientRect();
  /** @type {NodeListOf<HTMLElement>} */
  const heads = body.querySelectorAll("thead");
  return [...heads].flatMap((head) => {
    const [own, all] = [placeOf(head, top, size), placeOf(/** @type {Element} */ (head.parentElement), top, size)];
    return own && all ? [{ head, top: own[0], from: own[1], to: all[1], height: own[1] - own[0] }] : [];
  });
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
