// The states of one tour: which stop one is at, which are ticked off, where to go on after a pause. Knows no stop and
// no page.

/**
 * @param {string[]} names of the stops, in order
 * @param {{ last?: string; done?: string }} saved what `saved()` gave; unknown names are passed over
 * @param {() => void} changed called after every change of state
 */
export function createTour(names, saved, changed) {
  const known = (name) => names.indexOf(name ?? "");
  let at = -1; // not on the tour
  let last = Math.max(0, known(saved.last)); // where one goes on
  const done = new Set((saved.done ?? "").split(".").filter((name) => known(name) >= 0));

  function to(index) {
    at = index;
    if (index >= 0) last = index;
    changed();
  }
  /** Leaves; the stop is kept, so that `resume` comes back to it. */
  const leave = () => to(-1);

  /** Ticks off the stop that one is at, for another one. */
  function onFrom() {
    if (at >= 0) done.add(names[at]);
  }
  /** On to the next stop; from the last one out, and the next time to the first that was passed over, if any was. */
  function next() {
    if (at < 0) return;
    onFrom();
    if (at + 1 < names.length) return void to(at + 1);
    last = Math.max(
      0,
      names.findIndex((name) => !done.has(name)),
    );
    leave();
  }
  /** As `next`, but never out: who presses a key once too often stays at the last stop. */
  const further = () => {
    if (at + 1 < names.length) next();
  };
  const back = () => {
    if (at > 0) to(at - 1);
  };
  /** To a stop by name, from anywhere; others than those there are do nothing. */
  function go(name) {
    if (known(name) < 0) return;
    if (known(name) !== at) onFrom();
    to(known(name));
  }

  /** Where one left; after the end from the beginning, with nothing ticked off. */
  function resume() {
    if (done.size === names.length && last === 0) done.clear();
    to(last);
  }
  return {
    next,
    further,
    back,
    go,
    leave,
    resume,
    at: () => at,
    last: () => last,
    isDone: (name) => done.has(name),
    ticked: () => done.size,
    saved: () => ({ last: last > 0 ? names[last] : "", done: names.filter((name) => done.has(name)).join(".") }),
  };
}
