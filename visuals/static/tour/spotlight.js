// Brings a panel, or a part of it, into the room above the tour's bar, or beside it, and marks it; keeps it there while
// what is drawn around it grows, until the reader scrolls.

import { panelOf, partsOf } from "../panel-parts.js";

const GAP = 8;

/**
 * By how much to scroll so that a box stands in the room, below as much as fits from where something begins; where
 * nothing does, at the room's end; and what is higher than the room from its top.
 *
 * @param {{ top: number; height: number }} box
 * @param {number[]} starts where the panel and its sections begin, in order
 */
export function offsetOf({ top, height }, starts, room) {
  const first = top + height - (room - 2 * GAP);
  return (starts.find((start) => start >= first && start <= top) ?? Math.min(first, top)) - GAP;
}

/**
 * What all of these elements take up, of those that are shown; null where none is.
 *
 * @param {Element[]} elements
 * @returns {{ top: number; height: number } | null}
 */
export function around(elements) {
  const boxes = elements.filter((one) => one.getClientRects().length).map((one) => one.getBoundingClientRect());
  if (!boxes.length) return null;
  const top = Math.min(...boxes.map((box) => box.top));
  return { top, height: Math.max(...boxes.map(({ top: from, height }) => from + height)) - top };
}

/** @param {HTMLElement} bar at the bottom of the window, or in a wide one at its right */
export function createSpotlight(bar) {
  let [panel, parts, following] = [null, [], false];
  let pointer = ""; // where it is
  const sizes = new ResizeObserver(() => aim());

  function aim() {
    const { top } = bar.getBoundingClientRect();
    const room = top > 0 ? top : innerHeight;
    document.body.style.setProperty("--tour-bar", `${innerHeight - room}px`);
    if (!following || !panel?.getClientRects().length) return;
    const starts = [panel, ...panel.querySelectorAll(".gp-body > *, h3")]
      .filter((one) => one.getClientRects().length)
      .map((one) => one.getBoundingClientRect().top);
    const by = offsetOf(around(parts) ?? panel.getBoundingClientRect(), starts, room);
    if (Math.abs(by) >= 1) scrollBy({ top: by, behavior: "instant" });
  }

  function mark(element, name, on) {
    element?.classList.toggle(name, on);
  }

  /**
   * @param {string} kind of a panel
   * @param {string[]} [names] of parts of it, which may not be drawn yet
   */
  function show(kind, names = []) {
    const found = panelOf(kind);
    const inside = partsOf(found, names);
    if (found === panel && inside.length === parts.length && inside.every((one, i) => one === parts[i])) return;
    hide();
    [panel, parts] = [found, inside];
    mark(panel, "is-spot", true);
    for (const part of parts) mark(part, "is-spot-part", true);
    for (const one of [document.querySelector(".page-body"), bar, panel]) if (one) sizes.observe(one);
    aim();
  }
  function hide() {
    sizes.disconnect();
    mark(panel, "is-spot", false);
    for (const part of parts) mark(part, "is-spot-part", false);
    [panel, parts] = [null, []];
  }
  /** Follows what is shown anew, wherever the reader has scrolled. */
  function follow() {
    following = true;
    aim();
  }
  /** What comes to lie under a pointer that rests is not pointed at; where the reader points, nothing moves. */
  function point(event) {
    const before = pointer;
    pointer = `${event.clientX} ${event.clientY}`;
    if (!panel || !event.target.closest?.(".page-body")) return;
    if (pointer === before) event.stopPropagation();
    else if (panel.contains(event.target)) following = false;
  }
  for (const name of ["pointerover", "pointermove"]) addEventListener(name, point, { capture: true, passive: true });
  const stay = ({ target }) => {
    if (!(target instanceof Element && bar.contains(target))) following = false;
  };
  for (const name of ["wheel", "touchmove", "pointerdown"]) addEventListener(name, stay, { passive: true });
  addEventListener("keydown", ({ key }) => {
    if (/^(Page|Home|End|Arrow(Up|Down)|Tab)/.test(key)) following = false;
  });
  return { show, hide, follow, aim };
}
