// Where a presentation is: which view, and whether its answer is still covered. Knows no page.

/** @typedef {ReturnType<typeof createCourse>} Course */

/**
 * @param {{ hidden: boolean }[]} views at least one
 * @param {number} first the one to begin at
 * @param {(moved: boolean) => void} changed called after each change; `moved`: to another view
 */
export function createCourse(views, first, changed) {
  const all = [...views];
  let at = -1;
  let covered = false;

  /** To a view by number; where there is none nothing happens. @param {number} to */
  function go(to) {
    if (to === at || !all[to]) return;
    at = to;
    covered = all[to].hidden;
    changed(true);
  }
  /** @param {boolean} now */
  function cover(now) {
    if (covered === now || !all[at].hidden) return;
    covered = now;
    changed(false);
  }
  /** The answer, where it is covered, else the next view. */
  const next = () => (covered ? cover(false) : go(at + 1));
  const back = () => go(at - 1);
  return {
    next,
    back,
    go,
    toEnd: () => go(all.length - 1),
    begin: () => go(Math.max(0, Math.min(first, all.length - 1))),
    /** Another view has this place from now on; those from there on come after it. */
    insert(/** @type {{ hidden: boolean }} */ view, /** @type {number} */ place) {
      all.splice(place, 0, view);
      if (place <= at) at += 1;
    },
    /** Shows the answer, or covers it again. */
    toggle: () => cover(!covered),
    at: () => at,
    covered: () => covered,
    last: () => at === all.length - 1,
  };
}
