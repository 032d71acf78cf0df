// Whose a neuron is, and its name: its number, and where a layer has experts the expert that it belongs to. Pure.

/**
 * @typedef {import("./messages.d.ts").Ffn} Ffn
 *
 * @typedef {import("./types.d.ts").Texts["text"]} Text as glass.text
 */

/**
 * The expert of a neuron and its number there; the expert is null for the shared one.
 *
 * @param {Pick<Ffn, "experts" | "width">} ffn
 * @param {number} neuron
 */
export function expertOf({ experts, width }, neuron) {
  const expert = Math.floor(neuron / width);
  return expert < experts ? { expert, own: neuron % width } : { expert: null, own: neuron - experts * width };
}

/**
 * Whose a neuron is, as the columns of a saved table: of a layer without experts none.
 *
 * @param {Ffn} ffn
 */
export const ownerHeads = ({ experts }) => (experts ? ["expert", "own"] : []);
/**
 * What stands in these columns.
 *
 * @param {Ffn} ffn
 * @param {number} neuron
 * @returns {(number | "shared")[]}
 */
export const ownerOf = (ffn, neuron) =>
  ffn.experts ? Object.values(expertOf(ffn, neuron)).map((one) => one ?? "shared") : [];

/**
 * A neuron in words: its number, and where there are experts whose it is.
 *
 * @param {Ffn} ffn
 * @param {number} neuron
 * @param {Text} text
 */
export function neuronName(ffn, neuron, text) {
  if (!ffn.experts) return String(neuron);
  const { expert, own } = expertOf(ffn, neuron);
  return expert === null
    ? text("experts.neuron_shared", { neuron: own })
    : text("experts.neuron_of", { neuron: own, expert });
}

/**
 * `neuronName` of a neuron of a layer.
 *
 * @param {{ parts: { ffn: Ffn[] } }} model
 * @param {number} layer
 * @param {number} neuron
 * @param {Text} text
 */
export const neuronIn = ({ parts: { ffn } }, layer, neuron, text) => neuronName(ffn[layer], neuron, text);

/**
 * As `neuronName`, for data-value.
 *
 * @param {Ffn} ffn
 * @param {number} neuron
 */
export function neuronPlace(ffn, neuron) {
  if (!ffn.experts) return `neuron ${neuron}`;
  const { expert, own } = expertOf(ffn, neuron);
  return `neuron ${neuron} expert ${expert ?? "shared"} own ${own}`;
}
