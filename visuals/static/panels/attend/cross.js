// Cross-attention: where each token that a decoder writes looks in the source, for every head of the layer, and one
// cell of it taken apart. Its queries are the decoder's, its keys the encoder's; no mask hides any, and no position
// comes in.

import { dot } from "../../arrays.js";
import { crossRow, vectorOf } from "../../compute.js";
import { exact, h, line, share, shown, strong, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createMemory } from "../../marks/runs.js";
import { createStrips } from "../../marks/strips.js";
import { looksAtSource } from "../../parts.js";
import { along, inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { createLargest } from "./attention-row.js";
import { productStrips } from "./carried.js";
import { createCrossMaps } from "./cross-maps.js";
import { productLine, sumOf, weightLine } from "./formulas.js";

const KIND = "cross";
const LISTED = 8;

export const about = {
  only: looksAtSource,
  unused: "cross",
  difference: "cross",
  tensors: ["cross_q", "cross_k", "cross_scores", "cross_attention"],
};

/**
 * The source token that was clicked; null where none was.
 *
 * @param {{ source?: string }} [settings] the panel's
 */
export const clickedSource = ({ source } = {}) => (/^\d{1,4}$/.test(source ?? "") ? Number(source) : null);

/**
 * That token, where this source has it; else the one of the largest value.
 *
 * @param {Float64Array} values of all of them
 */
export function keptSource(glass, values) {
  const source = clickedSource(glass.settings.get(KIND));
  return source !== null && source < values.length ? source : values.indexOf(Math.max(...values));
}

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function crossPanel(element, glass) {
  const { state } = glass;
  const view = reactive({ dimension: 0, source: null });
  const csv = () => {
    const { trace, layer, query } = state;
    const held = glass.layer();
    const lines = [["layer", "head", "query", "query_piece", "source", "source_piece", "score", "weight"]];
    if (!held?.cross) return lines;
    const { pieces } = trace.encoder.tokens;
    for (let head = 0; head < trace.model.n_heads; head++) {
      const { scores, weights } = crossRow(held, trace.model, head, query);
      weights.forEach((weight, t) =>
        lines.push([layer, head, query, trace.tokens.pieces[query], t, pieces[t], scores[t], weight]),
      );
    }
    return lines;
  };
  const panel = frame(element, glass, KIND, { csv, parts: ["what", "formula", "myth"] });
  const { text } = panel;
  const step = (name) => h("h3.gp-subtitle", { "data-text": `${KIND}.step_${name}` });
  const say = h("p.gp-note");
  const maps = createCrossMaps(
    glass,
    `${KIND}.maps`,
    text,
    (change) => {
      view.source = change?.source ?? null;
    },
    (source) => glass.settings.set(KIND, { source }),
  );
  const products = h("canvas.gp-canvas", { "data-text-label": `${KIND}.products` });
  const holder = h("div", null, products);
  const formula = h("div.gp-formula", { lang: "en", "data-part": "formula" });
  const words = h("p.at-words", { "data-text": `${KIND}.no_mask` });
  const table = createLargest(KIND, "source", LISTED, (count) => text("rest", { count }));
  table.element.dataset.part = "weights";
  const right = h("div", null, step("cell"), holder, formula, words);
  panel.body.append(
    say,
    h("div.gp-scroll", { "data-part": "map" }, maps.element),
    h("div.gp-columns", null, right, h("div", null, step("row"), table.element)),
  );
  const [strips, both] = [createStrips(products), createMemory()];
  const [wide, stripWide] = [widthOf(maps.element.parentElement, glass), widthOf(holder, glass)];
  const choose = (i) => {
    if (i !== null) view.dimension = i;
    return i === null ? null : {};
  };
  bindPointer(products, glass, (x) => choose(strips.find(x)));
  bindArrowKeys(
    products,
    glass,
    along(
      () => state.trace.model.head_dim,
      () => view.dimension,
      choose,
    ),
  );

  function drawCell(held, { head, query, trace: { model } }, source, { scores, weights, top, total }, width) {
    const [q, k] = [vectorOf(held.cross.q, head, query), vectorOf(held.cross.k, head, source)];
    const terms = Float64Array.from(q, (x, i) => x * k[i]);
    const dimension = Math.min(view.dimension, q.length - 1);
    strips.draw(width, productStrips(q, k, terms, [text("strip_q"), text("strip_k")]), { chosen: dimension });
    const product = dot(q, k);
    const { cross_scale: scale } = model.parts;
    const factor = scale === 1 ? "" : ` · ${shown(scale, 6)}`;
    const [ofQ, ofK] = ["q", "k"].map((name) => () => tinted(name, name));
    const summed = ["Σ", sub("i"), " ", ofQ(), sub("i"), ofK(), sub("i")];
    formula.replaceChildren(
      productLine(dimension, q[dimension], k[dimension]),
      line`${ofQ()}·${ofK()} = ${summed} = ${sumOf(terms, text)}`,
      line`${text("score")} = ${ofQ()}·${ofK()}${factor} = ${strong(scores[source])}`,
      weightLine({ score: scores[source], top, total, weight: weights[source] }, text),
    );
    return product;
  }

  return inWidth(element, wide, function draw(width) {
    const { trace, layer, head, query } = state;
    const held = glass.layer();
    if (!held?.cross) return;
    const found = crossRow(held, trace.model, head, query);
    const source =
      view.source !== null && view.source < found.weights.length ? view.source : keptSource(glass, found.weights);
    const { pieces } = trace.encoder.tokens;
    maps.draw(both([{ trace, held }]), width, source);
    const product = drawCell(held, state, source, found, stripWide());
    table.fill(found, pieces);
    const piece = visible(trace.tokens.pieces[query]);
    panel.title.textContent = text("title", { layer, head, query, piece });
    say.textContent = text("note", {
      piece,
      most: visible(pieces[found.weights.indexOf(Math.max(...found.weights))]),
      weight: share(Math.max(...found.weights)),
      head,
      written: trace.T,
      read: pieces.length,
    });
    const place = `layer ${layer} head ${head} query ${query} source ${source}`;
    const values = `score=${exact(found.scores[source])} weight=${exact(found.weights[source])}`;
    panel.tell(
      `${place} qk=${exact(product)} ${values}`,
      text("read", {
        layer,
        head,
        query: piece,
        source: visible(pieces[source]),
        score: shown(found.scores[source], 5),
        weight: shown(found.weights[source], 5),
      }),
    );
  });
}
