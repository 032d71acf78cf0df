// How far a reader has come in each tour, kept in this browser alone: a link leads to a stop, and carries nobody's
// ticks.

const KEY = "glass.tours";

/**
 * Where a browser refuses to keep anything (a page in a frame, a full disk), it is kept for as long as the page is
 * open.
 */
function read(storage) {
  try {
    const found = JSON.parse(storage().getItem(KEY));
    return found && typeof found === "object" ? found : {};
  } catch {
    return {};
  }
}

/** @typedef {{ last?: string; done?: string }} Saved of tour.js */

/**
 * @param {() => Storage} storage
 * @returns {{ get: (tour: string) => Saved; set: (tour: string, saved: Saved) => void }}
 */
export function openProgress(storage = () => localStorage) {
  const all = read(storage);
  const textOf = (value) => (typeof value === "string" ? value : "");
  return {
    get: (tour) => (Object.hasOwn(all, tour) ? { last: textOf(all[tour]?.last), done: textOf(all[tour]?.done) } : {}),
    set(tour, saved) {
      all[tour] = saved;
      try {
        storage().setItem(KEY, JSON.stringify(all));
      } catch {
        /* kept in `all` */
      }
    },
  };
}
