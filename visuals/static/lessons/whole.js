// What is shown, or a lesson, as one HTML file that opens without a server: the button that makes it.

import { h } from "../dom.js";
import { everyView } from "./lesson.js";
import { packLesson } from "./pack.js";
import { fileName } from "./save.js";
import { collectViews } from "./stills.js";

/**
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {import("./lesson.js").Lesson} Lesson
 */

/**
 * What a lesson's file is made of: its runs are found by going where each view leads.
 *
 * @param {Glass} glass
 * @param {Lesson} lesson
 * @param {(at: number) => void} tell which view is on its way
 */
async function ofLesson(glass, lesson, tell) {
  const { views, calculations } = await collectViews(glass, lesson, tell);
  return { hash: await packLesson(lesson), lesson, views, calculations };
}

/**
 * The button, and the line that says how far it is or what went wrong.
 *
 * @param {Glass} glass
 * @param {Lesson} [lesson]
 * @returns {HTMLElement}
 */
export function wholeFile(glass, lesson) {
  /** @type {(name: string, params?: Record<string, unknown>) => string} */
  const text = (name, params) => glass.text(`lessons.${name}`, params);
  const says = h("p.ls-none", { role: "status" }, text(lesson ? "file_lesson" : "file_run"));
  const button = /** @type {HTMLButtonElement} */ (h("button.ls-button.ls-whole", { click: save }, text("file_save")));

  async function save() {
    button.disabled = true;
    says.textContent = text("file_waits");
    const tell = (/** @type {number} */ at) => {
      says.textContent = text("file_view", { at: at + 1, views: lesson && everyView(lesson).length });
    };
    try {
      const answer = await glass.oneFile(lesson && (await ofLesson(glass, lesson, tell)));
      if (answer.kind === "file") {
        const { download } = await import("../file.js");
        const name = fileName(lesson ? "lesson" : "run", lesson ? lesson.title : (glass.state.run?.prompt ?? ""));
        download(`${name}.html`, new Blob([answer.html], { type: "text/html" }));
        says.textContent = text("file_saved", { size: (answer.html.length / 1e6).toFixed(1) });
      } else {
        says.textContent = glass.text(`message.${answer.code}`, answer.params);
      }
    } catch {
      says.textContent = glass.text("message.no_connection");
    } finally {
      button.disabled = false;
    }
  }
  return h("div.ls-share", null, says, h("div.ls-does", null, button));
}
