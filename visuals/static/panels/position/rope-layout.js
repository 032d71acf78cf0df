// Half-split and interleaved pairs: the same scores when weights and rotation agree, others when they are mixed.

import { once, softmax } from "../../arrays.js";
import { labelsOf } from "../../characters.js";
import { keysSeen, kvHead, vectorOf } from "../../compute.js";
import { unrotatedTerm } from "../../rotation.js";
import { exact, h, sample, share, shown } from "../../dom.js";
import { chartHeight, fit, ink, cellNames, visible, write } from "../../draw.js";
import { frame } from "../../frame.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { notTurned, turningForms } from "../../parts.js";
import { across, inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { axes, chartIn, xOf, yOf } from "../../plot.js";
import { rotaryOf } from "../../readings/position-kinds.js";
import { beforeRope, placeOf, turnable, turnsPart } from "../../readings/rope-place.js";
import { neighbours, sum, terms, turned } from "../../readings/turning.js";
import { shownIn } from "../../run-for.js";

/**
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decode.js").Layer} Layer
 *
 * @typedef {import("../../types.d.ts").Model} Model
 *
 * @typedef {import("../../readings/rope-place.js").RopePlace} RopePlace
 *
 * @typedef {import("../../readings/turning.js").Frequencies} Frequencies
 *
 * @typedef {import("../../readings/turning.js").Layout} Layout
 *
 * @typedef {{ q: Layout; k: Layout; moved?: boolean }} Case in which layout q and k are turned; `moved`: their
 *   values were put in neighbours' order before
 */

const KIND = "rope-layout";
export const SHIFT = 100;
const HIGH = 250;
/** @type {Record<string, Case>} */
export const CASES = {
  half: { q: "half", k: "half" },
  neighbours: { q: "neighbours", k: "neighbours", moved: true },
  mixed: { q: "neighbours", k: "neighbours" },
  one_side: { q: "half", k: "neighbours" },
};
const NAMES = Object.keys(CASES);
/**
 * The same where the network itself has interleaved pairs: half-split ones are the others, and values mixed with
 * them are in its own order.
 *
 * @type {Record<string, Case>}
 */
const INTERLEAVED = {
  ...CASES,
  mixed: { q: "half", k: "half", moved: true },
  one_side: { q: "neighbours", k: "half", moved: true },
};
/** @param {Model} model of a network that turns its heads */
const casesOf = (model) => (rotaryOf(model).interleaved ? INTERLEAVED : CASES);

const KEPT = 2048; // turned vectors that are kept a layer

/** @type {(layer: Layer) => Map<string, Float64Array>} */
const vectorsOf = once(() => new Map());
/**
 * A vector of a layer, reordered where the case asks for it, turned at its position; kept, since rows share keys.
 *
 * @param {Layer} layer
 * @param {Model} model
 * @param {"q" | "k"} name
 * @param {number} head
 * @param {number} position
 * @param {Frequencies} frequencies
 * @param {Layout} layout
 * @param {boolean} reorder
 */
function turnedAt(layer, model, name, head, position, frequencies, layout, reorder) {
  const known = vectorsOf(layer);
  const key = `${name} ${head} ${position} ${layout} ${reorder}`;
  const last = known.get(key);
  if (last) return last;
  if (known.size >= KEPT) known.clear();
  const vector = turnable(beforeRope(layer, model, name, head, position), rotaryOf(model));
  const made = turned(reorder ? neighbours(vector) : vector, position, frequencies, { layout });
  known.set(key, made);
  return made;
}

/**
 * What channels that are not turned add to q·k, key by key: the same in every case.
 *
 * @param {Layer} layer
 * @param {Model} model
 * @param {number} head
 * @param {number} query
 * @param {number} count
 */
function restsOf(layer, model, head, query, count) {
  const rotary = rotaryOf(model);
  if (!turnsPart(model)) return new Float64Array(count);
  // Turning leaves them as they are, and one of the two is there.
  const k = /** @type {import("../../decoded.d.ts").NumArray} */ (layer.k ?? layer.kRot);
  return Float64Array.from({ length: count }, (_, key) =>
    unrotatedTerm(vectorOf(layer.q, head, query), vectorOf(k, kvHead(model, head), key), rotary),
  );
}

/**
 * q·k of a query with the keys that it sees in one case.
 *
 * @param {Layer} layer
 * @param {Model} model
 * @param {number} head
 * @param {number} query
 * @param {string} name of the case
 * @param {Frequencies} frequencies
 * @returns {Float64Array}
 */
export function rowOf(layer, model, head, query, name, frequencies) {
  const { q: qLayout, k: kLayout, moved = false } = casesOf(model)[name];
  const q = turnedAt(layer, model, "q", head, query, frequencies, qLayout, moved);
  const kv = kvHead(model, head);
  const count = keysSeen(model, query, layer.q.shape[1]);
  const rest = restsOf(layer, model, head, query, count);
  return Float64Array.from(
    { length: count },
    (_, key) => sum(terms(q, turnedAt(layer, model, "k", kv, key, frequencies, kLayout, moved))) + rest[key],
  );
}

/**
 * The selected q·k when both positions are SHIFT higher: a rotation by the same angles leaves it as it is.
 *
 * @param {RopePlace} place
 * @param {string} name of the case
 */
function shifted({ q, k, rest, m, n, model, frequencies }, name) {
  const { q: qLayout, k: kLayout, moved = false } = casesOf(model)[name];
  const [a, b] = moved ? [neighbours(q), neighbours(k)] : [q, k];
  return (
    rest +
    sum(
      terms(
        turned(a, m + SHIFT, frequencies, { layout: qLayout }),
        turned(b, n + SHIFT, frequencies, { layout: kLayout }),
      ),
    )
  );
}

/**
 * @typedef {object} Layouts
 * @property {Float64Array[]} rows
 * @property {Float64Array[]} weights
 * @property {{ product: number; shifted: number; weight: number }[]} found
 */

/**
 * The selected row and cell in every case.
 *
 * @param {Layer} held
 * @param {Parameters<typeof placeOf>[1]} state the selection, in its run
 * @returns {Layouts} in the order of CASES
 */
export function layoutsOf(held, state) {
  const { trace, head, query, key } = state;
  const place = placeOf(held, state);
  const rows = NAMES.map((name) => rowOf(held, trace.model, head, query, name, place.frequencies));
  const { scale } = trace.model.parts;
  const weights = rows.map((row) => softmax(row.map((value) => value * scale)));
  const found = NAMES.map((name, i) => ({
    product: rows[i][key],
    shifted: shifted(place, name),
    weight: weights[i][key],
  }));
  return { rows, weights, found };
}

/** @type {(width: number, keys: number, high?: number) => import("../../plot.js").Chart} */
const chartOf = (width, keys, high = 1) =>
  chartIn([width, chartHeight(HIGH)], [52, 8, 30, 32], { low: 0, high: keys }, { low: 0, high });

/**
 * Weights of the row: as the model has them, and as the mixed layouts would have them.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {Float64Array} right
 * @param {Float64Array} wrong
 * @param {number} key
 * @param {string[]} pieces
 * @param {Say} text
 */
function drawRow(canvas, width, right, wrong, key, pieces, text) {
  const tall = chartHeight(HIGH);
  const context = fit(canvas, width, tall);
  const { colour } = ink();
  const chart = chartOf(width, right.length, Math.max(...right, ...wrong) * 1.08);
  axes(context, chart, { xTicks: [], yName: text("weights") });
  const cell = chart.width / right.length;
  context.fillStyle = colour("raised");
  context.fillRect(xOf(chart, key), chart.top, cell, chart.height);
  const every = Math.ceil(54 / cell);
  right.forEach((weight, i) => {
    const wide = Math.max(1, Math.min(24, cell * 0.36));
    const middle = xOf(chart, i + 0.5);
    /** @type {[number, string, number][]} */
    const bars = [
      [weight, "k", middle - wide],
      [wrong[i], "muted", middle],
    ];
    for (const [value, role, left] of bars) {
      const top = yOf(chart, value);
      context.fillStyle = colour(role);
      context.fillRect(left, top, wide, chart.top + chart.height - top);
    }
    if (i % every === 0)
      write(context, visible(labelsOf(pieces)[i]), middle, tall - 10, {
        align: "center",
        colour: colour("muted"),
        most: every * cell - 6,
      });
  });
}

/** A row a case. */
function makeTable() {
  /** @type {[string, string][]} */
  const numbers = ["product", "shifted", "weight"].map((name) => [name, "td.gp-number"]);
  const table = createTable(null, [["case", "th.gp-token.position-case"], ...numbers], { rows: NAMES.length });
  table.rows.forEach(({ fields: [name] }, i) => {
    name.dataset.text = `${KIND}.${NAMES[i]}`;
  });
  return table;
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["q", "k", "scores"],
  difference: "position",
  unused: "head",
  absent: notTurned("layout"),
  forms: turningForms,
};

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function ropeLayout(element, glass) {
  const state = shownIn(glass);
  const canvas = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart` });
  /** @type {Layouts} */
  let view = { found: [], rows: [], weights: [] };
  const csv = () => {
    const rows = Array.from(view.rows[0] ?? [], (_, key) => [key, ...view.rows.map((row) => row[key])]);
    return [["key", ...NAMES.map((name) => `q_k_${name}`)], ...rows];
  };
  const panel = frame(element, glass, KIND, { csv, parts: ["what", "formula", "myth"] });
  const [table, note] = [makeTable(), h("p.gp-note")];
  panel.body.append(
    h("div.gp-list.position-table", null, table.element),
    note,
    h(
      "div.gp-samples",
      null,
      sample("span.gp-swatch", `${KIND}.sample_right`, "k"),
      sample("span.gp-swatch", `${KIND}.sample_mixed`, "muted"),
    ),
    canvas,
  );
  const wide = widthOf(panel.body, glass);
  bindPointer(canvas, glass, (x) => {
    const count = keysSeen(state.trace.model, state.query, state.trace.T);
    const chart = chartOf(wide(), count);
    const key = Math.floor(((x - chart.left) / chart.width) * count);
    return key >= 0 && key < count ? { key } : null;
  });
  bindArrowKeys(canvas, glass, across("key"));

  return inWidth(element, wide, function draw(width) {
    const { trace, head, query, key } = state;
    const held = glass.layer();
    if (!held) return;
    view = layoutsOf(held, state);
    const { weights } = view;
    const apart = weights[0].reduce((total, weight, i) => total + Math.abs(weight - weights[2][i]), 0) / 2;
    panel.title.textContent = panel.text("title", cellNames(state));
    table.entitle((name) => panel.text(name, { m: query, n: key, shift: SHIFT }));
    table.fill(view.found, ([, ...fields], row) =>
      writeTexts(fields, [shown(row.product, 6), shown(row.shifted, 6), share(row.weight)]),
    );
    note.textContent = panel.text("apart", { percent: shown(100 * apart, 3), query: cellNames(state).query });
    drawRow(canvas, width, weights[0], weights[2], key, trace.tokens.pieces, panel.text);
    const values = view.found.map(
      (one, i) => `${NAMES[i]}=${exact(one.product, 6)},${exact(one.shifted, 6)},${exact(one.weight)}`,
    );
    const reading = panel.text("read", {
      key: cellNames(state).key,
      right: share(view.found[0].weight),
      mixed: share(view.found[2].weight),
    });
    panel.tell(`head ${head} query ${query} key ${key} ${values.join(" ")} apart=${exact(apart)}`, reading);
  });
}
