// What the panels of the chapter on attention read from a run.

import { subtract } from "../arrays.js";
import { row } from "../compute.js";
import { visible } from "../draw.js";
import { cellOf, cosine, mix, norm, valueOf } from "../panels/attend/cell-values.js";
import { chosenView, createViews, headMap } from "../panels/attend/cell.js";
import { apartMap, createOther, otherHead } from "../panels/attend/difference.js";
import { habitsOf } from "../panels/attend/habits.js";
import { createThumbs } from "../panels/attend/thumbs.js";
import { createWalk } from "../panels/attend/arcs.js";
import { tokenName, weightNumbers, weightsTable } from "./glance.js";
import { arcs, headMaps, oneMap } from "./map-parts.js";
import { atCell, byDimension, inRun } from "./selection.js";
import { strips } from "./strips.js";
import { table } from "./table.js";

/** Mean weights as the panel measures them. */
const habits = ({ held, trace }, { head }) => habitsOf(held, trace, head);

const heads = {
  layer: true,
  without: "b_minus_a.without_jobs",
  at: ({ layer, head }) => `layer ${layer} head ${head}`,
  of: ({ text, named }) => text("of_head", named),
  numbers: habits,
  parts: (glass, text) => [headMaps(glass, text, createThumbs)],
};

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

/** What one head gives a key more than another does, the second as the panel is set. */
const apart = ({ held, trace }, { head, query }, glass) => {
  const other = otherHead(glass);
  const second = row(trace.layers.get(other.layer), trace.model, other.head, query).weights;
  return subtract(row(held, trace.model, head, query).weights, second);
};

const difference = {
  layer: true,
  beside: true,
  controls(glass) {
    const { element, draw } = createOther(glass);
    return { elements: [element], show: draw };
  },
  named: (glass) => {
    const { layer, head } = otherHead(glass);
    return { other_layer: layer, other_head: head };
  },
  lacks(glass, sides) {
    const { layer } = otherHead(glass);
    const here = Object.values(sides).every(({ layers }) => layers.has(layer));
    return here ? null : glass.text("difference.absent", { layer });
  },
  at(state, glass) {
    const { layer, head } = otherHead(glass);
    const heads = `layer ${state.layer} head ${state.head} minus layer ${layer} head ${head}`;
    return `${heads} query ${state.query} key ${state.key}`;
  },
  of: ({ text, named }) => text("of_tokens", named),
  numbers: (run, state, glass) => ({ difference: apart(run, state, glass)[state.key] }),
  parts: (glass, text) => [
    oneMap(glass, text, apartMap, () => "difference"),
    table({
      title: "apart",
      heading: "token",
      values: apart,
      name: tokenName,
      pick: (key) => ({ key }),
      chosen: ({ key }) => key,
    })(glass, text),
  ],
};

const lookedAt = {
  layer: true,
  controls(glass) {
    const { element, draw } = createWalk(glass);
    return { elements: [element], show: draw };
  },
  at: atCell,
  of: ({ text, named }) => text("of_tokens", named),
  numbers: weightNumbers,
  said: ["weight"],
  parts: (glass, text) => [arcs(glass, text), weightsTable(glass, text)],
};

export default { heads, cell, arcs: lookedAt, difference };
