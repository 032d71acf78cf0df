// What is in one cell: the key and the value of the last token in one layer, for one head.

import { labelsOf } from "../../../characters.js";
import { kvHead, rotatedHead, vectorOf } from "../../../compute.js";
import { h } from "../../../dom.js";
import { memo } from "../../../reads.js";
import { elementBytes } from "../../../readings/kv.js";
import { bytesOfCell, bytesTold, pairsSaid } from "../../held.js";
import { createRows } from "../../strips.js";
import { bold, named } from "../../words.js";

/**
 * @param {import("../../scene.js").Glass} glass
 * @returns {import("../../scene.js").Scene}
 */
export function createKept(glass) {
  const { state, text } = glass;
  const rows = createRows(glass, "story-cache.kept_rows");
  const paint = memo((width, group, key, value, theme, _language) => {
    const row = (/** @type {string} */ name) => text(`story-cache.kept_${name}`, { group });
    rows.paint(
      width,
      [
        { name: row("k"), role: "k", values: key },
        { name: row("v"), role: "v", values: value },
      ],
      theme,
    );
  });
  return {
    name: "kept",
    behind: ["kv", "kv-live"],
    element: h("div", null, rows.element),
    has: ({ parts: { latent } }) => !latent,
    draw(width) {
      const { trace, layer, head, language, theme } = state;
      const held = trace && glass.layerOf(trace, layer);
      const values = trace && glass.detail("values", { layer });
      if (!trace || !held || !values) return null;
      const { model, tokens, T } = trace;
      const [group, dim] = [kvHead(model, head), model.head_dim];
      const keys = rotatedHead(held, model, "k", group);
      paint(width, group, keyOf(keys, T - 1, dim), vectorOf(values.v, group, T - 1), theme, language);
      const bytes = bytesOfCell(trace);
      return {
        form: trace.encoder ? "_source" : "",
        words: {
          word: bold(named(text, labelsOf(tokens.pieces), T - 1)),
          layer: String(layer),
          pairs: pairsSaid(text, trace),
          dim: String(dim),
          size: String(elementBytes(trace)),
          cell: bytesTold(bytes),
        },
        value: `layer ${layer} group ${group} bytes ${bytes}`,
        select: { layer, head, query: T - 1 },
      };
    },
  };
}

/** @type {(keys: Float64Array, token: number, width: number) => Float64Array} */
const keyOf = (keys, token, width) => keys.subarray(token * width, (token + 1) * width);
