// The channels of a head that RoPE does not turn, with what they add to q·k.

import { h, signed } from "../../dom.js";
import { createStrips } from "../../marks/strips.js";
import { BESIDE, productStrips } from "../attend/carried.js";
import { rotaryOf } from "../../readings/position-kinds.js";
import { turnsPart } from "../../readings/rope-place.js";
import { shownIn } from "../../run-for.js";

/**
 * The channels outside the pairs, as "0–7".
 *
 * @param {import("../../decode.js").Trace} trace of a network that turns its heads
 */
function unturned(trace) {
  const { head_dim: width } = trace.model;
  const rotary = rotaryOf(trace.model);
  const [from, to] = [rotary.first, rotary.first + 2 * rotary.inv_freq.data.length];
  return Array.from({ length: width }, (_, channel) => channel).filter((channel) => channel < from || channel >= to);
}

/**
 * The values of the channels that are not turned: q, k and their products.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {import("../../types.d.ts").Say} text of the panel
 */
export function createUnturned(glass, text) {
  const title = h("h3.gp-subtitle");
  const canvas = h("canvas.gp-canvas", { "data-text-label": "rope.unrotated_strips" });
  const element = h("div", null, title, canvas);
  const strips = createStrips(canvas, BESIDE);

  /**
   * @param {{ qTurned: ArrayLike<number>; kTurned: ArrayLike<number>; rest: number }} all
   * @param {number} width
   */
  function draw(all, width) {
    const { trace } = shownIn(glass);
    const { model } = trace;
    element.hidden = !turnsPart(model);
    if (element.hidden) return;
    const channels = unturned(trace);
    const of = (/** @type {ArrayLike<number>} */ vector) => Float64Array.from(channels, (channel) => vector[channel]);
    const [q, k] = [of(all.qTurned), of(all.kTurned)];
    title.textContent = text("unrotated_title", {
      first: channels[0],
      last: channels[channels.length - 1],
      width: model.head_dim,
      term: signed(all.rest, 5),
    });
    const products = q.map((x, i) => x * k[i]);
    strips.draw(width, productStrips(q, k, products), { chosen: null });
  }
  return { element, draw };
}
