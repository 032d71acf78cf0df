// What is being presented, in the storage of the browser's tab: when the page is loaded again it goes on where it was.

const KEY = "glass-llama-presented";

/**
 * @typedef {{
 *   lesson: import("./lesson.js").Lesson;
 *   at: number;
 *   notes: boolean;
 *   reads: boolean;
 *   id?: string;
 * }} Presented
 *   `id`: of one of the reader's own
 */

/** @param {Presented | null} what null: nothing is presented any more */
export function keepPresented(what) {
  try {
    if (what) sessionStorage.setItem(KEY, JSON.stringify(what));
    else sessionStorage.removeItem(KEY);
  } catch {
    // blocked for this site, or full: then loading the page again ends the presentation
  }
}

/**
 * What was presented when the page was loaded again.
 *
 * @returns {Presented | null}
 */
export function presentedBefore() {
  const [entry] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
  if (entry?.type !== "reload") return null;
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  } catch {
    return null;
  }
}
