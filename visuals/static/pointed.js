// Charts that show what is no part of the selection (a channel, a distance): hovering previews it, a click keeps it.

import { bindPointer } from "./pointing.js";
import { same, reactive } from "./reads.js";

/**
 * @template Value
 * @param {HTMLCanvasElement} canvas
 * @param {import("./types.d.ts").Glass} glass
 * @param {(x: number, y: number) => Value | null} read what is under a point
 * @param {(value: Value) => void} keep
 * @returns {() => Value | null} what the pointer is on now
 */
export function pointAt(canvas, glass, read, keep) {
  /** @type {{ pointed: Value | null }} */
  const view = reactive({ pointed: null });
  // Before bindPointer()'s own listener, which has the panels drawn anew.
  canvas.addEventListener("pointerleave", () => {
    view.pointed = null;
  });
  bindPointer(canvas, glass, (x, y) => {
    view.pointed = read(x, y);
    return view.pointed === null ? null : {};
  });
  canvas.addEventListener("click", () => {
    const { pointed } = view;
    if (pointed === null) return;
    view.pointed = null;
    keep(pointed);
  });
  return () => view.pointed;
}

/**
 * A choice of the panel's own, such as which sub-layer, one for all sides: a click keeps it, the pointer shows
 * another while it is there.
 *
 * @template Value
 * @param {Value} first
 */
export function ownChoice(first) {
  /** @type {{ kept: Value; under: Value | null }} */
  const view = reactive({ kept: first, under: null });
  return {
    now: () => view.under ?? view.kept,
    kept: () => view.kept,
    under: () => view.under,
    keep: (/** @type {Value} */ value) => {
      view.kept = value;
    },
    hover: (/** @type {Value | null} */ value) => {
      view.under = same(view.under, value);
    },
  };
}
