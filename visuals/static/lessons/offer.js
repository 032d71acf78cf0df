// What leads to the lessons: the header's button, and a link that holds one. All else is fetched when it is first
// wanted.

import { addressOf } from "../addresses.js";
import { h } from "../dom.js";
import { presentedBefore } from "./resume.js";

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {string} hash of the address that the page was opened with
 */
export function offerLessons(glass, hash) {
  /** @type {ReturnType<typeof import("./desk.js").createDesk> | null} */
  let desk = null;
  /** @type {Element | null} the panel that the reader last pressed something in */
  let pressed = null;
  async function wanted() {
    if (!desk) {
      const { createDesk } = await import("./desk.js");
      if (!desk) document.head.append(h("link", { rel: "stylesheet", href: addressOf("lessons/style.css") }));
      desk ??= createDesk(glass, () => pressed);
    }
    return desk;
  }
  document.addEventListener(
    "pointerdown",
    ({ target }) => {
      pressed = /** @type {Element} */ (target).closest?.("section.glass-panel") ?? pressed;
    },
    { passive: true },
  );
  document.addEventListener("click", async ({ target }) => {
    if (/** @type {Element} */ (target).closest?.("button#lessons")) (await wanted()).open();
  });
  const before = presentedBefore();
  if (!before && !new URLSearchParams(hash.replace(/^#/, "")).has("lesson")) return;
  const off = glass.on("run", async () => {
    off();
    const { receive, resume } = await wanted();
    before ? resume(before) : receive(hash);
  });
}
