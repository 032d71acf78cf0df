// RoPE and the score: what each pair adds to q·k, what moving both positions or one of them changes, and q·k over
// distance.

import { strongest } from "../../arrays.js";
import { segmented, slider } from "../../controls.js";
import { exact, h, shown } from "../../dom.js";
import { cellNames } from "../../draw.js";
import { frame } from "../../frame.js";
import { notTurned, turningForms } from "../../parts.js";
import { inWidth, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { wavelength } from "../../rotation.js";
import { adjust, afterQuery, farOf, limitOf, placeOf, turnsPart, whole } from "./place.js";
import { createFar, drawPairs, linkPairs } from "./score-charts.js";
import { arithmetic, runOf, scoreOf } from "./score.js";

const KIND = "rope-score";
const SPANS = ["context", "run"]; // how far the chart over distance reaches

/**
 * What the panel is set to: distances below `limit`, the one between query and key, and how many of them its chart
 * has.
 */
export function spanOf({ state: { trace, query, key }, settings }) {
  const { distance, span } = settings.get("rope");
  const limit = limitOf(trace);
  return {
    limit,
    distance: whole(distance, 0, limit - 1, query - key),
    count: span === SPANS[1] ? Math.max(2, trace.T) : limit,
  };
}

/**
 * The slider of the distance and the reach of the chart over it: one setting for every run.
 *
 * @returns {{ one: HTMLElement; spans: HTMLElement; show: (set: { limit: number; distance: number }) => void }}
 */
export function createScoreControls(glass) {
  const one = slider("gp-slider", `${KIND}.one`, { min: 0, step: 1 }, (value) => adjust(glass, { distance: value }));
  const spans = segmented(SPANS, {
    label: `${KIND}.span`,
    text: (name) => `${KIND}.span_${name}`,
    look: "gp-tab",
    choose: (name) => adjust(glass, { span: name === SPANS[0] ? "" : name }),
  });
  function show({ limit, distance }) {
    one.show(distance, String(distance), { max: limit - 1 });
    spans.mark(glass.settings.get("rope").span === SPANS[1] ? SPANS[1] : SPANS[0]);
  }
  return { one: one.element, spans: spans.element, show };
}

export const about = {
  tensors: ["q", "k", "q_rot", "k_rot", "scores"],
  difference: "position",
  unused: "head",
  absent: notTurned("score"),
  forms: turningForms,
};

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function ropeScore(element, glass) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart` });
  const view = { found: null, place: null };
  const csv = () => {
    if (!view.found) return [];
    const { inv_freq } = view.place.frequencies;
    const rows = Array.from(view.found.here, (term, i) => [
      i,
      inv_freq[i],
      wavelength(inv_freq[i]),
      term,
      view.found.moved[i],
    ]);
    return [["pair", "inv_freq", "wavelength", "term", "term_moved"], ...rows];
  };
  const panel = frame(element, glass, KIND, { csv, parts: ["what", "formula", "myth"] });
  const both = slider("gp-slider", `${KIND}.both`, { min: 0, step: 1 }, (value) => adjust(glass, { both: value }));
  const { one, spans, show } = createScoreControls(glass);
  const reset = h("button.gp-tab", {
    "data-text": `${KIND}.reset`,
    click: () => adjust(glass, { both: 0, distance: "" }),
  });
  const [formula, subtitle, note] = [
    h("div.gp-formula", { "data-part": "formula" }),
    h("h3.gp-subtitle"),
    h("p.gp-note"),
  ];
  const sliders = h("div.position-sliders", { "data-part": "sliders" }, both.element, one, reset);
  const wide = widthOf(panel.body, glass);
  const far = createFar(glass, `${KIND}.far_chart`, wide, (distance) => adjust(glass, { distance }));
  panel.body.append(
    sliders,
    formula,
    h("p.gp-note", { "data-text": `${KIND}.bars_note` }),
    canvas,
    subtitle,
    spans,
    note,
    far.canvas,
  );
  linkPairs(canvas, glass, wide);

  function tell({ m, n, kv, rest, model }, pair, frequency) {
    const { found } = view;
    const { layer, head } = state;
    const name = `layer ${layer} head ${head} kv ${kv} query ${m} key ${n} pair ${pair}`;
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
    const [best] = strongest(found.here, 1);
    const same = found.query - found.key === m - n;
    const values = Object.entries(numbers)
      .map(([key, value]) => `${key}=${exact(value, 6)}`)
      .join(" ");
    const moved = `moved=(${found.query}, ${found.key})`;
    panel.tell(
      `${name} ${values} ${moved} deviation=${exact(found.deviation)} precise=${exact(found.precise)}`,
      panel.text(!same ? "read_moved" : pair === best ? "read_most" : "read", {
        pair,
        best,
        best_term: shown(found.moved[best], 5),
        m: found.query,
        n: found.key,
        term: shown(found.moved[pair], 5),
        sum: shown(found.sumMoved + rest, 5),
        run_term: shown(found.here[pair], 5),
        run_sum: shown(found.sumHere + rest, 5),
        wavelength: shown(wavelength(frequency), 4),
      }),
    );
  }

  /** q·k over distance, which is the same for every pair. */
  const drawDistances = memo((held, distance, count, width) => {
    const { trace, layer, head, query, key } = state;
    const place = placeOf(held, state);
    const run = runOf(held, head, trace.model);
    subtitle.textContent = panel.text("far_title", { layer, head, kv: place.kv });
    const { query: q, key: k } = cellNames(state);
    const sampled = run.every > 1 ? panel.text("sampled", { every: run.every }) : "";
    const after = afterQuery(state, view.found.sumHere + place.rest, glass.text);
    note.textContent = [panel.text("far_note", { query: q, key: k }), sampled, after].filter(Boolean).join(" ");
    const curve = farOf(place, place.frequencies, count);
    far.draw(width, { curve, run, real: query - key, distance, text: panel.text });
  });
  return inWidth(element, wide, function draw(width) {
    const { trace, pair } = state;
    const held = glass.layer();
    if (!held) return;
    const place = placeOf(held, state);
    const set = spanOf(glass);
    const { limit, count } = set;
    const shift = whole(glass.settings.get("rope").both, 0, limit - 1, 0);
    const distance = far.pointed() ?? set.distance;
    Object.assign(view, { place, found: scoreOf(place, shift, distance) });
    both.show(shift, `+${shift}`, { max: limit - 1 });
    show({ limit, distance });
    panel.title.textContent = panel.text("title", cellNames(state));
    const { inv_freq } = place.frequencies;
    drawPairs(canvas, width, view.found, {
      inv_freq,
      tokens: trace.T,
      context: trace.model.max_context,
      pair,
      text: panel.text,
    });
    formula.replaceChildren(...arithmetic(view.found, place, pair, inv_freq[pair], panel.text));
    drawDistances(held, distance, count, width);
    tell(place, pair, inv_freq[pair]);
  });
}
