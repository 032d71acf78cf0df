// RoPE and the score: what each pair adds to q·k, what moving both positions or one of them changes, and q·k over
// distance.

import { strongest } from "../../arrays.js";
import { exact, h, shown } from "../../dom.js";
import { cellNames } from "../../draw.js";
import { frame } from "../../frame.js";
import { notTurned, turningForms } from "../../parts.js";
import { inWidth, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { wavelength } from "../../rotation.js";
import { shownIn } from "../../run-for.js";
import { adjust, afterQuery, whole } from "./place.js";
import { farOf, placeOf, turnsPart } from "../../readings/rope-place.js";
import { createSliders, spanOf } from "./score-controls.js";
import { createFar, drawPairs, linkPairs } from "./score-charts.js";
import { arithmetic, runOf, scoreOf } from "./score.js";
import { oneLine } from "../../one-line.js";

const KIND = "rope-score";

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["q", "k", "q_rot", "k_rot", "scores"],
  difference: "position",
  unused: "head",
  absent: notTurned("score"),
  forms: turningForms,
};

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("./score.js").Place} Place
 *
 * @typedef {import("./score.js").Score} Score
 */

/**
 * Every pair: what it adds at the run's positions, and moved.
 *
 * @param {Score} found
 * @param {Place} place
 * @returns {(string | number)[][]}
 */
function tableOf({ here, moved }, { frequencies: { inv_freq } }) {
  const rows = Array.from(here, (term, i) => [i, inv_freq[i], wavelength(inv_freq[i]), term, moved[i]]);
  return [["pair", "inv_freq", "wavelength", "term", "term_moved"], ...rows];
}

/**
 * For data-value.
 *
 * @param {Score} found
 * @param {Place} place
 * @param {import("../../types.d.ts").Shown} state
 */
function plain(found, { m, n, kv, rest, model, frequencies }, { layer, head, pair }) {
  const frequency = frequencies.inv_freq[pair];
  const numbers = {
    inv_freq: frequency,
    wavelength: wavelength(frequency),
    term: found.here[pair],
    sum: found.sumHere,
    moved_term: found.moved[pair],
    moved_sum: found.sumMoved,
    ...(turnsPart(model) ? { unrotated: rest } : {}),
    score: found.scores[0],
  };
  const name = `layer ${layer} head ${head} kv ${kv} query ${m} key ${n} pair ${pair}`;
  const values = Object.entries(numbers)
    .map(([key, value]) => `${key}=${exact(value, 6)}`)
    .join(" ");
  const moved = `moved=(${found.query}, ${found.key})`;
  return `${name} ${values} ${moved} deviation=${exact(found.deviation)} precise=${exact(found.precise)}`;
}

/**
 * The line under the title.
 *
 * @param {Score} found
 * @param {Place} place
 * @param {number} pair
 * @param {Say} text of the panel
 */
function inWords(found, { m, n, rest, frequencies }, pair, text) {
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
    wavelength: shown(wavelength(frequencies.inv_freq[pair]), 4),
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
  const state = shownIn(glass);
  const title = h("h3.gp-subtitle");
  const note = h("p.gp-note");
  const far = createFar(glass, `${KIND}.far_chart`, wide, (distance) => adjust(glass, { distance }));
  /**
   * @param {import("../../decode.js").Layer} held
   * @param {number} sumHere
   * @param {number} distance
   * @param {number} count
   * @param {number} width
   */
  function drawAnew(held, sumHere, distance, count, width) {
    const { trace, layer, head, query, key } = state;
    const place = placeOf(held, state);
    const run = runOf(held, head, trace.model);
    title.textContent = text("far_title", { layer, head, kv: place.kv });
    const { query: q, key: k } = cellNames(state);
    const sampled = run.every > 1 ? text("sampled", { every: run.every }) : "";
    const after = afterQuery(state, sumHere + place.rest, glass.text);
    note.textContent = oneLine([text("far_note", { query: q, key: k }), sampled, after]);
    const curve = farOf(place, place.frequencies, count);
    far.draw(width, { curve, run, real: query - key, distance, text });
  }
  return { title, note, canvas: far.canvas, pointed: far.pointed, draw: memo(drawAnew) };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function ropeScore(element, glass) {
  const state = shownIn(glass);
  const canvas = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart` });
  /** @type {{ found: Score; place: Place } | null} what is drawn */
  let shownNow = null;
  const panel = frame(element, glass, KIND, {
    csv: () => (shownNow ? tableOf(shownNow.found, shownNow.place) : []),
    parts: ["what", "formula", "myth"],
  });
  const { text } = panel;
  const wide = widthOf(panel.body, glass);
  const sliders = createSliders(glass);
  const formula = h("div.gp-formula", { "data-part": "formula" });
  const far = createDistances(glass, text, wide);
  panel.body.append(
    sliders.element,
    formula,
    h("p.gp-note", { "data-text": `${KIND}.bars_note` }),
    canvas,
    far.title,
    sliders.spans,
    far.note,
    far.canvas,
  );
  linkPairs(canvas, glass, wide);

  return inWidth(element, wide, function draw(width) {
    const { trace, pair } = state;
    const held = glass.layer();
    if (!held) return;
    const place = placeOf(held, state);
    const { limit, count, distance: own } = spanOf(glass);
    const shift = whole(glass.settings.get("rope").both, 0, limit - 1, 0);
    const distance = far.pointed() ?? own;
    const found = scoreOf(place, shift, distance);
    shownNow = { place, found };
    sliders.show({ limit, distance, shift });
    panel.title.textContent = text("title", cellNames(state));
    const { inv_freq } = place.frequencies;
    const { max_context: context } = trace.model;
    drawPairs(canvas, width, found, { inv_freq, tokens: trace.T, context, pair, text });
    formula.replaceChildren(...arithmetic(found, place, pair, inv_freq[pair], text));
    far.draw(held, found.sumHere, distance, count, width);
    panel.tell(plain(found, place, state), inWords(found, place, pair, text));
  });
}
