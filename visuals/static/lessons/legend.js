// The legend of a presented panel, where it has one alone: it stands under the heading, above every page of the panel,
// so that no page shows colours whose meaning is on another. One that is of drawings alone (data-of-drawings) is not
// seen above a page without any.

import { h } from "../dom.js";
import { isColumn } from "./column.js";

const ACTS = "label, input, button"; // these only act where they were made

export function createLegend() {
  const element = h("div.ls-legend", { "aria-hidden": "true" });
  /** @type {HTMLElement | null} */
  let lifted = null;
  function copy() {
    if (!lifted) return;
    const copied = /** @type {HTMLElement} */ (lifted.cloneNode(true));
    copied.classList.remove("is-lifted");
    for (const one of copied.querySelectorAll(ACTS)) one.remove();
    element.replaceChildren(copied);
  }
  const changed = new MutationObserver(copy); // an answer that comes late has other entries
  function drop() {
    changed.disconnect();
    lifted?.classList.remove("is-lifted");
    lifted = null;
    element.remove();
  }
  return {
    drop,
    /**
     * Its place stays, so that nothing moves, but in a column, which scrolls anyway.
     *
     * @param {boolean} drawings whether what is shown has some
     */
    above(drawings) {
      const isOff = !drawings && lifted?.hasAttribute("data-of-drawings");
      element.style.visibility = isOff ? "hidden" : "";
      element.style.display = isOff && isColumn() ? "none" : "";
    },
    /**
     * @param {HTMLElement} section the panel
     * @param {string} part ".name" of the part that is shown; one that is marked data-apart has colours of its own
     */
    lift(section, part) {
      drop();
      const shown = part ? section.querySelector(part) : null;
      const isAnother = (/** @type {Element} */ one) => shown?.matches("[data-apart]") && !shown.contains(one);
      /** @type {NodeListOf<HTMLElement>} */
      const found = section.querySelectorAll(".gp-body .gp-samples");
      const seen = [...found].filter((one) => one.getClientRects().length && one.textContent && !isAnother(one));
      if (seen.length !== 1) return;
      [lifted] = seen;
      lifted.classList.add("is-lifted");
      copy();
      changed.observe(lifted, { childList: true, characterData: true, subtree: true });
      section.querySelector(".gp-head")?.after(element);
    },
  };
}
