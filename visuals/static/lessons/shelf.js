// The reader's own lessons, in the browser's storage: one entry each, so that none takes another down. What cannot be
// kept lives until the page is closed, and the caller is told.

import { checkLesson, Refused } from "./lesson.js";

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
 *   all: () => { id: string; lesson?: import("./lesson.js").Lesson; words?: string; error?: Refused }[];
 *   get: Function;
 *   put: Function;
 *   remove: Function;
 *   fresh: () => string;
 * }}
 *   `all`: by title; what is stored and no lesson comes with its `words` and the `error`. `put` keeps a lesson under
 *   an id, and throws Refused ("unavailable", "full") where that is only until the page is closed.
 */
export function createShelf(storage, known) {
  const here = new Map(); // what this page has put, kept or not

  function stored() {
    const found = new Map();
    try {
      for (let i = 0; storage && i < storage.length; i++) {
        const key = storage.key(i);
        if (key.startsWith(PREFIX)) found.set(key.slice(PREFIX.length), storage.getItem(key));
      }
    } catch {
      return new Map();
    }
    return found;
  }

  function read(id, words) {
    try {
      return { id, lesson: checkLesson(JSON.parse(words), known) };
    } catch (error) {
      return { id, words, error: error instanceof Refused ? error : new Refused("json", { reason: error.message }) };
    }
  }

  function all() {
    const found = new Map([...stored()].map(([id, words]) => [id, read(id, words)]));
    for (const [id, lesson] of here) found.set(id, { id, lesson });
    return [...found.values()].sort(
      (a, b) => (a.lesson?.title ?? "").localeCompare(b.lesson?.title ?? "") || a.id.localeCompare(b.id),
    );
  }
  const get = (id) => all().find((one) => one.id === id)?.lesson ?? null;

  function put(id, lesson) {
    here.set(id, lesson);
    if (!storage) throw new Refused("unavailable");
    try {
      storage.setItem(PREFIX + id, JSON.stringify(lesson));
      here.delete(id); // from now on another tab may change it
    } catch (error) {
      throw new Refused(error.name === "SecurityError" ? "unavailable" : "full");
    }
  }

  function remove(id) {
    here.delete(id);
    storage?.removeItem(PREFIX + id);
  }
  const fresh = () => Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join("");
  return { all, get, put, remove, fresh };
}
