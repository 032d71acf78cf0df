// Brings the page of a file to life, as gradio's components do on the page itself.

import { followOuter } from "./framed.js";
import { createServer } from "./server.js";

/** @typedef {import("../messages.d.ts").FileContents} FileContents */

/**
 * A copy of the page in a frame of the file's own, for pictures (lessons/stills.js): it has no address and no
 * history.
 */
const IS_COPY = location.protocol === "about:";

/**
 * Before the page's own script: an address that says nothing opens the view that was saved.
 *
 * @param {FileContents} contents
 */
export function begin({ hash }) {
  if (!IS_COPY && !location.hash && hash) history.replaceState(null, "", hash);
}

/**
 * The languages, of which the one that is shown is marked.
 *
 * @param {import("../types.d.ts").Glass} glass
 */
function offerLanguages(glass) {
  /** @type {NodeListOf<HTMLElement>} */
  const buttons = document.querySelectorAll("#language [data-language]");
  const mark = () => {
    for (const one of buttons) one.setAttribute("aria-pressed", String(one.dataset.language === glass.state.language));
  };
  for (const one of buttons) one.addEventListener("click", () => glass.setLanguage(one.dataset.language ?? ""));
  glass.on("language", mark);
  mark();
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {FileContents} contents
 */
export async function start(glass, contents) {
  /** @type {(what: string) => HTMLElement} */
  const find = (what) => /** @type {HTMLElement} */ (document.querySelector(what)); // of app/one_file/document.py
  const box = /** @type {HTMLTextAreaElement} */ (find("#prompt textarea"));
  find(".of-opens").remove();
  find("main").hidden = false;
  if (!contents.lesson) find("#lessons").remove(); // others need runs that are not in the file
  if (matchMedia("(prefers-color-scheme: dark)").matches) document.body.classList.add("dark");
  for (const part of ["header", "panels", "status"]) glass.attach(part, find(`.page-${part}`));
  for (const part of [find(".page-bar"), find(".of-says")]) glass.translate(part);
  glass.on("run", ({ prompt }) => {
    box.value = prompt;
  });
  offerLanguages(glass);
  if (IS_COPY) {
    glass.state.presenting = true;
    await glass.setLanguage(window.parent.glass.state.language);
  }
  glass.connect(createServer(contents), () => {});
  await glass.opened(contents.offers);
  if (!IS_COPY) followOuter(glass);
}
