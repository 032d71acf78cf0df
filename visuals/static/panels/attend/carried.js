// What one key hands over, α·v, beside the head's whole output o = Σ α·v.

import { largest } from "../../arrays.js";
import { h } from "../../dom.js";
import { createStrips } from "../../marks/strips.js";
import { carriedLines } from "./formulas.js";
import { dot, mix, norm, valueOf } from "./values.js";

/** How the strips of a head stand. */
export const BESIDE = { beside: true, strip: 22, gap: 6 };

/** @param {object} glass @param {Function} text */
export function createCarried(glass, text) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": "cell.carried" });
  const note = h("p.gp-note");
  const sums = h("div.gp-formula", { lang: "en" });
  const holder = h("div", null, canvas);
  const element = h("div", null, note, holder, sums);
  const strips = createStrips(canvas, BESIDE);

  /** @param {object|null} values the detail "values", null while it is on its way or the pointer is elsewhere */
  function draw({ weight, weights }, values, width, dimension) {
    note.textContent = text(values ? "carried_note" : "values_locked");
    canvas.hidden = sums.hidden = !values;
    if (!values) return null;
    const { trace, head, key } = glass.state;
    const v = valueOf(values, trace.model, head, key);
    const out = mix(values, trace.model, head, weights);
    const part = Float64Array.from(v, (x) => weight * x);
    const limit = Math.max(largest(out), largest(part));
    const rows = [
      { name: "v", role: "v", values: v },
      { name: "α·v", role: "v", values: part, limit },
      { name: "o", role: "output", values: out, limit, bars: true },
    ];
    strips.draw(width, rows, { chosen: Math.min(dimension, v.length - 1) });
    const [along, square] = [dot(part, out), dot(out, out)];
    const facts = { weight, size: norm(v), along, square, share: square ? along / square : 0 };
    sums.replaceChildren(...carriedLines(facts, text));
    return facts;
  }
  return { element, holder, canvas, draw, find: strips.find };
}
