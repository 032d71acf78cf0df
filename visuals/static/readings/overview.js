// What the chapter on the whole reads off a run: what each sub-layer adds to the residual stream.

import { sublayers } from "../parts.js";

/**
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("../decoded.d.ts").Detail<"stream">} Stream
 *
 * @typedef {import("../types.d.ts").Model} Model
 *
 * @typedef {"attn" | "cross" | "ffn"} Part what writes to the stream
 *
 * @typedef {{ part: Part; layer: number }} Sublayer
 *
 * @typedef {{ norm: number; cosine: number; before: number; after: number }} Addition what a sub-layer adds at a
 *   token: ‖what it adds‖, its cosine to the stream, and ‖stream‖ before and after; `cosine` is NaN where what is
 *   added, or the stream, is 0
 *
 * @typedef {Sublayer & { token: number }} AdditionSelection
 *
 * @typedef {import("./reading.js").Reading<AdditionSelection> & { values: Addition; stream: Stream }} AdditionReading
 */

/** How many sub-layers a network has. @param {Model} model */
export const sublayersIn = (model) => sublayers(model).length * model.n_layers;

/**
 * Sub-layers in the order of the network: what writes in layer 0, in layer 1, …
 *
 * @param {number} index
 * @param {Model} model
 * @returns {Sublayer}
 */
export const sublayerAt = (index, model) => ({
  part: sublayers(model)[index % sublayers(model).length],
  layer: Math.floor(index / sublayers(model).length),
});

/**
 * Where a sub-layer stands in that order.
 *
 * @param {Sublayer} sublayer
 * @param {Model} model
 */
export const indexOfSublayer = ({ part, layer }, model) =>
  sublayers(model).length * layer + Math.max(0, sublayers(model).indexOf(part));

/**
 * What a sub-layer adds at a token.
 *
 * @param {Stream} stream
 * @param {Sublayer} sublayer one that the network has
 * @param {number} token
 * @returns {Addition}
 */
export function additionAt(stream, { part, layer }, token) {
  const [, tokens] = stream.resid.shape;
  const at = layer * tokens + token;
  const [from, to] = [stream.resid.data[at], stream.resid.data[at + tokens]];
  // Side by side, both parts read the same stream and are added at once: there is nothing between them.
  const middle = stream.resid_mid?.data[at];
  const crossed = stream.resid_cross?.data[at] ?? NaN;
  const before = { attn: from, cross: crossed, ffn: middle ?? from }[part];
  const after = { attn: stream.resid_cross ? crossed : (middle ?? to), cross: middle ?? NaN, ffn: to }[part];
  return {
    norm: stream[/** @type {const} */ (`${part}_out`)]?.data[at] ?? NaN,
    cosine: stream[/** @type {const} */ (`${part}_cosine`)]?.data[at] ?? NaN,
    before,
    after,
  };
}

/**
 * What every sub-layer adds at every token.
 *
 * @param {Trace} trace
 * @param {Stream} stream
 * @returns {import("./reading.js").Table}
 */
function additionsOf({ T, model, tokens: { pieces } }, stream) {
  const places = Array.from({ length: sublayersIn(model) * T }, (_, i) => ({
    ...sublayerAt(Math.floor(i / T), model),
    token: i % T,
  }));
  const added = places.map((place) => additionAt(stream, place, place.token));
  return {
    keys: {
      layer: places.map(({ layer }) => layer),
      part: places.map(({ part }) => part),
      token: places.map(({ token }) => token),
      piece: places.map(({ token }) => pieces[token]),
    },
    columns: {
      norm_added: added.map(({ norm }) => norm),
      cosine_to_stream: added.map(({ cosine }) => cosine),
      norm_before: added.map(({ before }) => before),
      norm_after: added.map(({ after }) => after),
    },
  };
}

/**
 * What one sub-layer adds at one token.
 *
 * @type {import("./reading.js").Reader<AdditionReading>}
 */
export const additionReader = {
  needs: () => ({ stream: ["stream", {}] }),
  read({ trace, details: { stream } }, selection) {
    const { layer, part, token } = selection;
    return {
      selection,
      stream,
      at: `layer ${layer} ${part} token ${token}`,
      values: additionAt(stream, selection, token),
      rows: { additions: () => additionsOf(trace, stream) },
    };
  },
};
