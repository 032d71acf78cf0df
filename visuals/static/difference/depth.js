// What the panels that follow tokens through the depth of the network read from a run.

import { choices } from "../controls.js";
import { shown } from "../dom.js";
import { partName as writerName, reader, sharesMap, writerAt, writerRow } from "../panels/choice/contributions.js";
import { depthName, depthOf, lensAsked, lensMap } from "../panels/choice/lens.js";
import { sublayers } from "../parts.js";
import { readLens } from "../readings/lens.js";
import { places } from "./places.js";
import { atToken, ofPlace } from "./selection.js";
import { table } from "./table.js";

/**
 * @typedef {import("./face.js").Run} Run
 *
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {Run & { details: { lens: import("../decoded.d.ts").Detail<"lens"> } }} LensRun
 *
 * @typedef {Run & { details: { shares: import("../decoded.d.ts").Detail<"contributions"> } }} SharesRun
 */

/**
 * A choice between two things, kept under the panel's name.
 *
 * @type {(panel: string, name: string, values: string[]) => (glass: Glass) => import("./face.js").Controls}
 */
const choiceOf = (panel, name, values) => (glass) => {
  const { element, show } = choices(glass, panel, name, values);
  return { elements: [element], show };
};

/** @type {import("./face.js").View<LensRun>} */
const lens = {
  controls(glass) {
    const [kind, follow] = [
      choiceOf("lens", "kind", ["logit", "jacobian"]),
      choiceOf("lens", "follow", ["choice", "text"]),
    ];
    const made = [kind(glass), follow(glass)];
    const show = (/** @type {Run} */ a, /** @type {Run} */ b) => made.forEach((one) => one.show(a, b));
    return { elements: made.flatMap(({ elements }) => elements), show };
  },
  without: "b_minus_a.without_colour",
  // Both runs are asked about B's tokens, so that one token's numbers are subtracted.
  details: (glass, { B }) => ({ lens: ["lens", { ...lensAsked(glass), other: B.id }] }),
  at: (state) => (depthOf(state) === 0 ? `embedding token ${state.query}` : atToken(state)),
  of: ofPlace(({ glass, state }) => depthName(glass, depthOf(state))),
  numbers: (run, state) => {
    const [read, depth] = [readLens(run.details.lens), depthOf(state)];
    return { p: read.own(depth, state.query), rank: read.rank(depth, state.query) + 1 };
  },
  parts: (glass, text) => [
    places(glass, text, (...to) => lensMap(...to, () => "own"), { called: "p_followed" }),
    table({
      title: "p_by_depth",
      heading: "place",
      values(/** @type {LensRun} */ run, { query }) {
        const read = readLens(run.details.lens);
        return Float64Array.from({ length: read.depths }, (_, row) => read.own(row, query));
      },
      name: (row) => depthName(glass, row),
      pick: (row) => ({ layer: Math.max(0, row - 1) }),
      rows: 16,
    })(glass, text),
  ],
};

/**
 * The RMS that the final norm divides a token's vector by, and with it every part.
 *
 * @param {SharesRun} run
 * @param {number} token
 */
const finalRms = ({ details: { shares } }, token) => shares.scale.data[token];
/**
 * Why parts that wrote the same in both runs differ here; nothing where the two RMS are equal.
 *
 * @type {NonNullable<import("./face.js").View<SharesRun>["about"]>}
 */
function aboutRms(a, b, { query }, text) {
  const [first, second] = [a, b].map((run) => finalRms(run, query));
  return first === second ? "" : text("final_rms", { a: shown(first, 5), b: shown(second, 5) });
}
/** @type {import("./face.js").View<SharesRun>} */
const contributions = {
  controls: choiceOf("contributions", "versus", ["alone", "second"]),
  details: (glass, { B }) => ({
    shares: [
      "contributions",
      { target: null, versus: glass.settings.get("contributions").versus === "second", other: B.id },
    ],
  }),
  at: (state) => `${writerAt(state)} token ${state.query}`,
  of: ofPlace(({ glass, state }) => writerName(glass, writerRow(state))),
  numbers: (run, state) => ({
    contribution: reader(run.details.shares).value(writerRow(state), state.query),
    logit: run.details.shares.logit.data[state.query],
    final_rms: finalRms(run, state.query),
  }),
  said: ["contribution", "logit"],
  about: aboutRms,
  parts: (glass, text) => [
    places(glass, text, sharesMap, { called: "n_contribution" }),
    table({
      title: "writers",
      heading: "place",
      values(/** @type {SharesRun} */ { details: { shares } }, { query }) {
        const { parts, patched } = reader(shares);
        return [...parts(query).map(({ value }) => value), patched(query)];
      },
      name: (row, { trace }) =>
        row > sublayers(trace.model).length * trace.model.n_layers ? text("patched") : writerName(glass, row),
      rows: 16,
    })(glass, text),
  ],
};

export default { lens, contributions };
