// Where a presentation is: which view, and whether its answer is still covered. Knows no page.

import { asks } from "./lesson.js";

/** @typedef {ReturnType<typeof createCourse>} Course */

/** @typedef {Pick<import("./lesson.js").View, "hidden" | "question" | "answer">} Asked */

/**
 * @param {Asked[]} views at least one
 * @param {number} first the one to begin at
 * @param {(moved: boolean, backwards: boolean) => void} changed called after each change; `moved`: to another view;
 *   `backwards`: from the one after it
 */
export function createCourse(views, first, changed) {
  const all = [...views];
  /** @type {Set<Asked>} those whose answer was shown: who comes back to one finds it so */
  const open = new Set();
  let at = -1;
  const covered = () => at >= 0 && asks(all[at]) && !open.has(all[at]);

  /**
   * To a view by number; where there is none nothing happens.
   *
   * @param {number} to
   */
  function go(to, backwards = false) {
    if (to === at || !all[to]) return;
    at = to;
    changed(true, backwards);
  }
  function toggle() {
    if (!asks(all[at])) return;
    if (!open.delete(all[at])) open.add(all[at]);
    changed(false, false);
  }
  /** The answer, where it is covered, else the next view. */
  const next = () => (covered() ? toggle() : go(at + 1));
  return {
    next,
    back: () => go(at - 1, true),
    go: (/** @type {number} */ to) => go(to),
    toEnd: () => go(all.length - 1),
    begin: () => go(Math.max(0, Math.min(first, all.length - 1))),
    /** Another view has this place from now on; those from there on come after it. */
    insert(/** @type {Asked} */ view, /** @type {number} */ place) {
      all.splice(place, 0, view);
      if (place <= at) at += 1;
    },
    /** Shows the answer, or covers it again. */
    toggle,
    at: () => at,
    covered,
    last: () => at === all.length - 1,
  };
}
