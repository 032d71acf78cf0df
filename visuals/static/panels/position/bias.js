// A bias by distance in place of a rotation: the chart of all heads, and the score of the chosen query and key with it.

import { hasBias } from "../../compute.js";
import { h, line, sample, shown, strong } from "../../dom.js";
import { across, bindPointer, bindArrowKeys } from "../../pointing.js";
import { shownIn } from "../../run-for.js";
import { html } from "../../vendor/lit-html.js";
import { cellWritten, scoreLine } from "../attend/formulas.js";
import { drawBias, selectionAt } from "./bias-chart.js";
import { spokenOf } from "./place.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/distance-bias.js").BiasReading} BiasReading
 */

/** A distance with a real minus sign. @param {number} distance */
const written = (distance) => String(distance).replace("-", "−");

/**
 * The bias of the chosen head at this distance, by its rule.
 *
 * @param {BiasReading} reading
 * @param {import("../attend/formulas.js").Said} said
 * @param {Say} text of the panel
 * @returns {HTMLElement[]}
 */
function rules({ distance, slope, bucket, selection: { head, query, key } }, { bias, slope: by }, text) {
  if (bucket !== null)
    return [
      line`${text("bucket_of", { query, key, distance: written(distance), bucket })}`,
      line`${text("bucket_term", { bucket })} = ${strong(bias)}`,
    ];
  if (slope === null) return [line`b[${String(distance)}] = ${strong(bias)}`];
  const apart = `(${String(query)} − ${String(key)})`;
  return [
    line`${text("slope", { head })} = ${strong(by)}`,
    line`b = ${text("slope_times")} = −${by} · ${apart} = −${by} · ${String(distance)} = ${strong(bias)}`,
  ];
}

/**
 * The bias, and the score without and with it.
 *
 * @param {BiasReading} reading
 * @param {import("../../types.d.ts").Model} model
 * @param {Say} text of the panel
 * @returns {HTMLElement[]}
 */
function arithmetic(reading, model, text) {
  const { values, selection } = reading;
  const cell = { ...selection, dot: values.qk, score: values.score };
  const said = cellWritten(model, cell);
  const whole = scoreLine(model, cell, said, text);
  if (!hasBias(model)) return [whole];
  return [
    ...rules(reading, said, text),
    whole,
    line`${text("without_bias")} ${said.scaled} → ${text("with_bias")} ${said.score}`,
  ];
}

/**
 * What rope.js shows of such a network.
 *
 * @param {Glass} glass
 * @param {Say} text
 */
export function createBias(glass, text) {
  const state = shownIn(glass);
  const canvas = h("canvas.gp-canvas", { "data-text-label": "rope.bias_chart" });
  const samples = h(
    "div.gp-samples",
    null,
    sample("span.gp-stroke.is-k_after", "rope.bias_head", "accent"),
    sample("span.gp-stroke.is-k_after", "rope.bias_others", "muted"),
  );
  let wide = 1;
  bindPointer(canvas, glass, (x, y) => selectionAt(state, { x, y, width: wide }));
  bindArrowKeys(canvas, glass, across("key"));

  return {
    /**
     * @param {BiasReading} reading
     * @param {number} width
     */
    draw(reading, width) {
      wide = width;
      drawBias(canvas, width, state, reading, text);
    },
    /** @param {BiasReading | null} reading null where another is shown */
    view: (reading) => html`
      <div ?hidden=${!reading}>
        ${samples} ${canvas}
        <div class="gp-formula" data-part="formula">${reading && arithmetic(reading, state.trace.model, text)}</div>
        <p class="gp-note" .textContent=${reading ? text("bias_note") : ""}></p>
      </div>
    `,
    /** The chapter's first line: what is added, by what. @param {BiasReading} reading */
    lead: ({ distance, values: { bias } }) =>
      text("lead", { ...spokenOf(state), apart: Math.abs(distance), bias: shown(bias, 4) }),
    /** The line under the title. @param {BiasReading} reading */
    words: ({ distance, slope, bucket, values: { bias }, selection: { head } }) =>
      text("read_bias", {
        head,
        distance: written(distance),
        bucket,
        bias: shown(bias, 5),
        slope: slope === null ? "" : shown(slope, 5),
      }),
  };
}
