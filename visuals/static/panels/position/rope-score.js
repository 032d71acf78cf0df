// RoPE and the score: what each pair adds to q·k, what moving both positions or one of them changes, and q·k over
// distance.

import { strongest } from "../../arrays.js";
import { h, shown } from "../../dom.js";
import { cellNames } from "../../draw.js";
import { frame } from "../../frame.js";
import { oneLine } from "../../one-line.js";
import { notTurned, turningForms } from "../../parts.js";
import { inWidth, widthOf } from "../../pointing.js";
import { FAST, farOf, fastAndSlow, placeOf } from "../../readings/rope-place.js";
import { distanceReader, runOf, scoreReader } from "../../readings/rope-score.js";
import { memo } from "../../reads.js";
import { channelsOf } from "../../rotation.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { rotaryOf } from "../../readings/position-kinds.js";
import { adjust, afterQuery, turnText, whole } from "./place.js";
import { arithmetic, sums } from "./score.js";
import { createFar, drawPairs, groupedText, linkPairs } from "./score-charts.js";
import { createScoreControls, createSliders, spanOf } from "./score-controls.js";

const KIND = "rope-score";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/rope-score.js").ScoreReading} Reading
 */

/** The slider of the distance and the reach of the chart, which two runs have in common. @param {Glass} glass */
function controls(glass) {
  const { one, spans, show } = createScoreControls(glass);
  return { elements: [h("div.position-sliders", null, one, spans)], show: () => show(spanOf(glass)) };
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["q", "k", "q_rot", "k_rot", "scores"],
  difference: {
    reader: distanceReader,
    select(glass) {
      const { layer, head, query, key, pair } = shownIn(glass);
      const { distance, count } = spanOf(glass);
      return { layer, head, query, key, pair, distance, count };
    },
    points: "distance",
    keep: (glass, distance) => adjust(glass, { distance }),
    controls,
    without: "b_minus_a.without_both",
    of({ text, chosen: { pair, distance }, b }) {
      const [first, second] = channelsOf(rotaryOf(b.trace.model), pair);
      return text("of_pair_far", { pair: first, second, distance });
    },
    said: ["term", "sum", "far"],
    parts: [
      {
        draw: "table",
        rows: "pairs",
        column: "term",
        title: "terms",
        heading: "pair",
        selects: "pair",
        free: ["distance"],
        name: ({ key: { pair, wavelength: long }, text }) =>
          text("pair_of", { pair, wavelength: turnText(Number(long)) }),
        most: 32,
      },
      {
        draw: "strips",
        rows: "distances",
        title: "score_by_distance",
        named: ({ selection: { count } }) => ({ last: count - 1 }),
        columns: [["qk", "accent"]],
      },
    ],
  },
  unused: "head",
  absent: notTurned("score"),
  forms: turningForms,
};

/**
 * Where query and key were moved to, which a class is told, and a worksheet in the sliders' place; "" where they
 * stay.
 *
 * @param {Reading} reading
 * @param {Say} text of the panel
 */
function givenIn({ found: { query, key }, place: { m, n } }, text) {
  const [before, after] = [m - n, query - key];
  if (query === m && key === n) return "";
  return text(before === after ? "given" : "given_distance", { m, n, query, key, before, after });
}

/**
 * The line under the title.
 *
 * @param {Reading} reading
 * @param {Say} text of the panel
 */
function inWords({ found, place: { m, n, rest }, selection: { pair }, values }, text) {
  const [best] = strongest(found.here, 1);
  const same = found.query - found.key === m - n;
  return text(!same ? "read_moved" : pair === best ? "read_most" : "read", {
    pair,
    best,
    best_term: shown(found.moved[best], 5),
    m: found.query,
    n: found.key,
    term: shown(found.moved[pair], 5),
    sum: shown(found.sumMoved + rest, 5),
    run_term: shown(found.here[pair], 5),
    run_sum: shown(found.sumHere + rest, 5),
    wavelength: turnText(values.wavelength),
  });
}

/**
 * q·k over distance, which is the same for every pair.
 *
 * @param {Glass} glass
 * @param {Say} text of the panel
 * @param {() => number} wide
 */
function createDistances(glass, text, wide) {
  const far = createFar(glass, `${KIND}.far_chart`, wide, (distance) => adjust(glass, { distance }));
  /**
   * @type {(
   *   ...given: [import("../../decode.js").Layer, number, number, number, number, number, number, boolean, boolean]
   * ) => void}
   */
  const drawAnew = (held, head, query, key, distance, count, width, inLesson, covered) => {
    const { trace } = shownIn(glass);
    const place = placeOf(held, { trace, head, query, key });
    const curve = farOf(place, place.frequencies, count);
    const whole = { curve, run: inLesson ? null : runOf(held, head, trace.model), real: query - key, distance, text };
    if (!inLesson) return far.draw(width, whole);
    return far.draw(width, { ...whole, parts: { ...fastAndSlow(place, place.frequencies, count), told: !covered } });
  };
  /** What the two lines are that the answer adds. @param {Reading} reading */
  function partsView({ place }) {
    const { pairs } = fastAndSlow(place, place.frequencies, 1);
    const all = place.frequencies.inv_freq.length;
    const numbers = { pairs, others: all - pairs, tokens: FAST };
    const entry = (/** @type {string} */ name) =>
      html`<span class="gp-sample" data-result
        ><span class=${`gp-swatch is-${name}`}></span><span .textContent=${text(`far_${name}`, numbers)}></span
      ></span>`;
    return html`<p class="position-parts" data-answer="beside">${entry("fast")} ${entry("slow")}</p>`;
  }
  /** @param {Reading} reading */
  function said({ found, place: { rest }, selection: { head } }) {
    const state = shownIn(glass);
    const held = glass.layer();
    const { query, key } = cellNames(state);
    const every = held ? runOf(held, head, state.trace.model).every : 1;
    const sampled = every > 1 ? text("sampled", { every }) : "";
    const grouped = groupedText(glass, wide(), spanOf(glass).count);
    const after = afterQuery(state, found.sumHere + rest, glass.text);
    return oneLine([text("far_note", { query, key }), grouped, sampled, after]);
  }
  return { said, partsView, canvas: far.canvas, pointed: far.pointed, draw: memo(drawAnew) };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function ropeScore(element, glass) {
  const state = shownIn(glass);
  const canvas = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart`, "data-answer": "drawn" });
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth"] });
  const { text } = panel;
  const wide = widthOf(panel.body, glass);
  const sliders = createSliders(glass);
  const far = createDistances(glass, text, wide);
  sliders.spans.dataset.answer = "beside";
  far.canvas.dataset.answer = "drawn";

  /** @param {Reading | null} reading null before it has come */
  function view(reading) {
    const { layer, head } = reading?.selection ?? {};
    const title = reading ? text("far_title", { layer, head, kv: reading.place.kv }) : "";
    return html`
      <div class="position-pairs" data-given=${reading ? givenIn(reading, text) : ""}>
        ${sliders.element}
        <div class="gp-formula" data-part="formula" data-answer="beside">
          ${reading && (state.presenting ? sums(reading, text) : arithmetic(reading, text))}
        </div>
        <p class="gp-note">
          <span class="position-given" .textContent=${reading && state.presenting ? givenIn(reading, text) : ""}></span>
          <span .textContent=${text(state.presenting ? "bars_lesson" : "bars_note")}></span>
        </p>
        ${canvas}
      </div>
      <div class="position-far" data-apart>
        <h3 class="gp-subtitle" data-answer="beside" .textContent=${title}></h3>
        ${sliders.spans}
        <p class="gp-note" data-answer="beside" .textContent=${reading ? far.said(reading) : ""}></p>
        ${reading && state.presenting ? far.partsView(reading) : nothing} ${far.canvas}
      </div>
    `;
  }
  render(view(null), panel.body);
  linkPairs(canvas, glass, wide);

  return inWidth(element, wide, function draw(width) {
    const { trace, layer, head, query, key, pair } = state;
    const { limit, count, distance: own } = spanOf(glass);
    const shift = whole(glass.settings.get("rope").both, 0, limit - 1, 0);
    const distance = far.pointed() ?? own;
    const held = glass.layer();
    const reading = readHere(glass, scoreReader, { layer, head, query, key, pair, shift, distance });
    if (!held || !reading) return undefined;
    const { inv_freq } = reading.place.frequencies;
    const { max_context: context } = trace.model;
    const [inLesson, covered] = [state.presenting === true, state.covered === true];
    drawPairs(canvas, width, reading.found, { inv_freq, tokens: trace.T, context, pair, covered, inLesson, text });
    far.draw(held, head, query, key, distance, count, width, inLesson, covered);
    return () => {
      sliders.show({ limit, count, distance, shift });
      panel.title.textContent = text("title", { ...cellNames(state), m: reading.found.query, n: reading.found.key });
      render(view(reading), panel.body);
      panel.show(reading, inWords(reading, text));
    };
  });
}
