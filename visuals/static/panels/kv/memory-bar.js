// One GPU's memory as a bar: weights, cache, what stands beside them, and what is left.

import { html } from "../../vendor/lit-html.js";
import { exactBytes, scaled } from "./format.js";

/**
 * @typedef {import("../../readings/kv-fit.js").FitReading} Reading
 *
 * @typedef {NonNullable<Reading["fit"]>} Fit
 */

/**
 * What programs reach a GPU by: CUDA, ROCm or Metal, or of the reader's own what suits any.
 *
 * @param {Fit["use"]} use
 */
export const apiOf = ({ gpu }) => gpu.interface || "GPU";

/**
 * The fullest GPU from 0 to its memory; where it does not fit, the bar is as long as what it would need.
 *
 * @param {Fit} fit
 * @param {Reading["pieces"]} pieces
 * @param {import("../../types.d.ts").Say} text of the section "kv-fit"
 */
export function memoryBar({ use }, pieces, text) {
  const { gpu, gpus, by, percent, share, weights, cache, usable } = use;
  const taken = pieces.reduce((sum, [, bytes]) => sum + Number(bytes), 0);
  const scale = Math.max(Number(gpu.memory), taken);
  const percentOf = (/** @type {string} */ bytes) => `${(100 * Number(bytes)) / scale}%`;
  const named = (/** @type {string} */ name) => text(name, { api: apiOf(use) });
  const piece = (/** @type {Reading["pieces"][number]} */ [name, bytes]) =>
    html`<span
      class=${`kv-piece is-${name}`}
      style=${`width: ${percentOf(bytes)}`}
      title=${text("piece", { name: named(name), bytes: exactBytes(bytes) })}
    ></span>`;
  const key = (/** @type {Reading["pieces"][number]} */ [name]) =>
    html`<span class="gp-sample"
      ><span class=${`kv-dot is-${name}`}></span><span .textContent=${named(name)}></span
    ></span>`;
  const said = {
    api: apiOf(use),
    weights: scaled(weights, "binary"),
    cache: scaled(cache, "binary"),
    usable: scaled(usable.replace("-", ""), "binary"),
    percent,
    memory: scaled(gpu.memory, "binary"),
  };
  return html`<div class="kv-memory">
      ${pieces.map(piece)}<span class="kv-edge" style=${`left: ${percentOf(share)}`}></span>
    </div>
    <div class="gp-samples">${pieces.map(key)}</div>
    <p class="gp-note" .textContent=${text(`bar_${by}${gpus > 1 ? "" : "_one"}`, said)}></p>`;
}
