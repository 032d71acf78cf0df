// What the panel on cross-attention reads from a run: the heads' look at the source, and one source token's part of it.

import { subtract } from "../arrays.js";
import { crossRow, vectorOf } from "../compute.js";
import { visible } from "../draw.js";
import { clickedSource, keptSource } from "../panels/attend/cross.js";
import { createCrossMaps } from "../panels/attend/cross-maps.js";
import { reactive } from "../reads.js";
import { byDimension } from "./selection.js";
import { strips } from "./strips.js";
import { table } from "./table.js";

const rowOf = ({ held, trace }, { head, query }) => crossRow(held, trace.model, head, query);

/** A source token by its text in B, and in A where that is another one. */
const sourceName = (t, b, _glass, a) => {
  const [first, second] = [a, b].map(({ trace }) => visible(trace.encoder.tokens.pieces[t]));
  return first === second ? `${second} (${t})` : `${first} → ${second} (${t})`;
};

/** The source token that was clicked, else the one whose weight changes most. */
const sourceOf = (glass, state, a, b) =>
  keptSource(glass, subtract(rowOf(b, state).weights, rowOf(a, state).weights).map(Math.abs));

function maps(glass) {
  const view = reactive({ source: null });
  const keep = (source) => glass.settings.set("cross", { source });
  const drawn = createCrossMaps(
    glass,
    "b_minus_a.cross_maps",
    (name, params) => glass.text(`cross.${name}`, params),
    (change) => {
      view.source = change?.source ?? null;
    },
    keep,
  );
  const draw = (a, b, width) => drawn.draw([a, b], width, view.source ?? sourceOf(glass, glass.state, a, b));
  const csv = () => [["layer", "head", "query", "source", "A", "B", "B_minus_A"], ...drawn.rows()];
  return {
    element: drawn.element,
    draw,
    csv,
    same: drawn.same,
    called: "maps",
    pointed: () => view.source,
    wide: true,
  };
}

const cross = {
  layer: true,
  // Positions of the source are subtracted one by one.
  lacks: (glass, { A, B }) =>
    A.encoder.T === B.encoder.T ? null : glass.text("b_minus_a.sources", { a: A.encoder.T, b: B.encoder.T }),
  at: ({ layer, head, query }, _glass, source) => `layer ${layer} head ${head} query ${query} source ${source}`,
  of: ({ text, named, chosen, b }) =>
    text("of_source", { ...named, source: visible(b.trace.encoder.tokens.pieces[chosen]) }),
  choose: (state, a, b, pointed, glass) => pointed ?? sourceOf(glass, state, a, b),
  numbers(run, state, _glass, source) {
    const { weights, scores } = rowOf(run, state);
    return { weight: weights[source], score: scores[source] };
  },
  parts: (glass, text) => [
    maps(glass),
    table({
      title: "source_weights",
      heading: "source",
      values: (run, state) => rowOf(run, state).weights,
      name: sourceName,
      chosen: ({ settings }) => clickedSource(settings.cross),
    })(glass, text),
    strips({
      title: "source_query",
      strips: [["q", "q"]],
      values: ({ held }, { head, query }) => ({ q: vectorOf(held.cross.q, head, query) }),
      ...byDimension,
    })(glass, text),
  ],
};

export default { cross };
