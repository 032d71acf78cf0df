// How far the residual stream of run B lies from that of run A: layers × tokens.

import { labelsOf } from "../../characters.js";
import { shown } from "../../dom.js";
import { frame } from "../../frame.js";
import { createDepthMap } from "../../marks/depth.js";
import { ownChoice } from "../../pointed.js";
import { inView, widthOf } from "../../pointing.js";
import { streamsReader } from "../../readings/compare.js";
import { readBeside, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { nameOf } from "./names.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../readings/reading.js").Sides} Sides
 *
 * @typedef {import("../../readings/compare.js").StreamsReading} Reading
 */

/** @type {import("../../frame.js").About} */
export const about = { tensors: ["resid_in", "resid_out"], sides: "both" };

/** Whether what leaves the last layer is selected or under the pointer: it enters no layer, so the store has none. */
const out = ownChoice(false);
/** @param {number} row @param {MapRun} run */
const isOut = (row, { trace }) => row === trace.model.n_layers;
/**
 * The row that is selected: of what enters a layer, or above them what leaves the last.
 *
 * @param {{ layer: number; trace: import("../../decode.js").Trace }} at
 */
const rowOf = ({ layer, trace }) => layer + Number(out.now() && layer === trace.model.n_layers - 1);
/** @type {(by: number) => import("../../pointing.js").Move} */
const step = (by) => (at) => {
  const [last, next] = [at.trace.model.n_layers, rowOf(at) + by];
  out.keep(next >= last);
  out.hover(null);
  return { layer: Math.max(0, Math.min(last - 1, next)) };
};

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
 * @typedef {import("../../marks/runs.js").RunWith<{ streams: Reading }> & { first: string[]; pieces: string[] }} MapRun
 *   `first`, `pieces`: A's and B's tokens, as far as both have them
 */

/**
 * The map of all places.
 *
 * @param {Glass} glass
 * @param {import("../../types.d.ts").Say} text of the panel
 * @param {() => MapRun | null} drawn what it is drawn of
 */
const createMap = (glass, text, drawn) =>
  createDepthMap(glass, {
    label: "stream-change.map",
    values: (/** @type {MapRun} */ { details }) => details.streams.ratios,
    scale: (_values, { details }) => scaleOf(details.streams.most),
    name: (row, { trace }) => (row === trace.model.n_layers ? text("last") : text("row", { layer: row })),
    at: (_state, { details }) => {
      const { layer, token } = details.streams.selection;
      return { row: layer, token };
    },
    pick: ({ row, token }, _state, run) => ({ layer: row - Number(isOut(row, run)), query: token }),
    keep: ({ row }, run) => out.keep(isOut(row, run)),
    hover: (place, run) => out.hover(place && isOut(place.row, run)),
    pieces: ({ first }) => first,
    second: secondsOf,
    axis: () => {
      const both = drawn();
      return text(both && secondsOf(both) ? "axis_both" : "axis");
    },
    moves: { ArrowUp: step(1), ArrowDown: step(-1) },
  });

/**
 * Why there is nothing to see; "" where there is.
 *
 * @param {Glass} glass
 * @param {import("../../types.d.ts").Say} text of the panel
 * @param {Sides | null} sides
 * @param {Reading | null} reading
 */
function emptyText(glass, text, sides, reading) {
  if (reading) return reading.same ? glass.text("b_minus_a.same") : "";
  if (!sides) return text("empty");
  return text(sides.A.model.name === sides.B.model.name ? "waiting" : "models");
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function streamChange(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, "stream-change", {});
  const { text } = panel;
  /** @type {MapRun | null} what the map is drawn of */
  let both = null;
  const map = createMap(glass, text, () => both);

  /**
   * @param {Sides | null} sides
   * @param {Reading | null} reading
   */
  function view(sides, reading) {
    const empty = emptyText(glass, text, sides, reading);
    const cut = reading && sides && sides.A.T !== sides.B.T;
    const counts = { a: sides?.A.T, b: sides?.B.T, tokens: reading?.tokens };
    return html`<p class="gp-note" ?hidden=${!empty} .textContent=${empty}></p>
      <p class="gp-note" ?hidden=${!cut} .textContent=${cut ? text("cut", counts) : ""}></p>
      <div ?hidden=${!reading || reading.same}>${map.element}</div>`;
  }
  render(view(null, null), panel.body);
  const wide = widthOf(map.element, glass);

  /**
   * @param {Reading} reading
   * @param {import("../../decode.js").Trace} trace
   */
  function tell(reading, trace) {
    const { selection, values } = reading;
    const words = text(selection.layer === trace.model.n_layers ? "read_last" : "read", {
      ...selection,
      piece: both ? nameOf(both.first[selection.token], both.pieces[selection.token]) : "",
      apart: shown(values.apart, 5),
      first: shown(values.first, 5),
      ratio: shown(values.ratio, 5),
    });
    panel.show(reading, words);
  }

  glass.on("select", () => {
    if (state.trace && state.layer < state.trace.model.n_layers - 1) out.keep(false);
  });

  return inView(element, function draw(fresh) {
    if (fresh) out.hover(null);
    const sides = glass.sides();
    const comparable = sides && sides.A.model.name === sides.B.model.name;
    const reading = comparable
      ? readBeside(glass, streamsReader, sides, {
          layer: rowOf({ layer: state.layer, trace: sides.B }),
          token: state.query,
        })
      : null;
    panel.title.textContent = text("title");
    render(view(sides, reading), panel.body);
    if (!reading || !sides) return panel.show(null, "");
    const [first, pieces] = [sides.A, sides.B].map(({ tokens }) => labelsOf(tokens.pieces).slice(0, reading.tokens));
    both = { trace: sides.B, details: { streams: reading }, first, pieces };
    const width = wide();
    if (!reading.same && width > 0) map.draw([both], width);
    return tell(reading, sides.B);
  });
}
