// The button that writes one token more, and says at its own place that this is under way.

import { h } from "../dom.js";
import { hold } from "../scroll-anchor.js";

/** @param {import("./scene.js").Glass} glass */
export function createWriteOne({ state, text }) {
  const element = h("button.st-act", { click: press });
  function press() {
    if (element.ariaDisabled === "true") return;
    const { top } = element.getBoundingClientRect();
    // scenes above it become shorter
    hold(() => scrollBy(0, element.getBoundingClientRect().top - top), document.body);
    /** @type {HTMLElement | null} */ (document.querySelector("#step"))?.click();
  }
  return {
    element,
    /** @param {boolean} over whether the text has ended */
    draw(over) {
      const writes = state.status === "running" && state.awaited?.act === "write";
      element.setAttribute("aria-busy", String(writes));
      element.setAttribute("aria-disabled", String(over || state.status !== "idle")); // so that it keeps the focus
      element.textContent = text(`story.cache_${writes ? "writing" : "write"}`);
    },
  };
}
