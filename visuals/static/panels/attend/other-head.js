// Head B of the panel of two heads: one setting, kept in the link, for every run.

import { shownIn } from "../../run-for.js";

/**
 * What was chosen, at first the head after the locked one.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @returns {{ layer: number; head: number }}
 */
export function otherHead(glass) {
  const { locked, trace } = shownIn(glass);
  const { n_layers, n_heads } = trace.model;
  const { layer, head } = glass.settings.get("difference");
  /** @type {(value: string | undefined, count: number, otherwise: number) => number} */
  const whole = (value, count, otherwise) =>
    /^\d{1,4}$/.test(value ?? "") ? Math.min(Number(value), count - 1) : otherwise;
  return {
    layer: whole(layer, n_layers, locked.layer),
    head: whole(head, n_heads, (locked.head + 1) % n_heads),
  };
}
