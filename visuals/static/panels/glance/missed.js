// @ts-check
// Every head, layer by layer: what the answer loses without it, and which heads work against it.

import { largest } from "../../arrays.js";
import { choices } from "../../controls.js";
import { h, shown, signed } from "../../dom.js";
import { createDepthMap } from "../../marks/depth.js";
import { signedScale } from "../../marks/scales.js";
import { widthOf } from "../../pointing.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../decoded.d.ts").Detail<"why">} Why
 *
 * @typedef {NonNullable<Why["grid"]>} Grid
 *
 * @typedef {import("../../marks/runs.js").RunWith<{ grid: Grid }>} GridRun
 */

/**
 * How many heads were run, and how many there are.
 *
 * @param {Grid} grid
 */
export const countsOf = ({ measured: { data } }) => ({
  measured: Array.from(data).filter(Boolean).length,
  all: data.length,
});

/** @param {Glass} glass */
export function createMissed(glass) {
  const { state, text } = glass;
  const ablation = choices(glass, "why", "ablation", ["mean", "zero"]);
  const read = h("p.gp-note.wy-read");
  const about = h("p.gp-note");
  /** @type {Grid | null} */
  let grid = null;

  /**
   * A head's number in words.
   *
   * @param {number} layer
   * @param {number} head
   */
  function tell(layer, head) {
    if (!grid) return "";
    const i = layer * grid.lost.shape[1] + head;
    const lost = grid.lost.data[i];
    if (!grid.measured.data[i]) return text("why.grid_estimated", { layer, head, lost: signed(lost, 3) });
    const form = lost < 0 ? "against" : "for";
    return text(`why.grid_${form}`, { layer, head, lost: shown(Math.abs(lost), 3) });
  }
  const map = createDepthMap(glass, {
    label: "why.grid",
    left: 84,
    values: (/** @type {GridRun} */ { details }) => details.grid.lost.data,
    scale: (values) => ({ ...signedScale(largest(values), 2), name: text("why.grid_scale") }),
    pieces: ({ details }) => Array.from({ length: details.grid.lost.shape[1] }, (_, head) => String(head)),
    axis: () => text("why.grid_heads"),
    name: (row) => text("why.layer", { layer: row }),
    at: ({ layer, head }) => ({ row: layer, token: head }),
    pick: ({ row, token }) => ({ layer: row, head: token }),
    moves: {
      ArrowUp: (at) => ({ layer: at.layer + 1 }),
      ArrowDown: (at) => ({ layer: at.layer - 1 }),
      ArrowLeft: (at) => ({ head: at.head - 1 }),
      ArrowRight: (at) => ({ head: at.head + 1 }),
    },
  });
  const heading = h("h3.gp-subtitle", { "data-text": "why.grid" });
  const element = h("div.wy-missed", { hidden: "" }, heading, ablation.element, about, map.element, read);
  const wide = widthOf(map.element, glass);

  /**
   * @param {Why | null} found
   * @param {boolean} fresh
   */
  function draw(found, fresh) {
    grid = found?.grid ?? null;
    element.hidden = !grid;
    if (!grid) return;
    const { measured, all } = countsOf(grid);
    const by = text(`why.by_${grid.ablation}`);
    about.textContent = text(`why.grid_${measured < all ? "some" : "all"}`, { measured, all, by });
    const width = wide();
    const trace = /** @type {import("../../decode.js").Trace} */ (state.trace);
    if (width) map.draw([{ trace, details: { grid } }], width, fresh);
    read.textContent = tell(state.layer, state.head);
  }
  return { element, draw };
}
