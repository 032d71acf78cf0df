// What the chapter on the norms reads from a run: the vector through its norm, and what scaling and shifting it
// changes.

import { growth, placesOf } from "../panels/norm/depth.js";
import { CASES, changes, createScaling, METHODS, ownMethod, settingsOf, sizeName } from "../panels/norm/norm-scale.js";
import { stagesOf } from "../panels/norm/norm-vector.js";
import { changed, scaleChange } from "../panels/norm/norms.js";
import { readVector, request } from "../panels/norm/vector.js";
import { chosenChannel, chosenNorm, normButtons, setNorm } from "../panels/norm/norm-choice.js";
import { strongest } from "../arrays.js";
import { exact, shown } from "../dom.js";
import { atNorm } from "./selection.js";
import { strips } from "./strips.js";
import { mostChanged, table } from "./table.js";

/** Both panels are asked about the selected norm at the selected token. */
const details = ({ state, settings }, { B }) => ({
  vectors: ["norm_vectors", request(B, chosenNorm({ settings, state }), state.layer, state.query)],
});
/** What the norm reads in a run. */
const readIn = ({ trace, details: { vectors } }, { layer, query }, glass) =>
  readVector(vectors, trace, chosenNorm(glass), layer, query);

const stages = new WeakMap();
/** x, what the norm's division makes of it, and that with γ and β; made once. */
function vectorOf(run, state, glass) {
  const vector = readIn(run, state, glass);
  if (!stages.has(vector)) {
    const { x, after, product } = stagesOf(vector);
    stages.set(vector, { x, after, normed: product, by: { [vector.beta ? "deviation" : "rms"]: vector.rms } });
  }
  return stages.get(vector);
}
/**
 * The channel under the pointer, else the one that was clicked, else the one that the panel speaks of for B alone:
 * the largest.
 */
const channelOf = (pointed, { x }, glass) =>
  Math.min(pointed ?? chosenChannel(glass, x.length) ?? strongest(x, 1)[0], x.length - 1);

const normVector = {
  details,
  controls(glass) {
    const { element, mark } = normButtons(glass);
    return { elements: [element], show: mark };
  },
  without: "b_minus_a.without_zoom",
  at: (state, glass, channel) => `${atNorm(chosenNorm(glass), state)} channel ${channel}`,
  said: ["x", "normed", "rms", "deviation"],
  of: ({ text, chosen }) => text("of_channel", { channel: chosen }),
  choose: (state, _a, b, pointed, glass) => channelOf(pointed, vectorOf(b, state, glass), glass),
  numbers(run, state, glass, channel) {
    const { x, after, normed, by } = vectorOf(run, state, glass);
    return { x: x[channel], after: after[channel], normed: normed[channel], ...by };
  },
  parts: (glass, text) => {
    const channels = table({
      title: "channels",
      heading: "channel",
      values: (run, state) => vectorOf(run, state, glass).x,
      name: (channel) => String(channel),
    })(glass, text);
    const channel = (state, _glass, _changes, b) => channelOf(channels.pointed(), vectorOf(b, state, glass), glass);
    return [
      strips({
        strips: [
          ["after", "norm"],
          ["normed", "norm"],
          ["x", "residual"],
        ],
        values: (run, state) => vectorOf(run, state, glass),
        chosen: channel,
        keep: (i) => setNorm(glass, { channel: i }),
      })(glass, text),
      channels,
      table({
        title: "rms_by_depth",
        heading: "place",
        values: ({ trace }, { query }) => growth(trace, query),
        name: (i, { trace }) => {
          const { layer, norm } = placesOf(trace.model)[i];
          return norm === "final" ? text("final") : text(`norm_${norm}`, { layer });
        },
        rows: 16,
        pick: () => ({}), // a row stands for no channel
      })(glass, text),
    ];
  },
};

const DECADES = Array.from({ length: 9 }, (_, i) => 10 ** (i - 4)); // values of a
const cases = METHODS.flatMap(([method]) => CASES.map((name) => ({ method, name })));

/** The relative change of every method's output in every case, at the a and b that the panel is set to. */
function scaled(run, state, glass) {
  const vector = readIn(run, state, glass);
  const { a, b } = settingsOf(glass, vector.rms);
  return Float64Array.from(changes(vector, a, b).flat());
}

/** One a and one multiple of the RMS for both runs; b itself is another one in each, as their RMS are. */
function scalingOfBoth(glass) {
  const { elements, mark, show } = createScaling(glass);
  return {
    elements,
    show(a, b) {
      mark();
      const [first, second] = [a, b].map((run) => settingsOf(glass, readIn(run, glass.state, glass).rms));
      const share = `${shown(second.share, 3)} · ${sizeName(readIn(b, glass.state, glass))}`;
      show(second, `b = ${share}, A: ${shown(first.b, 4)}, B: ${shown(second.b, 4)}`);
    },
  };
}

const normScale = {
  details,
  controls: scalingOfBoth,
  note: "norm-scale.measure",
  named(glass, text) {
    const { a, share } = settingsOf(glass, 1);
    const norm = chosenNorm(glass);
    return {
      norm: norm === "final" ? text("final") : text(`norm_${norm}`, glass.state),
      a: shown(a, 4),
      share: shown(share, 3),
    };
  },
  at(state, glass) {
    const { a, share } = settingsOf(glass, 1);
    return `${atNorm(chosenNorm(glass), state)} a ${exact(a)} share ${exact(share)}`;
  },
  said: (run, state, glass) =>
    ["scaled", "shifted"].map((name) => `${ownMethod(readIn(run, state, glass))[0]}_${name}`),
  numbers(run, state, glass) {
    const found = scaled(run, state, glass);
    return Object.fromEntries(cases.map(({ method, name }, i) => [`${method}_${name}`, found[i]]));
  },
  parts: (glass, text) => [
    table({
      title: "scale_cases",
      heading: "method",
      values: scaled,
      name: (i) => `${glass.text(`norm-scale.${cases[i].method}`)}: ${glass.text(`norm-scale.${cases[i].name}`)}`,
      order: () => [...cases.keys()],
      wordy: true,
    })(glass, text),
    table({
      title: "scale_curve",
      heading: "factor",
      values(run, state) {
        const { meanSquare, eps } = readIn(run, state, glass);
        return Float64Array.from(DECADES, (a) => scaleChange(meanSquare, eps, a));
      },
      name: (i) => `a = ${Number(DECADES[i].toPrecision(1))}`,
      order: () => [...DECADES.keys()],
    })(glass, text),
    strips({
      title: "scale_outputs",
      strips: [
        ["before", "norm"],
        ["scaled", "norm"],
        ["moved", "norm"],
      ],
      values(run, state) {
        const vector = readIn(run, state, glass);
        const { a, b } = settingsOf(glass, vector.rms);
        const [, norm] = ownMethod(vector);
        const [before, after] = [vector.x, changed(vector.x, a, b)].map((x) => norm(x, vector.eps));
        return { before, scaled: after, moved: after.map((value, i) => value - before[i]) };
      },
      chosen: (_state, _glass, { moved }) => mostChanged(moved),
    })(glass, text),
  ],
};

export default { "norm-vector": normVector, "norm-scale": normScale };
