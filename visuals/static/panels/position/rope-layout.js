// Half-split and interleaved pairs: the same scores when weights and rotation agree, others when they are mixed.

import { once, softmax } from "../../arrays.js";
import { keysSeen, kvHead, vectorOf } from "../../compute.js";
import { unrotatedTerm } from "../../rotation.js";
import { exact, h, sample, share, shown } from "../../dom.js";
import { chartHeight, fit, ink, cellNames, visible, write } from "../../draw.js";
import { frame } from "../../frame.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { notTurned, turningForms } from "../../parts.js";
import { across, inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { axes, chartIn, xOf, yOf } from "../../plot.js";
import { beforeRope, placeOf, turnable, turnsPart } from "../../readings/rope-place.js";
import { neighbours, sum, terms, turned } from "../../readings/turning.js";

const KIND = "rope-layout";
export const SHIFT = 100;
const HIGH = 250;
/** Each case: in which layout q and k are turned; `moved`: their values were put in neighbours' order before. */
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
 */
const INTERLEAVED = {
  ...CASES,
  mixed: { q: "half", k: "half", moved: true },
  one_side: { q: "neighbours", k: "half", moved: true },
};
const casesOf = ({ parts: { rotary } }) => (rotary.interleaved ? INTERLEAVED : CASES);

const KEPT = 2048; // turned vectors that are kept a layer

const vectorsOf = once(() => new Map());
/** A vector of a layer, reordered where the case asks for it, turned at its position; kept, since rows share keys. */
function turnedAt(layer, model, name, head, position, frequencies, layout, reorder) {
  const known = vectorsOf(layer);
  const key = `${name} ${head} ${position} ${layout} ${reorder}`;
  if (!known.has(key)) {
    if (known.size >= KEPT) known.clear();
    const vector = turnable(beforeRope(layer, model, name, head, position), model.parts.rotary);
    known.set(key, turned(reorder ? neighbours(vector) : vector, position, frequencies, { layout }));
  }
  return known.get(key);
}

/** What channels that are not turned add to q·k, key by key: the same in every case. */
function restsOf(layer, model, head, query, count) {
  const { rotary } = model.parts;
  if (!turnsPart(model)) return new Float64Array(count);
  const k = layer.k ?? layer.kRot; // turning leaves them as they are
  return Float64Array.from({ length: count }, (_, key) =>
    unrotatedTerm(vectorOf(layer.q, head, query), vectorOf(k, kvHead(model, head), key), rotary),
  );
}

/**
 * q·k of a query with the keys that it sees in one case.
 *
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

/** The selected q·k when both positions are SHIFT higher: a rotation by the same angles leaves it as it is. */
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
 * The selected row and cell in every case.
 *
 * @param {object} held a layer
 * @param {object} state the selection, in its run
 * @returns {{ rows: Float64Array[]; weights: Float64Array[]; found: { product; shifted; weight: number }[] }} in
 *   the order of CASES
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

const chartOf = (width, keys, high = 1) =>
  chartIn([width, chartHeight(HIGH)], [52, 8, 30, 32], { low: 0, high: keys }, { low: 0, high });

/** Weights of the row: as the model has them, and as the mixed layouts would have them. */
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
    for (const [value, role, left] of [
      [weight, "k", middle - wide],
      [wrong[i], "muted", middle],
    ]) {
      const top = yOf(chart, value);
      context.fillStyle = colour(role);
      context.fillRect(left, top, wide, chart.top + chart.height - top);
    }
    if (i % every === 0)
      write(context, visible(pieces[i]), middle, tall - 10, {
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
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart` });
  let view = { found: [], rows: [] };
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
