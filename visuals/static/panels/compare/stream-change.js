// How far the residual stream of run B lies from that of run A: layers × tokens.

import { labelsOf } from "../../characters.js";
import { exact, h, shown } from "../../dom.js";
import { frame } from "../../frame.js";
import { createDepthMap } from "../../marks/depth.js";
import { inView, widthOf } from "../../pointing.js";
import { shownIn } from "../../run-for.js";
import { nameOf } from "./names.js";

/**
 * @typedef {import("../../decoded.d.ts").Detail<"difference">} Answer
 *
 * @typedef {Answer & { values: Float64Array; key: string }} Found with the ratio of each place, and of which runs
 *   it is
 *
 * @typedef {import("../../decode.js").Trace} Trace
 */

/**
 * ‖B − A‖ / ‖A‖ of each place, rows × tokens.
 *
 * @param {Record<"apart" | "first", { data: ArrayLike<number> }>} found
 */
export const relative = ({ apart, first }) => Float64Array.from(apart.data, (value, i) => value / first.data[i]);

// The distance from 1 to the next number of each format, and how many of them the colours reach at the least.
/** @type {Record<string, number>} */
const STEP = { float32: 2 ** -23, float16: 2 ** -10, bfloat16: 2 ** -7 };
const STEPS = 128;

/**
 * The ratio of full colour: the largest, but so much at the least that rounding draws as nothing.
 *
 * @param {ArrayLike<number>} values
 * @param {string} dtype
 */
export const mostOf = (values, dtype) =>
  Array.from(values).reduce((most, value) => Math.max(most, value), STEPS * (STEP[dtype] ?? STEP.float32));

/** @type {import("../../frame.js").About} */
export const about = { tensors: ["resid_in", "resid_out"], sides: "both" };

/**
 * A row for each place of the stream.
 *
 * @param {Found} found
 * @returns {(string | number)[][]}
 */
function tableOf({ apart, first, values }) {
  const [rows, tokens] = apart.shape;
  const lines = Array.from({ length: rows * tokens }, (_, i) => [
    Math.floor(i / tokens),
    i % tokens,
    apart.data[i],
    first.data[i],
    values[i],
  ]);
  return [["before_layer", "token", "norm_of_difference", "norm_of_A", "ratio"], ...lines];
}

/**
 * Which tokens differ, so that those of B stand under A's; null where none does.
 *
 * @param {MapRun} run
 */
const secondsOf = ({ first, pieces }) =>
  pieces.some((piece, t) => piece !== first[t]) ? pieces.map((piece, t) => (piece === first[t] ? "" : piece)) : null;

/**
 * From no difference to the largest.
 *
 * @param {number} most
 * @returns {import("../../marks/scales.js").Scale & { name: string }}
 */
const scaleOf = (most) => ({
  table: "magnitude",
  place: (value) => value / most,
  ticks: [
    [0, "0"],
    [1, shown(most, 3)],
  ],
  name: "‖B − A‖ / ‖A‖",
});

/**
 * @typedef {import("../../marks/runs.js").RunWith<{ known: { values: ArrayLike<number> } }> & {
 *   first: string[];
 *   pieces: string[];
 * }} MapRun
 *   `first`, `pieces`: A's and B's tokens, as far as both have them
 */

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function streamChange(element, glass) {
  const state = shownIn(glass);
  /** @type {Found | null} */
  let found = null;
  const panel = frame(element, glass, "stream-change", { csv: () => (found ? tableOf(found) : []) });
  const empty = h("p.gp-note");
  const cut = h("p.gp-note");
  const map = createDepthMap(glass, {
    label: "stream-change.map",
    values: (/** @type {MapRun} */ { details }) => details.known.values,
    scale: (values, { trace }) => scaleOf(mostOf(values, trace.model.dtype)),
    name: (row, { trace }) => (row === trace.model.n_layers ? panel.text("last") : panel.text("row", { layer: row })),
    at: ({ layer, query }, { first }) => ({ row: layer, token: Math.min(query, first.length - 1) }),
    pick: ({ row, token }) => ({ layer: Math.min(row, state.trace.model.n_layers - 1), query: token }),
    pieces: ({ first }) => first,
    second: secondsOf,
    axis: () => panel.text(both && secondsOf(both) ? "axis_both" : "axis"),
    moves: {},
  });
  /** @type {MapRun | null} what the map is drawn of */
  let both = null;
  panel.body.append(empty, cut, map.element);
  const wide = widthOf(map.element, glass);
  /** The answer about the two runs, with the ratio of each place. @param {{ A: Trace; B: Trace }} sides */
  function fetched(sides) {
    const answer = glass.detail("difference", { other: sides.A.id }, sides.B);
    if (answer && answer.apart !== found?.apart)
      found = { ...answer, values: relative(answer), key: `${sides.A.id} ${sides.B.id}` };
    return found?.key === `${sides.A.id} ${sides.B.id}` ? found : null;
  }

  return inView(element, function draw() {
    const sides = glass.sides();
    panel.title.textContent = panel.text("title");
    const comparable = sides && sides.A.model.name === sides.B.model.name;
    const known = sides && comparable ? fetched(sides) : null;
    const same = known !== null && known.apart.data.every((x) => x === 0);
    empty.hidden = known !== null && !same;
    map.element.hidden = !known || same;
    cut.hidden = !known || sides?.A.T === sides?.B.T;
    if (same) empty.textContent = glass.text("b_minus_a.same");
    else empty.textContent = sides && !comparable ? panel.text("models") : panel.text(sides ? "waiting" : "empty");
    if (!known || !sides) return panel.tell("", "");
    const [rows, tokens] = known.apart.shape;
    const place = { row: Math.min(state.layer, rows - 1), token: Math.min(state.query, tokens - 1) };
    cut.textContent = panel.text("cut", { a: sides.A.T, b: sides.B.T, tokens });
    const [first, pieces] = [sides.A, sides.B].map((trace) => labelsOf(trace.tokens.pieces).slice(0, tokens));
    const drawn = { trace: sides.B, details: { known }, first, pieces };
    both = drawn;
    const width = wide();
    if (!same && width > 0) map.draw([drawn], width);
    const at = place.row * tokens + place.token;
    const [apart, length, ratio] = [known.apart.data[at], known.first.data[at], known.values[at]];
    return panel.tell(
      `layer ${place.row} token ${place.token} apart=${exact(apart)} first=${exact(length)} ratio=${exact(ratio)}`,
      panel.text("read", {
        layer: place.row,
        token: place.token,
        piece: nameOf(first[place.token], pieces[place.token]),
        apart: shown(apart, 5),
        first: shown(length, 5),
        ratio: shown(ratio, 5),
      }),
    );
  });
}
