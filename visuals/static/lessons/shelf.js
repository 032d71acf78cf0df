// The reader's own lessons, in the browser's storage: one entry each, so that none takes another down. What cannot be
// kept lives until the page is closed, and the caller is told.

import { checkLesson, reasonOf, Refused } from "./lesson.js";

/**
 * @typedef {import("./lesson.js").Lesson} Lesson
 *
 * @typedef {{ id: string; lesson?: Lesson; words?: string; error?: Refused }} Entry a lesson, or the `words` that
 *   are stored and are none, with the `error`
 */

const PREFIX = "glass-llama-lesson.";

/** The browser's storage, null where it has none for this page. */
export function browserStorage() {
  try {
    return window.localStorage;
  } catch {
    return null; // blocked for this site
  }
}

/**
 * @param {Storage | null} storage
 * @param {import("./lesson.js").Known} known
 * @returns {{
 *   all: () => Entry[];
 *   get: (id: string) => Lesson | null;
 *   put: (id: string, lesson: Lesson) => void;
 *   remove: (id: string) => void;
 *   fresh: () => string;
 * }}
 *   `all`: by title. `put` keeps a lesson under an id, and throws Refused ("unavailable", "full") where that is only
 *   until the page is closed.
 */
export function createShelf(storage, known) {
  /** @type {Map<string, Lesson>} what this page has put, kept or not */
  const here = new Map();

  /** @returns {Map<string, string>} the words of each, by id */
  function stored() {
    /** @type {Map<string, string>} */
    const found = new Map();
    try {
      for (let i = 0; storage && i < storage.length; i++) {
        const key = storage.key(i) ?? "";
        const words = key.startsWith(PREFIX) ? storage.getItem(key) : null;
        if (words !== null) found.set(key.slice(PREFIX.length), words);
      }
    } catch {
      return new Map();
    }
    return found;
  }

  /**
   * @param {string} id
   * @param {string} words
   * @returns {Entry}
   */
  function read(id, words) {
    try {
      return { id, lesson: checkLesson(JSON.parse(words), known) };
    } catch (error) {
      return { id, words, error: error instanceof Refused ? error : new Refused("json", { reason: reasonOf(error) }) };
    }
  }

  function all() {
    const found = new Map([...stored()].map(([id, words]) => [id, read(id, words)]));
    for (const [id, lesson] of here) found.set(id, { id, lesson });
    return [...found.values()].sort(
      (a, b) => (a.lesson?.title ?? "").localeCompare(b.lesson?.title ?? "") || a.id.localeCompare(b.id),
    );
  }
  const get = (/** @type {string} */ id) => all().find((one) => one.id === id)?.lesson ?? null;

  /**
   * @param {string} id
   * @param {Lesson} lesson
   */
  function put(id, lesson) {
    here.set(id, lesson);
    if (!storage) throw new Refused("unavailable");
    try {
      storage.setItem(PREFIX + id, JSON.stringify(lesson));
      here.delete(id); // from now on another tab may change it
    } catch (error) {
      throw new Refused(error instanceof Error && error.name === "SecurityError" ? "unavailable" : "full");
    }
  }

  /** @param {string} id */
  function remove(id) {
    here.delete(id);
    storage?.removeItem(PREFIX + id);
  }
  const fresh = () => Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join("");
  return { all, get, put, remove, fresh };
}
