// What the panels of the chapter on attention read from a run.

import { visible } from "../draw.js";
import { cellOf, cosine, mix, norm, valueOf } from "../panels/attend/cell-values.js";
import { chosenView, createViews, headMap } from "../panels/attend/cell.js";
import { oneMap } from "./map-parts.js";
import { atCell, byDimension, inRun } from "./selection.js";
import { strips } from "./strips.js";
import { table } from "./table.js";

/** The cell's vectors in one run. */
function vectors(run, state) {
  const { q, k, terms, weights, weight } = cellOf(inRun(state, run.trace), run.held);
  const { values } = run.details;
  const { model } = run.trace;
  const v = valueOf(values, model, state.head, state.key);
  return {
    q,
    k,
    qk_terms: terms,
    carried: Float64Array.from(v, (x) => weight * x),
    out: mix(values, model, state.head, weights),
  };
}

/**
 * What the head writes to the residual stream at the locked token: its length, the stream's, and the cosine of
 * both.
 */
const SIZES = ["n_written", "n_stream", "n_cosine"];
function writtenNumbers({ write }) {
  const [w, x] = [write.written.data, write.stream.data];
  return { written: norm(w), stream: norm(x), written_cosine: cosine(w, x) };
}
const isLocked = ({ locked, layer, head, query }) =>
  layer === locked.layer && head === locked.head && query === locked.query;
/** A table of what is written: of the locked token, whose name is above it. */
const written = (title, rows) =>
  table({
    title,
    named: ({ locked: { layer, head, query }, trace }) => ({
      layer,
      head,
      m: query,
      piece: visible(trace.tokens.pieces[query]),
    }),
    needs: ["write"],
    ...rows,
  });

const cell = {
  layer: true,
  beside: true,
  controls(glass) {
    const { element, mark } = createViews(glass);
    return { elements: [element], show: () => mark(chosenView(glass)) };
  },
  details: ({ state }) => ({ values: ["values", { layer: state.layer }] }),
  later: ({ state: { locked } }) => ({
    write: ["head_write", { layer: locked.layer, head: locked.head, query: locked.query }],
  }),
  at: atCell,
  said: ["qk", "score", "weight"],
  numbers(run, state) {
    const { dot, score, weight } = cellOf(inRun(state, run.trace), run.held);
    const { values, write } = run.details;
    const carried = weight * norm(valueOf(values, run.trace.model, state.head, state.key));
    return {
      qk: dot,
      score,
      weight,
      carried_norm: carried,
      ...(write && isLocked(state) ? writtenNumbers(run.details) : {}),
    };
  },
  parts: (glass, text) => [
    oneMap(glass, text, headMap, () => chosenView(glass)),
    written("head_sizes", {
      heading: "place",
      values: ({ details }) => Object.values(writtenNumbers(details)),
      name: (i) => text(SIZES[i]),
      order: () => [0, 1, 2],
      bare: true,
    })(glass, text),
    written("head_channels", {
      heading: "channel",
      values: ({ details: { write } }) => write.written.data,
      name: String,
    })(glass, text),
    strips({
      title: "vectors",
      strips: [
        ["q", "q"],
        ["k", "k"],
        ["qk_terms", "text"],
        ["carried", "v"],
        ["out", "output"],
      ],
      values: vectors,
      ...byDimension,
    })(glass, text),
  ],
};

export default { cell };
