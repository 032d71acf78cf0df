// What the panels of the chapter on attention read from a run.

import { h } from "../dom.js";
import { OVER_CELLS, link, steer } from "../pointing.js";
import { cellOf } from "../panels/attend/cell-values.js";
import { blockFor, createMap } from "../panels/attend/map.js";
import { VIEWS } from "../panels/attend/matrix.js";
import { layoutThumbs } from "../panels/attend/thumbs-layout.js";
import { mix, norm, valueNorms, valueOf } from "../panels/attend/values.js";
import { eachRow } from "../compute.js";
import { arcs } from "./arcs.js";
import { changeOf } from "./head-maps.js";
import { weightNumbers, weightsTable } from "./glance.js";
import { headMaps } from "./maps.js";
import { strips } from "./strips.js";

const BUDGET = 3; // ms of a frame for the map
const at = ({ layer, head, query, key }) => `layer ${layer} head ${head} query ${query} key ${key}`;

const means = new WeakMap();
/** Mean weight of queries 2 … T − 1 on key 0 and on the key just before, as the panel measures it; kept by head. */
function habits({ held, trace }, { head }) {
  if (!means.has(held)) means.set(held, new Map());
  const known = means.get(held);
  if (!known.has(head)) {
    const found = { first: 0, previous: 0 };
    eachRow(held, trace.model, head, 0, trace.T, (query, _, weights) => {
      if (query < 2) return;
      found.first += weights[0] / (trace.T - 2);
      found.previous += weights[query - 1] / (trace.T - 2);
    });
    known.set(head, found);
  }
  return known.get(head);
}

const heads = {
  layer: true,
  at: ({ layer, head }) => `layer ${layer} head ${head}`,
  numbers: habits,
  parts: (glass, text) => [
    headMaps({
      layout: (width, model) => {
        const { size, height, place } = layoutThumbs(width, model);
        const boxes = Array.from({ length: model.n_layers * model.n_heads }, (_, i) => {
          const [layer, head] = [Math.floor(i / model.n_heads), i % model.n_heads];
          return { layer, head, ...place(layer, head) };
        });
        return { boxes, size, height };
      },
      moves: {
        ArrowLeft: ({ layer }) => ({ layer: layer - 1 }),
        ArrowRight: ({ layer }) => ({ layer: layer + 1 }),
        ArrowUp: ({ head }) => ({ head: head - 1 }),
        ArrowDown: ({ head }) => ({ head: head + 1 }),
      },
    })(glass, text),
  ],
};

const chosenView = (glass) => {
  const { view } = glass.settings.get("cell");
  return VIEWS.includes(view) ? view : "weights";
};

/** The head's whole map, in the view that the panel is set to. @returns {import("./face.js").Part} */
function oneMap(glass, text) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": "minus.maps" });
  const note = h("p.gp-note");
  const element = h("div", null, canvas, note);
  const map = createMap(canvas, glass);
  link(canvas, glass, map.find);
  steer(canvas, glass, OVER_CELLS);
  let [made, key] = [null, []];
  function draw(a, b, width) {
    const view = chosenView(glass);
    const { model, T } = b.trace;
    const block = blockFor(T, map.size(width));
    const now = [a.held, b.held, state.head, view, block];
    if (now.some((value, i) => value !== key[i])) {
      const norms = [a, b].map((run) => valueNorms(run.details.values, model, state.head));
      [made, key] = [changeOf(a.held, b.held, model, state.head, view, block, norms), now];
    }
    const done = made.done || made.work(performance.now() + BUDGET);
    if (!done) glass.repaint();
    map.draw(width, done ? made : null, "scores"); // the scale that goes both ways from 0
    note.textContent = [text(`view_${view}`), block > 1 ? text("block", { block }) : ""].filter(Boolean).join(" ");
  }
  return { element, draw, same: () => made.done && made.limit === 0 };
}

/** The cell's vectors in one run. */
function vectors(run, state) {
  const { q, k, terms, weights, weight } = cellOf({ ...state, trace: run.trace }, run.held);
  const { values } = run.details;
  const { model } = run.trace;
  const v = valueOf(values, model, state.head, state.key);
  return { q, k, qk_terms: terms, carried: Float64Array.from(v, (x) => weight * x), out: mix(values, model, state.head, weights) };
}

const cell = {
  layer: true,
  details: ({ state }) => ({ values: ["values", { layer: state.layer }] }),
  at,
  said: ["qk", "score", "weight"],
  numbers(run, state) {
    const { dot, score, weight } = cellOf({ ...state, trace: run.trace }, run.held);
    const carried = weight * norm(valueOf(run.details.values, run.trace.model, state.head, state.key));
    return { qk: dot, score, weight, carried_norm: carried };
  },
  parts: (glass, text) => [
    oneMap(glass, text),
    strips({
      title: "vectors",
      strips: [["q", "q"], ["k", "k"], ["qk_terms", "text"], ["carried", "v"], ["out", "output"]],
      values: vectors,
      chosen: ({ pair }) => pair,
      pick: (i, _state, { trace }) => ({ pair: i % (trace.model.head_dim / 2) }),
      on: ({ layer, head, query, key }) => [layer, head, query, key],
    })(glass, text),
  ],
};

const lookedAt = {
  layer: true,
  at,
  numbers: weightNumbers,
  said: ["weight"],
  parts: (glass, text) => [arcs(glass, text), weightsTable(glass, text)],
};

export default { heads, cell, arcs: lookedAt };
