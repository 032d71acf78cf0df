// A layer's feed-forward in names: its activation, what that reads, and the vectors that it makes of a token.

/**
 * @typedef {import("../messages.d.ts").Ffn} Ffn
 *
 * @typedef {"gate" | "activated" | "up" | "weight" | "product"} VectorName
 *
 * @typedef {[name: VectorName, role: string]} StripOf a vector as it is drawn
 *
 * @typedef {Record<VectorName, ArrayLike<number> | null>} Vectors those that a layer has
 */

/** @type {Record<string, string>} */
const WRITTEN = { silu: "SiLU", relu: "ReLU", gelu: "GELU", gelu_new: "GELU" };
/** @type {StripOf[]} */
const PLAIN = [
  ["up", "up"],
  ["activated", "output"],
];
/** @type {StripOf[]} */
const GATED = [
  ["gate", "gate"],
  ["activated", "gate"],
  ["up", "up"],
  ["product", "output"],
];
/** @type {StripOf[]} */
const ROUTED = [
  ["gate", "gate"],
  ["activated", "gate"],
  ["up", "up"],
  ["weight", "accent"],
  ["product", "output"],
];

/**
 * @typedef {{
 *   activation: string;
 *   act: string;
 *   column: string;
 *   reads: "gate" | "up";
 *   form: string;
 *   strips: StripOf[];
 *   routed: boolean;
 * }} Kind
 *   `act`: the activation as it is written, `column`: as a saved table names what it gives; `reads`: what it is of;
 *   `form`: in which texts tell of it, "" for a SwiGLU; `strips`: name and role of each vector, from the top
 * @param {Ffn} ffn
 * @returns {Kind}
 */
export function kindOf({ activation, gated, experts }) {
  const act = WRITTEN[activation];
  const routed = experts > 0;
  return {
    activation,
    act,
    column: act.toLowerCase(),
    reads: gated ? "gate" : "up",
    routed,
    form: routed ? "experts" : !gated ? "plain" : activation === "silu" ? "" : "gated",
    strips: routed ? ROUTED : gated ? GATED : PLAIN,
  };
}

/**
 * In which form panels speak of a layer's feed-forward (frame.js).
 *
 * @param {import("../types.d.ts").Model} model
 * @param {number} layer
 * @returns {string[]}
 */
export function ffnForms({ parts: { ffn } }, layer) {
  const { form } = kindOf(ffn[layer]);
  return form ? [form] : [];
}

/**
 * A vector's name in a saved table and in data-value.
 *
 * @param {string} name
 * @param {Kind} kind
 */
export const columnOf = (name, { column }) => (name === "activated" ? column : name);
