// What the chapter on RoPE reads from a run: q·k under other frequencies.

import { adjust } from "../panels/position/place.js";
import { farOf, placeOf } from "../readings/rope-place.js";
import { rowNamed, rowsOf } from "../panels/position/rope-scaling.js";
import { createScalingControls, factorOf, settingsOf } from "../panels/position/scaling-controls.js";
import { atCell, inRun } from "./selection.js";
import { strips } from "./strips.js";
import { table } from "./table.js";

/**
 * @typedef {import("./face.js").LayerRun} Run
 *
 * @typedef {import("./face.js").State} State
 *
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {import("../decoded.d.ts").Detail<"rope_scalings">} Scalings
 *
 * @typedef {Run & { details: { scalings: Scalings } }} ScaledRun
 *
 * @typedef {{ method: string; distance: number }} Method which is looked at, and where
 */

/**
 * What the panel is set to, once the server has said how each method stretches.
 *
 * @param {Scalings} answer
 * @param {Glass} glass
 */
const chosen = (answer, glass) => settingsOf(glass, answer);
/**
 * Every method's q·k in one run, by its own name; the frequencies are those of the model, the same in both runs.
 *
 * @param {ScaledRun} run
 * @param {State} state
 * @param {Glass} glass
 */
function stretched({ held, trace, details: { scalings } }, state, glass) {
  const { methods, distance } = chosen(scalings, glass);
  return rowsOf(placeOf(held, inRun(state, trace)), methods, distance);
}

/** @type {import("./face.js").View<ScaledRun, Method>} */
const ropeScaling = {
  layer: true,
  controls(glass) {
    const { bar, reach, show } = createScalingControls(glass);
    return { elements: [bar, reach], show: (_a, b) => show(chosen(b.details.scalings, glass)) };
  },
  note: "b_minus_a.same_frequencies",
  details: (glass) => ({ scalings: ["rope_scalings", { factor: factorOf(glass) }] }),
  named: (glass) => ({ factor: factorOf(glass) }),
  choose: (_state, _a, b, pointed, glass) => {
    const { method, distance, limit } = chosen(b.details.scalings, glass);
    return { method, distance: pointed === null ? distance : Math.min(pointed, limit - 1) };
  },
  of: ({ text, chosen: { method, distance }, glass }) =>
    text("of_method", { method: glass.text(`rope-scaling.${method}`), distance }),
  at: (state, glass, { method, distance }) =>
    `${atCell(state)} factor ${factorOf(glass)} method ${method} distance ${distance}`,
  numbers(run, state, glass, { method, distance }) {
    const { methods } = chosen(run.details.scalings, glass);
    const wanted = methods.filter(({ name }) => name === method || name === "none");
    const found = rowsOf(placeOf(run.held, inRun(state, run.trace)), wanted, distance);
    const [chosenOne, plain] = [rowNamed(found, method), rowNamed(found, "none")];
    return { real: chosenOne.real, far: chosenOne.far, plain: plain.real };
  },
  said: ["real", "far"],
  parts: (glass, text) => {
    const atDistance = {
      named: (/** @type {State} */ _state, /** @type {ScaledRun} */ b) => ({
        distance: chosen(b.details.scalings, glass).distance,
      }),
    };
    /**
     * @param {string} title
     * @param {"real" | "far"} part
     * @param {Pick<import("./heading.js").Titled<ScaledRun>, "named">} more
     */
    const methodTable = (title, part, more) =>
      table({
        title,
        ...more,
        heading: "method",
        values: (/** @type {ScaledRun} */ run, state) =>
          Float64Array.from(stretched(run, state, glass), (row) => row[part]),
        name: (i, { details: { scalings } }) => glass.text(`rope-scaling.${chosen(scalings, glass).methods[i].name}`),
        order: (change) => [...change.keys()],
        pick: () => ({}), // a row stands for no distance
      })(glass, text);
    return [
      methodTable("stretched_here", "real", {}),
      methodTable("stretched_far", "far", atDistance),
      strips({
        title: "by_distance",
        named: (_state, /** @type {ScaledRun} */ b) => {
          const { method, limit } = chosen(b.details.scalings, glass);
          return { method: glass.text(`rope-scaling.${method}`), last: limit - 1 };
        },
        strips: [
          ["unscaled", "muted"],
          ["stretched", "accent"],
        ],
        values({ held, trace, details: { scalings } }, state) {
          const { methods, method, limit } = chosen(scalings, glass);
          const place = placeOf(held, inRun(state, trace));
          const over = (/** @type {string} */ wanted) => {
            const { inv_freq, attention_scaling: scaling } = rowNamed(methods, wanted);
            return farOf(place, { inv_freq: inv_freq.data, scaling }, limit);
          };
          return { unscaled: over("none"), stretched: over(method) };
        },
        chosen: (_state, _glass, _changes, b) => chosen(b.details.scalings, glass).distance,
        keep: (distance) => adjust(glass, { reach: distance }),
      })(glass, text),
    ];
  },
};

export default { "rope-scaling": ropeScaling };
