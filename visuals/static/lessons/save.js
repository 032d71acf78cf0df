// A lesson as a file.

import { writeLesson } from "./lesson.js";

/**
 * What a file is called, without its ending.
 *
 * @param {"lesson" | "run"} what
 * @param {string} name of the lesson, or the text of the run
 */
export function fileName(what, name) {
  const plain = name
    .normalize("NFKC")
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, 60)
    .replace(/^-|-$/g, "");
  return `glass-llama-${what}${plain ? `-${plain}` : ""}`;
}

/**
 * Hands a text to the reader's downloads.
 *
 * @param {string} words
 * @param {string} name of the lesson
 */
export async function save(words, name) {
  const { download } = await import("../file.js");
  download(`${fileName("lesson", name)}.json`, new Blob([words], { type: "application/json" }));
}

/** @param {import("./lesson.js").Lesson} lesson */
export const saveLesson = (lesson) => save(writeLesson(lesson), lesson.title);
