// What is done with a lesson: it is kept, taken over, begun, read from a file, removed.

import { MOST, newLesson, readLesson, Refused } from "./lesson.js";

/** @typedef {import("./lesson.js").Lesson} Lesson */

/**
 * @param {ReturnType<typeof import("./shelf.js").createShelf>} shelf
 * @param {import("./lesson.js").Known} known
 * @param {{
 *   text: import("../types.d.ts").Say;
 *   language: () => string;
 *   tell: (words: string, back?: () => void) => void;
 *   complain: (error: unknown) => void;
 *   go: (to: { pane: "list" } | { pane: "edit"; id: string }) => void;
 * }} desk
 *   what the reader sees: `go` shows one of its panes
 */
export function createKeeping(shelf, known, { text, language, tell, complain, go }) {
  /**
   * Keeps a lesson; where that fails the reader hears of it, and it stays here until the page is closed.
   *
   * @param {string} id
   * @param {Lesson} lesson
   */
  function put(id, lesson) {
    try {
      shelf.put(id, lesson);
      return true;
    } catch (error) {
      complain(error);
      return false;
    }
  }
  /**
   * Keeps a lesson among the reader's own.
   *
   * @param {string | undefined} id undefined: it is none of them yet
   * @param {Lesson} lesson
   * @returns {string} its id
   */
  function putOwn(id, lesson) {
    const own = id ?? shelf.fresh();
    put(own, lesson);
    return own;
  }
  /** @param {Lesson} lesson */
  function adopt(lesson) {
    const id = shelf.fresh();
    tell("");
    put(id, lesson);
    go({ pane: "edit", id });
  }
  const begin = () => adopt(newLesson(text("untitled"), language()));
  /** @param {File} file */
  async function read(file) {
    try {
      if (file.size > MOST.bytes) throw new Refused("size", { size: file.size, most: MOST.bytes });
      adopt(readLesson(await file.text(), known));
    } catch (error) {
      complain(error);
    }
  }
  /** @param {string} id */
  function remove(id) {
    const lesson = shelf.get(id);
    shelf.remove(id);
    go({ pane: "list" });
    if (lesson)
      tell(text("removed", { title: lesson.title }), () => {
        put(id, lesson);
        go({ pane: "list" });
      });
  }
  return { put, putOwn, adopt, begin, read, remove };
}
