// GLM's blank infilling on a sentence with two blanks: what is read, the two positions of each token, what is to be
// predicted, and who sees whom.

import { checkbox } from "../../controls.js";
import { h } from "../../dom.js";
import { fit } from "../../draw.js";
import { drawNames, LEFT, TOP } from "../../marks/cell-names.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { reactive } from "../../reads.js";
import { blankInfilling, prefixed } from "../../readings/masks.js";
import { drawMask } from "./mask-maps.js";

const TEXT = ["I", ["stayed"], "because", "you", ["asked", "me"]]; // "I <MASK> because you <MASK>"
const ROWS = blankInfilling(TEXT, false).length;
const CELL = 22; // px
const SIGNS = { "": "", mask: "[MASK]", start: "[START]" };

/** @typedef {import("../../readings/masks.js").Filled} Filled */

/** @param {Pick<Filled, "word" | "sign">} token */
const nameOf = ({ word, sign }) => word ?? SIGNS[sign];

/** @param {import("../../types.d.ts").Glass} glass */
export function createExample(glass) {
  const view = reactive({ reversed: false }, glass.repaint);
  const order = checkbox("mask-kinds.reversed", (ticked) => {
    view.reversed = ticked;
  });
  const table = createTable(
    "mask-kinds",
    [
      ["token", "th.gp-token"],
      ["part", "td.at-part"],
      ["place", "td.gp-number"],
      ["inner", "td.gp-number"],
      ["target", "td.at-part"],
    ],
    { rows: ROWS },
  );
  const canvas = h("canvas.gp-canvas", { role: "img", "data-text-label": "mask-kinds.example_map" });

  /** @returns {() => void} what fills the table */
  function draw() {
    const tokens = blankInfilling(TEXT, view.reversed);
    const [n, partA] = [tokens.length, tokens.filter(({ part }) => part === "A").length];
    const size = n * CELL;
    const context = fit(canvas, LEFT + size + 2, TOP + size + 2);
    const square = { x: LEFT, y: TOP, size };
    drawMask(context, square, { queries: n, keys: n, of: n }, prefixed(partA), (query, key) =>
      key >= partA ? "q" : query < partA ? "k" : "v",
    );
    drawNames(context, square, tokens.map(nameOf));
    return () =>
      table.fill(tokens, (fields, { part, place, inner, target, ...token }) =>
        writeTexts(fields, [nameOf(token), part, String(place), String(inner), target ?? "–"]),
      );
  }
  return { order: order.element, table: listed(".at-wide-table", "mask-kinds.example_table", table), canvas, draw };
}
