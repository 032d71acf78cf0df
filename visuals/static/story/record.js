// How the story of the training asks for the log and the evaluation beside the weights, and says the names in them.

/** @typedef {import("../types.d.ts").Glass} Glass */

/**
 * How the model was trained; null until that has come.
 *
 * @param {Glass} glass
 * @returns {import("../readings/record.js").Training | null}
 */
export const recordOf = (glass) => glass.detail("training", {});

/**
 * A name that may be one of the page's texts.
 *
 * @param {Glass} glass
 * @param {string} name
 */
export const nameOf = (glass, name) => (name.startsWith("text:") ? glass.text(name.slice("text:".length)) : name);
