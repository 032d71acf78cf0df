// Charts that show what is no part of the selection (a channel, a distance): hovering previews it, a click keeps it.

import { link } from "./pointing.js";

/**
 * @template Value
 * @param {HTMLCanvasElement} canvas @param {object} glass
 * @param {(x: number, y: number) => Value|null} read what is under a point @param {(value: Value) => void} keep
 * @returns {() => Value|null} what the pointer is on now
 */
export function pointAt(canvas, glass, read, keep) {
  let pointed = null;
  // Before link()'s own listener, which has the panels drawn anew.
  canvas.addEventListener("pointerleave", () => {
    pointed = null;
  });
  link(canvas, glass, (x, y) => {
    pointed = read(x, y);
    return pointed === null ? null : {};
  });
  canvas.addEventListener("click", () => {
    if (pointed === null) return;
    const kept = pointed;
    pointed = null;
    keep(kept);
  });
  return () => pointed;
}
