// How a position comes into a score: each pair of a head as a dial, turned by RoPE, or a bias by distance.

import { h } from "../../dom.js";
import { cellNames } from "../../draw.js";
import { frame } from "../../frame.js";
import { turningForms } from "../../parts.js";
import { inWidth, widthOf } from "../../pointing.js";
import { shownIn } from "../../run-for.js";
import { createBias } from "./bias.js";
import { createDials } from "./dials.js";

/** @typedef {import("../../decode.js").Layer} Layer */

/**
 * What one of the two shows.
 *
 * @template Found
 * @typedef {object} View
 * @property {(held: Layer, width: number) => Found} draw
 * @property {(found: Found) => string} lead
 * @property {(found: Found) => [value: string, words: string]} tell
 */

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["q", "k", "q_rot", "k_rot", "k_rope", "position_bias"],
  difference: "glance",
  unused: "head",
  forms: turningForms,
};

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function rope(element, glass) {
  const state = shownIn(glass);
  const isBiased = () => Boolean(state.trace.model.parts.bias);
  const panel = frame(element, glass, "rope", {
    csv() {
      const held = glass.layer();
      return held ? (isBiased() ? bias.table() : dials.table(held)) : [];
    },
    parts: ["what", "formula", "myth", "layout"],
  });
  const [dials, bias] = [createDials(glass, panel.text), createBias(glass, panel.text)];
  const lead = h("p.wy-notice");
  panel.body.append(lead, dials.element, bias.element);

  /**
   * Draws one of the two, and gives what writes its words.
   *
   * @template {{ kv: number }} Found
   * @param {View<Found>} view
   * @param {Layer} held
   * @param {number} width
   */
  function drawn({ draw, lead: leadOf, tell }, held, width) {
    const found = draw(held, width);
    return () => {
      panel.title.textContent = panel.text("title", { ...cellNames(state), kv: found.kv });
      lead.textContent = leadOf(found);
      panel.tell(...tell(found));
    };
  }

  return inWidth(element, widthOf(panel.body, glass), function draw(width) {
    const held = glass.layer();
    if (!held) return undefined;
    [dials.element.hidden, bias.element.hidden] = [isBiased(), !isBiased()];
    return isBiased() ? drawn(bias, held, width) : drawn(dials, held, width);
  });
}
