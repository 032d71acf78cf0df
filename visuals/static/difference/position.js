// What the chapter on RoPE reads from a run: q·k pair by pair, under other frequencies, and in other layouts.

import { wavelength } from "../rotation.js";
import { h, shown } from "../dom.js";
import { adjust } from "../panels/position/place.js";
import { farOf, placeOf } from "../readings/rope-place.js";
import { CASES, SHIFT, layoutsOf } from "../panels/position/rope-layout.js";
import { rowNamed, rowsOf } from "../panels/position/rope-scaling.js";
import { createScalingControls, factorOf, settingsOf } from "../panels/position/scaling-controls.js";
import { createScoreControls, spanOf } from "../panels/position/score-controls.js";
import { product, singleTerms, sum } from "../readings/turning.js";
import { atCell, byPair, inRun, ofPair, rotaryOf } from "./selection.js";
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

/** The panel's slider of the distance and its choice of the chart's reach. @param {Glass} glass */
function scoreControls(glass) {
  const { one, spans, show } = createScoreControls(glass);
  return { elements: [h("div.position-sliders", null, one, spans)], show: () => show(spanOf(glass)) };
}

/**
 * Each pair's share of q·k at the run's own positions, in single precision as the model computes.
 *
 * @param {Run} run
 * @param {State} state
 */
function pairs({ held, trace }, state) {
  const { q, k, m, n, frequencies } = placeOf(held, inRun(state, trace));
  return singleTerms(q, k, m, n, frequencies);
}

/**
 * q·k of the cell's vectors at a distance, as they are turned by RoPE.
 *
 * @param {Run} run
 * @param {State} state
 * @param {number} distance
 */
function atDistance({ held, trace }, state, distance) {
  const { q, k, rest, frequencies } = placeOf(held, inRun(state, trace));
  return rest + product(q, k, distance, 0, frequencies);
}

/** @type {import("./face.js").View<Run, number>} */
const ropeScore = {
  layer: true,
  controls: scoreControls,
  without: "b_minus_a.without_both",
  choose: (_state, _a, _b, pointed, glass) => pointed ?? spanOf(glass).distance,
  at: (state, _glass, distance) => `${atCell(state)} pair ${state.pair} distance ${distance}`,
  of: (about) => ofPair(about, "of_pair_far", { distance: about.chosen }),
  numbers(run, state, _glass, distance) {
    const every = pairs(run, state);
    const all = sum(every, true);
    const { rest, model } = placeOf(run.held, inRun(state, run.trace));
    return {
      term: every[state.pair],
      sum: all,
      score: (all + rest) * model.parts.scale,
      far: atDistance(run, state, distance),
    };
  },
  said: ["term", "sum", "far"],
  parts: (glass, text) => [
    table({
      title: "terms",
      heading: "pair",
      values: pairs,
      name: (pair, { trace }) =>
        text("pair_of", { pair, wavelength: shown(wavelength(rotaryOf(trace).inv_freq.data[pair]), 3) }),
      ...byPair,
      rows: 32,
    })(glass, text),
    strips({
      title: "score_by_distance",
      named: () => ({ last: spanOf(glass).count - 1 }),
      strips: [["qk", "accent"]],
      values(/** @type {Run} */ { held, trace }, state) {
        const place = placeOf(held, inRun(state, trace));
        return { qk: farOf(place, place.frequencies, spanOf(glass).count) };
      },
      chosen: () => Math.min(spanOf(glass).distance, spanOf(glass).count - 1),
      keep: (distance) => adjust(glass, { distance }),
    })(glass, text),
  ],
};

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

const NAMES = Object.keys(CASES);
/** @type {WeakMap<object, { name: string } & ReturnType<typeof layoutsOf>>} by layer */
const known = new WeakMap();
/**
 * The selected row and cell in every case; made once for all parts.
 *
 * @param {Run} run
 * @param {State} state
 */
function layouts({ held, trace }, state) {
  const name = atCell(state);
  const last = known.get(held);
  if (last?.name === name) return last;
  const made = { name, ...layoutsOf(held, inRun(state, trace)) };
  known.set(held, made);
  return made;
}
/** Of every case q·k at the run's positions, and with both moved. */
const productRows = NAMES.flatMap((name) =>
  /** @type {const} */ (["product", "shifted"]).map((part) => ({ name, part })),
);

/** @type {import("./face.js").View<Run>} */
const ropeLayout = {
  layer: true,
  at: atCell,
  said: ["half_weight", "mixed_weight"],
  numbers(run, state) {
    const { found } = layouts(run, state);
    return Object.fromEntries(
      NAMES.flatMap((name, i) => Object.entries(found[i]).map(([part, value]) => [`${name}_${part}`, value])),
    );
  },
  parts: (glass, text) => [
    strips({
      title: "layout_rows",
      strips: [
        ["right", "k"],
        ["mixed", "muted"],
      ],
      values(/** @type {Run} */ run, state) {
        const { weights } = layouts(run, state);
        return { right: weights[NAMES.indexOf("half")], mixed: weights[NAMES.indexOf("mixed")] };
      },
      chosen: ({ key }) => key,
      pick: (key) => ({ key }),
    })(glass, text),
    table({
      title: "layout_products",
      heading: "case",
      values(/** @type {Run} */ run, state) {
        const { found } = layouts(run, state);
        return productRows.map(({ name, part }) => found[NAMES.indexOf(name)][part]);
      },
      name(i) {
        const { name, part } = productRows[i];
        return glass.text(`rope-layout.${name}`) + glass.text("marks.colon") + text(`layout_${part}`, { shift: SHIFT });
      },
      order: () => [...productRows.keys()],
      wordy: true,
    })(glass, text),
    table({
      title: "layout_weights",
      heading: "case",
      values: (/** @type {Run} */ run, state) => layouts(run, state).found.map(({ weight }) => weight),
      name: (i) => glass.text(`rope-layout.${NAMES[i]}`),
      order: () => [...NAMES.keys()],
      wordy: true,
    })(glass, text),
  ],
};

export default { "rope-score": ropeScore, "rope-scaling": ropeScaling, "rope-layout": ropeLayout };
