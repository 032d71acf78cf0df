// Which of q, k and v is looked at and which of its channels, one choice for all sides, and what it is called.

import { segmented } from "../../controls.js";
import { pairsOf } from "../../rotation.js";
import { keptChannel } from "../../settings.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/projection.js").VectorName} VectorName
 */

/** @type {VectorName[]} */
const VECTORS = ["q", "k", "v"];

/**
 * @param {Pick<Glass, "settings">} glass
 * @returns {VectorName} which is looked at
 */
export function chosenVector(glass) {
  const { vector } = glass.settings.get("qkv");
  return VECTORS.find((name) => name === vector) ?? "q";
}

/**
 * The channel that was clicked, else null.
 *
 * @param {Pick<Glass, "settings">} glass
 * @param {number} width
 * @returns {number | null}
 */
export const clickedChannel = (glass, width) => keptChannel(glass.settings.get("qkv"), width);

/**
 * Changes settings of the panel and keeps the others.
 *
 * @param {Glass} glass
 * @param {{ vector?: string; channel?: number | "" }} change
 */
export function setVector(glass, change) {
  const { vector, ...others } = { ...glass.settings.get("qkv"), ...change };
  glass.settings.set("qkv", { ...others, vector: vector === VECTORS[0] ? "" : vector });
}

/** The choice of q, k or v. @param {Glass} glass */
export const createVectors = (glass) =>
  segmented(VECTORS, {
    label: "qkv.which",
    sign: (vector) => vector,
    title: (vector) => `qkv.which_${vector}`,
    look: "at-choice",
    choose: (vector) => setVector(glass, { vector, channel: "" }),
  });

/**
 * What a vector is called where it is drawn: that it has a norm of its own, and that RoPE, which turns q and k,
 * comes after.
 *
 * @param {import("../../types.d.ts").Model} model
 * @param {Pick<import("../../readings/projection.js").ProjectionReading, "place" | "weights">} reading
 * @param {Say} text
 */
export function madeName(model, { place: { vector }, weights }, text) {
  const [width, turned] = [model.head_dim, vector === "v" ? 0 : 2 * pairsOf(model)];
  const more = [...(weights.divisor ? ["normed"] : []), ...(turned ? [turned < width ? "part" : "before"] : [])];
  return [text("strip_made", { vector }), ...more.map((name) => text(`strip_made_${name}`, { turned, width }))].join(
    "",
  );
}
