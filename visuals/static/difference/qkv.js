// What the panel on where q, k and v come from reads from a run.

import { visible } from "../draw.js";
import {
  channelOf,
  chosenVector,
  foundIn,
  madeAt,
  placeOf,
  questions,
  setVector,
  takenApart,
} from "../panels/attend/projection.js";
import { createVectors } from "../panels/attend/qkv.js";
import { strips } from "./strips.js";
import { mostChanged, table } from "./table.js";

const placeIn = (state, trace, glass) => placeOf(state, trace.model, chosenVector(glass));

/** The detail that holds v, where v is looked at. */
const valuesOf = ({ vector, layer }) => (vector === "v" ? { values: ["values", { layer }] } : {});

/** The vector in a run; null until its layer, or for v the layer's values, have come. */
function madeIn(trace, state, glass) {
  const place = placeIn(state, trace, glass);
  const { values } = valuesOf(place);
  return madeAt(trace.layers.get(place.layer), values && glass.detail(...values, trace), place);
}

/** All that the panel knows of one run. */
const foundAt = ({ trace, details }, state, glass) =>
  foundIn(trace, details, placeIn(state, trace, glass), madeIn(trace, state, glass));

/**
 * One channel for both runs: the one under the pointer, the one that was clicked, else B's largest.
 *
 * @param {number | null} pointed
 */
function channelIn(pointed, state, glass) {
  const made = madeIn(state.trace, state, glass);
  return pointed !== null && pointed < made.length ? pointed : channelOf(glass, made);
}

/**
 * How titles and the saved table name the vector.
 *
 * @param {(state) => number} [channel]
 */
const named = (glass, channel) => (state) => {
  const { vector, layer, of, token } = placeIn(state, state.trace, glass);
  return {
    vector,
    layer,
    of,
    m: token,
    piece: visible(state.trace.tokens.pieces[token]),
    ...(channel ? { j: channel(state) } : {}),
  };
};

function parts(glass, text) {
  const made = strips({
    title: "vector_made",
    named: named(glass),
    strips: [["made", "accent"]],
    values: ({ trace }, state) => ({ made: madeIn(trace, state, glass) }),
    chosen: (state) => channelIn(null, state, glass),
    keep: (channel) => setVector(glass, { channel }),
  })(glass, text);
  const channel = (state) => channelIn(made.pointed(), state, glass);
  const products = table({
    title: "vector_products",
    named: named(glass, channel),
    heading: "channel",
    values: (run, state) => takenApart(foundAt(run, state, glass), channel(state)).terms,
    name: String,
    pick: () => ({}),
  })(glass, text);
  const read = strips({
    title: "vector_read",
    named: named(glass),
    strips: [
      ["x", "residual"],
      ["normed", "norm"],
    ],
    values(run, state) {
      const { x, normed } = foundAt(run, state, glass);
      return { x, normed };
    },
    chosen: (_state, _glass, { normed }) => mostChanged(normed),
    pick: () => ({}),
  })(glass, text);
  return [made, products, read];
}

const qkv = {
  layer: true,
  without: "b_minus_a.without_row",
  parts,
  named: (glass) => named(glass)(glass.state),
  controls(glass) {
    const { element, mark } = createVectors(glass);
    return { elements: [element], show: () => mark(chosenVector(glass)) };
  },
  details(glass, { B }) {
    const { state } = glass;
    const place = placeIn(state, B, glass);
    const made = madeIn(B, state, glass);
    return { ...valuesOf(place), ...questions(B, place, made ? channelOf(glass, made) : 0) };
  },
  at(state, glass, channel) {
    const { layer, head, vector, of, token } = placeIn(state, state.trace, glass);
    return `layer ${layer} head ${head} ${vector} of ${of} token ${token} channel ${channel}`;
  },
  of: ({ text, chosen }) => text("of_channel", { channel: chosen }),
  choose: (state, _a, _b, pointed, glass) => channelIn(pointed, state, glass),
  numbers: ({ trace }, state, glass, channel) => ({ value: madeIn(trace, state, glass)[channel] }),
};

export default { qkv };
