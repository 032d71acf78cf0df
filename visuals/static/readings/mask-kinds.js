// The masks that networks use, over this run's tokens: how many pairs each lets through, and what is left of the
// selected row under those that hide more than the network's own.

import { row, spanSeen } from "../compute.js";
import { atCell } from "./attend.js";
import { bidirectional, causal, overlap, pairsOf, prefixed, sliding, within } from "./masks.js";

/**
 * @typedef {import("./masks.js").Mask} Mask
 *
 * @typedef {"causal" | "bidirectional" | "prefix" | "sliding"} Kind
 *
 * @typedef {{ layer: number; head: number; query: number; key: number; window: number; prefix: number }} MaskSelection
 *   0 where a reader has set none
 *
 * @typedef {{ kind: Kind; weights: Float64Array; lost: number }} Narrowed
 *
 * @typedef {import("./reading.js").Reading<MaskSelection> & {
 *   tokens: number;
 *   source: number;
 *   target: number;
 *   own: Kind;
 *   masks: Record<Kind, Mask>;
 *   pairs: Record<Kind | "own" | "blank" | "encoder" | "decoder" | "cross", number>;
 *   weights: Float64Array;
 *   narrowed: Narrowed[];
 *   words: { own: string[]; source: string[]; target: string[] };
 * }} MasksReading
 *   `source`, `target`: tokens of the two texts of an encoder–decoder: this run's own, else this text cut in two;
 *   `words`: of this text and of those two
 */

/** Which of the masks hide more than the network's own. @type {Record<string, Kind[]>} */
const NARROWER = {
  causal: ["sliding"],
  prefix: ["causal", "sliding"],
  bidirectional: ["prefix", "causal", "sliding"],
  sliding: ["sliding"],
};

/** @param {import("../types.d.ts").Model} model @param {number} tokens @returns {Kind} */
function ownOf({ parts: { causal: isCausal, prefix, window } }, tokens) {
  if (window) return "sliding";
  if (isCausal === false || (prefix ?? 0) >= tokens) return "bidirectional";
  return prefix ? "prefix" : "causal";
}

/** @param {number} given @param {number} most @param {number} first where nothing is given */
const inside = (given, most, first) => Math.max(1, Math.min(most, given || first));

/**
 * @param {MasksReading} reading
 * @param {string[]} pieces
 * @returns {import("./reading.js").Table}
 */
function weightsTable({ selection: { layer, head, query }, weights, narrowed }, pieces) {
  const every = (/** @type {number} */ value) => Array.from(weights, () => value);
  return {
    keys: {
      layer: every(layer),
      head: every(head),
      query: every(query),
      key: [...weights.keys()],
      piece: pieces.slice(0, weights.length),
    },
    columns: {
      weight: weights,
      ...Object.fromEntries(narrowed.map((one) => [`weight_${one.kind}`, one.weights.map((weight) => weight || 0)])),
    },
  };
}

/** @type {import("./reading.js").Reader<MasksReading>} */
export const masksReader = {
  layer: true,
  read({ trace, held }, selection) {
    const { model, T: tokens, encoder, whole } = trace;
    const { head, query } = selection;
    const { window: least } = model.parts;
    const window = inside(selection.window, tokens, Math.ceil((least ?? tokens / 2) / 2));
    const prefix = inside(selection.prefix, Math.max(1, tokens - 1), Math.floor(tokens / 2));
    /** @type {Record<Kind, Mask>} */
    const masks = {
      causal,
      bidirectional: bidirectional(tokens),
      prefix: prefixed(prefix),
      sliding: sliding(window),
    };
    const source = encoder ? encoder.T : whole ? tokens : prefix;
    const target = encoder ? tokens : whole ? whole.T : Math.max(1, tokens - prefix);
    const { pieces } = trace.tokens;
    const words = {
      own: pieces,
      source: encoder ? encoder.tokens.pieces : whole ? pieces : pieces.slice(0, prefix),
      target: encoder ? pieces : whole ? whole.tokens.pieces : pieces.slice(prefix),
    };
    const own = ownOf(model, tokens);
    const { weights } = row(held, model, head, query);
    const narrowed = NARROWER[own].map((kind) => {
      return { kind, ...within(weights, overlap(masks[kind](query), spanSeen(model, query, tokens))) };
    });
    const lost = Object.fromEntries(narrowed.map((one) => [`lost_${one.kind}`, one.lost]));
    const pairs = {
      own: pairsOf((of) => spanSeen(model, of, tokens), tokens),
      causal: pairsOf(causal, tokens),
      bidirectional: tokens * tokens,
      prefix: pairsOf(masks.prefix, tokens),
      sliding: pairsOf(masks.sliding, tokens),
      blank: pairsOf(prefixed(prefix + 1), tokens + 2),
      encoder: source * source,
      decoder: pairsOf(causal, target),
      cross: source * target,
    };
    /** @type {MasksReading} */
    const reading = {
      selection: { ...selection, window, prefix },
      tokens,
      source,
      target,
      own,
      masks,
      pairs,
      weights,
      narrowed,
      words,
      at: `${atCell(selection)} window ${window} prefix ${prefix}`,
      values: { ...lost, ...pairs },
      rows: { weights: () => weightsTable(reading, trace.tokens.pieces) },
    };
    return reading;
  },
};
