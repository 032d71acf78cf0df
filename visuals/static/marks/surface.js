// A canvas whose ground is drawn once, off the page, and laid under what changes with every hover.

import { fit } from "../draw.js";
import { memo } from "../reads.js";

/**
 * @param {HTMLCanvasElement} canvas
 * @returns {(
 *   key: unknown[],
 *   width: number,
 *   height: number,
 *   ground: (context: CanvasRenderingContext2D) => void,
 *   over?: (context: CanvasRenderingContext2D) => void,
 *   under?: (context: CanvasRenderingContext2D) => void,
 * ) => void}
 *   `key`: what the ground depends on besides its size and what it reads (reads.js)
 */
export function createSurface(canvas) {
  const scene = document.createElement("canvas");
  /** @type {(context: CanvasRenderingContext2D) => void} */
  let paint = () => {};
  /** @type {(width: number, height: number, ...key: unknown[]) => void} */
  const paintIn = (width, height) => paint(fit(scene, width, height));
  const draw = memo(paintIn);
  return (key, width, height, ground, over, under) => {
    paint = ground;
    draw(width, height, ...key);
    const context = fit(canvas, width, height);
    under?.(context);
    context.drawImage(scene, 0, 0, width, height);
    over?.(context);
  };
}
