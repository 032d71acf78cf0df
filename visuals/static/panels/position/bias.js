// A bias by distance in place of a rotation: the chart of all heads, and the score of the chosen query and key with it.

import { biasAt, bucketAt, hasBias, kvHead, slopeOf } from "../../compute.js";
import { exact, h, line, sample, shown, strong } from "../../dom.js";
import { across, bindPointer, bindArrowKeys } from "../../pointing.js";
import { cellOf } from "../../readings/cell.js";
import { shownIn } from "../../run-for.js";
import { scoreLine } from "../attend/formulas.js";
import { distancesOf, drawBias, selectionAt } from "./bias-chart.js";
import { spokenOf } from "./place.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../types.d.ts").Shown} State
 *
 * @typedef {import("../../decode.js").Layer} Layer
 *
 * @typedef {ReturnType<typeof biasOf>} Found
 */

/**
 * What the chosen head, query and key have: q·k, the bias at their distance, and the score.
 *
 * @param {Layer} layer
 * @param {State} state
 */
function biasOf(layer, state) {
  const {
    trace: { model },
    head,
    query,
    key,
  } = state;
  const distance = query - key;
  return {
    ...cellOf(state, layer),
    kv: kvHead(model, head),
    distance,
    slope: slopeOf(model, head),
    bucket: bucketAt(model, distance),
  };
}

/** A distance with a real minus sign. @param {number} distance */
const written = (distance) => String(distance).replace("-", "−");

/**
 * The bias of the chosen head at this distance, by its rule.
 *
 * @param {Found} found
 * @param {State} state
 * @param {Say} text of the panel
 * @returns {HTMLElement[]}
 */
function rules({ distance, slope, bucket, bias }, { head, query, key }, text) {
  if (bucket !== null)
    return [
      line`${text("bucket_of", { query, key, distance: written(distance), bucket })}`,
      line`${text("bucket_term", { bucket })} = ${strong(bias)}`,
    ];
  if (slope === null) return [line`b[${String(distance)}] = ${strong(bias)}`];
  const [by, apart] = [`−${shown(slope, 5)}`, `(${String(query)} − ${String(key)})`];
  return [
    line`${text("slope", { head })} = ${strong(slope)}`,
    line`b = ${text("slope_times")} = ${by} · ${apart} = ${by} · ${String(distance)} = ${strong(bias)}`,
  ];
}

/**
 * The bias, and the score without and with it.
 *
 * @param {Found} found
 * @param {State} state
 * @param {Say} text of the panel
 * @returns {HTMLElement[]}
 */
function arithmetic(found, state, text) {
  const { dot: product, bias, score } = found;
  const { trace, head, query, key } = state;
  const whole = scoreLine(trace.model, { dot: product, score, head, query, key }, text);
  if (!hasBias(trace.model)) return [whole];
  return [
    ...rules(found, state, text),
    whole,
    line`${text("without_bias")} ${shown(score - bias, 5)} → ${text("with_bias")} ${shown(score, 5)}`,
  ];
}

/**
 * For data-value.
 *
 * @param {Found} found
 * @param {State} state
 */
function plain({ dot: product, distance, slope, bucket, bias, score }, { layer, head, query, key }) {
  const by = slope === null ? "" : ` slope=${exact(slope)}`;
  const of = bucket === null ? "" : ` bucket=${bucket}`;
  const place = `layer ${layer} head ${head} query ${query} key ${key} distance ${distance}`;
  return `${place}${by}${of} bias=${exact(bias)} qk=${exact(product)} score=${exact(score)}`;
}

/**
 * The line under the title.
 *
 * @param {Found} found
 * @param {State} state
 * @param {Say} text
 */
const inWords = ({ distance, slope, bucket, bias }, { head }, text) =>
  text("read_bias", {
    head,
    distance: written(distance),
    bucket,
    bias: shown(bias, 5),
    slope: slope === null ? "" : shown(slope, 5),
  });

/**
 * Every head's bias by distance, with the bucket where there are any.
 *
 * @param {import("../../types.d.ts").Model} model
 * @returns {(string | number)[][]}
 */
function tableOf(model) {
  const { buckets } = model.parts;
  const heads = Array.from({ length: model.n_heads }, (_, head) => head);
  const rows = distancesOf(model).map((distance) => [
    distance,
    ...(buckets ? [bucketAt(model, distance) ?? ""] : []),
    ...heads.map((head) => biasAt(model, head, distance)),
  ]);
  return [["distance", ...(buckets ? ["bucket"] : []), ...heads.map((head) => `head_${head}`)], ...rows];
}

/**
 * @param {Glass} glass
 * @param {Say} text
 */
export function createBias(glass, text) {
  const state = shownIn(glass);
  const canvas = h("canvas.gp-canvas", { "data-text-label": "rope.bias_chart" });
  const formula = h("div.gp-formula", { "data-part": "formula" });
  const samples = h(
    "div.gp-samples",
    null,
    sample("span.gp-stroke.is-k_after", "rope.bias_head", "accent"),
    sample("span.gp-stroke.is-k_after", "rope.bias_others", "muted"),
  );
  const element = h("div", null, samples, canvas, formula, h("p.gp-note", { "data-text": "rope.bias_note" }));
  let wide = 1;
  bindPointer(canvas, glass, (x, y) => selectionAt(state, { x, y, width: wide }));
  bindArrowKeys(canvas, glass, across("key"));

  /**
   * @param {Layer} held
   * @param {number} width
   */
  function draw(held, width) {
    wide = width;
    const found = biasOf(held, state);
    drawBias(canvas, width, state, found, text);
    return found;
  }
  /**
   * What data-value holds, and the line under the title.
   *
   * @param {Found} found
   * @returns {[string, string]}
   */
  function tell(found) {
    formula.replaceChildren(...arithmetic(found, state, text));
    return [plain(found, state), inWords(found, state, text)];
  }
  /** The chapter's first line: what is added, by what. @param {Found} found */
  const lead = ({ distance, bias }) =>
    text("lead", { ...spokenOf(state), apart: Math.abs(distance), bias: shown(bias, 4) });
  return { element, draw, lead, tell, table: () => tableOf(state.trace.model) };
}
