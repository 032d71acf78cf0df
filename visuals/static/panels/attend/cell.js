// One head as one map, in three views, and one cell of it taken apart: q·k, mask, softmax, α·v, what the head writes.

import { segmented } from "../../controls.js";
import { pairOf } from "../../rotation.js";
import { exact, h, shown } from "../../dom.js";
import { cellNames } from "../../draw.js";
import { frame } from "../../frame.js";
import { headOff } from "../../off.js";
import { createMap } from "../../marks/attention-map.js";
import { readHead, VIEWS } from "../../marks/attention-values.js";
import { createStrips } from "../../marks/strips.js";
import { scoreForms } from "../../parts.js";
import { along, inView, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { cellOf, rowTable, sinkText, valueNorms } from "./cell-values.js";
import { BESIDE, createCarried, createWritten, productStrips } from "./carried.js";
import { maskLine, productLine, scoreLines, weightLine } from "./formulas.js";
import { jobOfHead } from "./known.js";

/**
 * What the map shows of every cell.
 *
 * @returns {"scores" | "weights" | "weighted"}
 */
export function chosenView(glass) {
  const { view } = glass.settings.get("cell");
  return VIEWS.includes(view) ? view : "weights";
}

/** The choice of view, one for every run. */
export const createViews = (glass) =>
  segmented(VIEWS, {
    label: "cell.views",
    text: (view) => `cell.view_${view}`,
    look: "at-choice",
    named: "name",
    choose: (view) => glass.settings.set("cell", { view: view === "weights" ? "" : view }),
  });

/**
 * The map of the selected head in the view that is set.
 *
 * @param {string} label the key of its name
 */
export function headMap(glass, label) {
  const { state } = glass;
  const read = ({ held, trace, details: { values } }, view) =>
    view === "weighted" && !values
      ? null
      : readHead(held, trace.model, state.head, view, values && valueNorms(values, trace.model, state.head));
  const on = ({ held, details: { values } }, view) => [held, state.head, ...(view === "weighted" ? [values] : [])];
  return createMap(glass, {
    label,
    view: () => chosenView(glass),
    read,
    on,
    off: ({ trace }) => headOff(trace, state.layer, state.head),
  });
}

export const about = {
  tensors: ["q", "k", "q_rot", "k_rot", "position_bias", "scores", "attention", "v", "attn_out"],
  difference: "attend",
  unused: "head",
  forms: scoreForms,
};

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function cell(element, glass) {
  const { state } = glass;
  const map = headMap(glass, "cell.map");
  const parts = ["what", "formula", "sinks", "myth"];
  const panel = frame(element, glass, "cell", { csv: () => rowTable(glass), parts });
  const text = (name, params) => panel.text(name, params);
  const views = createViews(glass);
  const mapNote = h("p.gp-note");
  const sink = h("p.gp-note.at-sink");
  const products = h("canvas.gp-canvas", { "data-text-label": "cell.products" });
  const step = (name) => h("h3.gp-subtitle", { "data-text": `cell.step_${name}` });
  const [one, sums, softmax] = Array.from({ length: 3 }, () => h("div.gp-formula", { lang: "en" }));
  const carried = createCarried(glass, text);
  const written = createWritten(glass, text);
  const mapSide = h("div.at-map", { "data-part": "map" }, views.element, map.element, mapNote, sink);
  const right = h(
    "div.at-steps",
    { "data-part": "steps" },
    step("score"),
    h("div", null, products),
    one,
    sums,
    step("softmax"),
    softmax,
  );
  panel.body.append(
    h("div.at-cell", null, mapSide, right),
    h("div.at-carries", { "data-part": "carried" }, step("carried"), carried.element, step("written"), written.element),
  );

  const strips = createStrips(products, BESIDE);
  const view = reactive({ dimension: 0 });
  const choose = (i) => {
    if (i === null) return null;
    view.dimension = i;
    const pair = pairOf(state.trace.model.parts.rotary, i);
    return pair === null ? {} : { pair };
  };
  /** @type {[HTMLCanvasElement, (x: number) => number | null][]} */
  const pointable = [
    [products, strips.find],
    [carried.canvas, carried.find],
  ];
  for (const [canvas, find] of pointable) {
    bindPointer(canvas, glass, (x) => choose(find(x)));
    bindArrowKeys(
      canvas,
      glass,
      along(
        () => state.trace.model.head_dim,
        () => view.dimension,
        choose,
      ),
    );
  }
  const mapWide = widthOf(mapSide, glass);
  const stripWide = widthOf(products.parentElement, glass);
  const valueWide = widthOf(carried.holder, glass);

  /**
   * The map, a few milliseconds a frame.
   *
   * @returns {boolean} whether it is complete
   */
  function drawMap(held, values, width) {
    const view = chosenView(glass);
    views.mark(view);
    const done = map.draw([{ held, trace: state.trace, details: { values } }], width);
    const block = map.block();
    mapNote.textContent = [text(`scale_${view}`), block > 1 ? text("pooled", { block }) : ""].join(" ");
    return done;
  }

  function drawScore(cellNow, width) {
    const { q, k, terms } = cellNow;
    const { dimension } = view;
    strips.draw(width, productStrips(q, k, terms), { chosen: dimension });
    one.replaceChildren(productLine(dimension, q[dimension], k[dimension]));
    sums.replaceChildren(...scoreLines(state.trace.model, cellNow, text));
    softmax.replaceChildren(maskLine(state.trace.model, cellNow, text), weightLine(cellNow, text));
  }

  function tell({ score, weight, bias, dot: product }, facts, write) {
    const { trace, layer, head, query, key } = state;
    const added = trace.model.parts.bias ? ` bias=${exact(bias)}` : "";
    const more = facts ? ` carried=${exact(facts.weight * facts.size)} part=${exact(facts.share)}` : "";
    const place = `layer ${layer} head ${head} query ${query} key ${key}`;
    const values = `qk=${exact(product)}${added} score=${exact(score)} weight=${exact(weight)}`;
    panel.tell(
      `${place} ${values}${more}${written.tell(write)}`,
      text("read", {
        ...cellNames(state),
        product: shown(product, 5),
        score: shown(score, 5),
        weight: shown(weight, 5),
      }),
    );
  }

  /** The cell by its tokens, and the jobs that this head is known for. */
  function titleOf() {
    const { scored, here } = jobOfHead(glass);
    return [text("title", cellNames(state)), scored, here].filter(Boolean).join(" · ");
  }

  return inView(element, function draw() {
    const { trace, layer, head, query, locked } = state;
    const held = glass.layer();
    const widths = [mapWide(), stripWide(), valueWide()];
    if (!held || widths.includes(0)) return;
    view.dimension = Math.min(view.dimension, trace.model.head_dim - 1);
    const values = glass.detail("values", { layer });
    const atLocked = layer === locked.layer && head === locked.head && query === locked.query;
    const write = atLocked ? glass.detail("head_write", { layer, head, query }) : null;
    panel.title.textContent = titleOf();
    if (!drawMap(held, values, widths[0])) glass.unfinished();
    const cellNow = cellOf(state, held);
    drawScore(cellNow, widths[1]);
    const facts = carried.draw(cellNow, values, widths[2], view.dimension);
    written.draw(write, layer, head, query);
    sink.textContent = sinkText(cellNow.weights, values, state, text);
    tell(cellNow, facts, write);
  });
}
