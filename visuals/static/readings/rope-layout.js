// Half-split and interleaved pairs: q·k and weights of a row when weights and rotation agree, and when they are mixed.

import { once, softmax } from "../arrays.js";
import { keysSeen, kvHead, vectorOf } from "../compute.js";
import { unrotatedTerm } from "../rotation.js";
import { atCell } from "./attend.js";
import { rotaryOf } from "./position-kinds.js";
import { beforeRope, placeOf, turnable, turnsPart } from "./rope-place.js";
import { neighbours, sum, terms, turned } from "./turning.js";

/**
 * @typedef {import("../decode.js").Layer} Layer
 *
 * @typedef {import("../types.d.ts").Model} Model
 *
 * @typedef {import("./rope-place.js").RopePlace} RopePlace
 *
 * @typedef {import("./turning.js").Frequencies} Frequencies
 *
 * @typedef {import("./turning.js").Layout} Layout
 *
 * @typedef {{ q: Layout; k: Layout; moved?: boolean }} Case in which layout q and k are turned; `moved`: their
 *   values were put in neighbours' order before
 */

/** By how much both positions are moved. */
export const SHIFT = 100;
/** @type {Record<string, Case>} */
const CASES = {
  half: { q: "half", k: "half" },
  neighbours: { q: "neighbours", k: "neighbours", moved: true },
  mixed: { q: "neighbours", k: "neighbours" },
  one_side: { q: "half", k: "neighbours" },
};
/** What is set side by side. */
export const NAMES = Object.keys(CASES);
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
  const k = /** @type {import("../decoded.d.ts").NumArray} */ (layer.k ?? layer.kRot);
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
function rowOf(layer, model, head, query, name, frequencies) {
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

/** @type {(layer: Layer) => Map<string, Layouts>} of the cell that was read last */
const lastOf = once(() => new Map());

/**
 * @param {import("./reading.js").Run} run
 * @param {import("./attend.js").CellSelection} cell
 */
function layoutsIn({ trace, held }, cell) {
  const last = lastOf(held);
  const name = atCell(cell);
  const known = last.get(name);
  if (known) return known;
  last.clear();
  const { head, query, key } = cell;
  const made = layoutsOf(held, { trace, head, query, key });
  last.set(name, made);
  return made;
}

const PARTS = /** @type {const} */ (["product", "shifted", "weight"]);
/** Of every case q·k at the run's positions, and with both moved. */
const PRODUCTS = NAMES.flatMap((name, i) =>
  /** @type {const} */ (["product", "shifted"]).map((part) => ({ name, i, part })),
);

/**
 * @param {Layouts} layouts
 * @returns {Record<"scores" | "weights" | "products" | "cases", () => import("./reading.js").Table>}
 */
function tablesOf({ rows, weights, found }) {
  const keys = () => ({ key: [...rows[0].keys()] });
  return {
    scores: () => ({
      keys: keys(),
      columns: Object.fromEntries(NAMES.map((name, i) => [`q_k_${name}`, rows[i]])),
    }),
    weights: () => ({
      keys: keys(),
      columns: { right: weights[NAMES.indexOf("half")], mixed: weights[NAMES.indexOf("mixed")] },
    }),
    products: () => ({
      keys: { case: PRODUCTS.map(({ name }) => name), part: PRODUCTS.map(({ part }) => part) },
      columns: { product: PRODUCTS.map(({ i, part }) => found[i][part]) },
    }),
    cases: () => ({ keys: { case: NAMES }, columns: { weight: found.map(({ weight }) => weight) } }),
  };
}

/**
 * The selected row and cell in every case, number by number.
 *
 * @type {import("./reading.js").Reader<import("./reading.js").Reading<import("./attend.js").CellSelection>>}
 */
export const casesReader = {
  layer: true,
  read(run, selection) {
    const layouts = layoutsIn(run, selection);
    const numbers = NAMES.flatMap((name, i) => PARTS.map((part) => [`${name}_${part}`, layouts.found[i][part]]));
    return { selection, at: atCell(selection), values: Object.fromEntries(numbers), rows: tablesOf(layouts) };
  },
};

/**
 * @typedef {import("./reading.js").AnswerReading & {
 *   selection: import("./attend.js").CellSelection;
 *   layouts: Layouts;
 *   apart: number;
 * }} LayoutReading
 *   `apart`: what share of the row's weight stands elsewhere when layouts are mixed, half the sum of |a − b|
 */

/**
 * The same, case by case: q·k, q·k with both positions moved, and the weight.
 *
 * @type {import("./reading.js").Reader<LayoutReading>}
 */
export const layoutReader = {
  layer: true,
  read(run, selection) {
    const { head, query, key } = selection;
    const layouts = layoutsIn(run, selection);
    const { right, mixed } = tablesOf(layouts).weights().columns;
    const apart = Array.from(right).reduce((total, weight, i) => total + Math.abs(weight - mixed[i]), 0) / 2;
    const cases = NAMES.map((name, i) => [name, PARTS.map((part) => layouts.found[i][part])]);
    return {
      selection,
      layouts,
      apart,
      at: `head ${head} query ${query} key ${key}`,
      digits: 6,
      values: { ...Object.fromEntries(cases), apart },
      rows: tablesOf(layouts),
    };
  },
};
