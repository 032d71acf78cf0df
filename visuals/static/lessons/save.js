// @ts-check
// A lesson as a file.

import { writeLesson } from "./lesson.js";

/**
 * Hands a text to the reader's downloads.
 *
 * @param {string} words
 * @param {string} name of the lesson
 */
export async function save(words, name) {
  const { download } = await import("../file.js");
  const plain = name
    .normalize("NFKC")
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 60);
  download(`glass-llama-lesson${plain ? `-${plain}` : ""}.json`, new Blob([words], { type: "application/json" }));
}

/** @param {import("./lesson.js").Lesson} lesson */
export const saveLesson = (lesson) => save(writeLesson(lesson), lesson.title);
