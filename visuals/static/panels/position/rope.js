// How a position comes into a score: each pair of a head as a dial, turned by RoPE, or a bias by distance.

import { h } from "../../dom.js";
import { cellNames } from "../../draw.js";
import { frame } from "../../frame.js";
import { turningForms } from "../../parts.js";
import { inWidth, widthOf } from "../../pointing.js";
import { createBias } from "./bias.js";
import { createDials } from "./dials.js";

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
  const { state } = glass;
  const views = {};
  const now = () => (state.trace?.model.parts.bias ? views.bias : views.dials);
  const panel = frame(element, glass, "rope", {
    csv: () => (glass.layer() ? now().table() : []),
    parts: ["what", "formula", "myth", "layout"],
  });
  Object.assign(views, { dials: createDials(glass, panel.text), bias: createBias(glass, panel.text) });
  const boxes = Object.values(views).map((view) => view.element);
  const lead = h("p.wy-notice");
  panel.body.append(lead, ...boxes);

  return inWidth(element, widthOf(panel.body, glass), function draw(width) {
    const held = glass.layer();
    if (!held) return null;
    const view = now();
    for (const box of boxes) box.hidden = box !== view.element;
    const found = view.draw(held, width);
    return () => {
      panel.title.textContent = panel.text("title", { ...cellNames(state), kv: found.kv });
      lead.textContent = view.lead(found);
      const [value, read] = view.tell(found);
      panel.tell(value, read);
    };
  });
}
