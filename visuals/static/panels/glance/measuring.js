// Heads that are measured one after the other: asked for in parts, each shown as it comes, until all are there or the
// reader stops. What is there by then stays.

import { reactive } from "../../reads.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../decoded.d.ts").Decoded<import("../../messages.d.ts").MeasuredDetail>} Part
 *
 * @typedef {object} Heads
 * @property {Part | null} part what is known by now; null before the first part
 * @property {boolean} complete
 * @property {boolean} stopped nothing more is asked for
 */

/** @param {Glass} glass */
export function createMeasuring(glass) {
  /** The question that is not asked on, while the reader has stopped it. */
  const view = reactive({ stopped: "" }, glass.repaint);
  let key = "";
  /** @type {Part | null} */
  let known = null;

  /**
   * The parts that have come, asking for the next.
   *
   * @param {object} question
   * @returns {Part | null}
   */
  function walk(question) {
    /** @type {Part | null} */
    let part = null;
    while (!part || part.done < part.total) {
      /** @type {import("../../decoded.d.ts").Detail<"heads"> | null} */
      const came = glass.detail("heads", { ...question, start: part ? part.done : 0 });
      if (!came || !("grid" in came) || (part && came.done <= part.done)) break;
      part = came;
    }
    return part;
  }

  /**
   * What is known of the heads by now.
   *
   * @param {{ token: number; target?: number; ablation?: string }} question
   * @returns {Heads}
   */
  function follow(question) {
    const next = `${glass.state.trace?.id} ${JSON.stringify(question)}`;
    if (next !== key) known = null;
    key = next;
    const stopped = view.stopped === key;
    if (!stopped) known = walk(question) ?? known;
    return { part: known, complete: Boolean(known && known.done >= known.total), stopped };
  }

  /** Stops, or goes on. */
  const toggle = () => {
    view.stopped = view.stopped === key ? "" : key;
  };
  return { follow, toggle };
}
