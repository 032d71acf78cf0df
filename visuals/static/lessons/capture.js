// The view that the reader sees now, as a lesson keeps it.

import { linkOf } from "./lesson.js";

/**
 * How much of a box is in the window, in px².
 *
 * @param {DOMRect} box
 * @param {number} from the window's upper edge
 */
function seen({ left, right, top, bottom }, from) {
  return (
    Math.max(0, Math.min(right, innerWidth) - Math.max(left, 0)) *
    Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, from))
  );
}

/** Where the token strip ends that lies over the panels while they are scrolled. */
function upperEdge() {
  const strip = document.querySelector('.page-body > [data-kind="tokens"]')?.getBoundingClientRect();
  return strip && strip.top <= 1 ? strip.bottom : 0;
}

const PANELS = '.page-body section.glass-panel:not([data-kind="tokens"])';
const SCENES = ".page-story [data-behind]";

/**
 * The panels in view, the last that was pressed first, then the one that takes most of the window; in the story its
 * scenes.
 *
 * @param {Element | null} pressed
 * @returns {HTMLElement[]}
 */
function inView(pressed) {
  const from = upperEdge();
  /** @type {NodeListOf<HTMLElement>} */
  const found = document.querySelectorAll(`${PANELS}, ${SCENES}`);
  const all = [...found].filter((one) => one.getClientRects().length);
  return all
    .map((one) => ({ one, area: seen(one.getBoundingClientRect(), from) + (one === pressed ? 1e9 : 0) }))
    .sort((a, b) => b.area - a.area)
    .map(({ one }) => one);
}

/** The kind of a panel, or of the one behind a scene of the story. @param {HTMLElement} element */
const kindOf = ({ dataset }) => dataset.kind ?? dataset.behind ?? "";

/**
 * The kinds of panels that could be added, the most probable first; of the story those behind its scenes.
 *
 * @param {Element | null} pressed
 * @returns {string[]}
 */
export const kindsInView = (pressed) => [...new Set(inView(pressed).map(kindOf))];

/**
 * The first part of a panel that is in view, by a class that no other part of it has; "" for its top.
 *
 * @param {HTMLElement} panel
 */
function partInView(panel) {
  const from = upperEdge();
  const body = panel.querySelector(".gp-body");
  if (!body || body.getBoundingClientRect().top >= from - 8) return "";
  for (const element of body.querySelectorAll("[class]")) {
    const { top, height } = element.getBoundingClientRect();
    if (height < 24 || top < from - 8) continue;
    const name = [...element.classList].find(
      (one) => !/^(gp|is)-/.test(one) && body.querySelectorAll(`.${CSS.escape(one)}`).length === 1,
    );
    if (name) return `.${name}`;
  }
  return "";
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {string} kind of a panel in view
 * @returns {Promise<import("./lesson.js").View>}
 */
export async function viewNow(glass, kind) {
  const panel = inView(null).find((one) => kindOf(one) === kind);
  return {
    link: linkOf(await glass.address()),
    panel: kind,
    part: panel ? partInView(panel) : "",
    note: "",
    hidden: false,
  };
}
