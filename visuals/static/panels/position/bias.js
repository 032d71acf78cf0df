// A bias by distance in place of a rotation: a curve for each head, and the score of the chosen query and key with it.
// Where the numbers are learned, one for each bucket of distances, the buckets stand over the chart.

import { biasAt, bucketAt, keysSeen, kvHead, slopeOf } from "../../compute.js";
import { exact, h, line, sample, shown, strong } from "../../dom.js";
import { fit, ink, textWidth, write } from "../../draw.js";
import { across, bindPointer, bindArrowKeys } from "../../pointing.js";
import { axes, chartIn, dot, path, roomy, rule, wholeTicks, xAt, xOf, yOf } from "../../plot.js";
import { cellOf } from "../../readings/cell.js";
import { scoreLine } from "../attend/formulas.js";
import { spokenOf } from "./place.js";

const [HIGH, LEFT, RIGHT, TOP, BELOW] = [320, 62, 84, 30, 46];
const BUCKETS = 20; // px for their numbers, over the chart
const NEAR = 14; // pixels within which a curve is taken for the one that is pointed at

/**
 * The distances that scores can have, the least first: negative ones are of keys after the query.
 *
 * @returns {number[]}
 */
function distancesOf({ parts: { bias, bias_after: after } }) {
  const tokens = bias.shape[1];
  const first = after ? 1 - tokens : 0;
  return Array.from({ length: tokens - first }, (_, i) => first + i);
}

/**
 * A head's bias at every distance of the run.
 *
 * @returns {[number, number][]} distance and bias; of learned ones a step for each bucket
 */
function curveOf(model, head) {
  const steps = model.parts.buckets ? [-0.5, 0.5] : [0];
  /** @returns {[number, number]} */
  const point = (distance, by) => [distance + by, biasAt(model, head, distance)];
  return distancesOf(model).flatMap((distance) => steps.map((by) => point(distance, by)));
}

/**
 * @returns {{ bucket: number; from: number; to: number }[]} the buckets by the distances that share one, the least
 *   first
 */
function bucketRuns(model) {
  const found = [];
  for (const distance of distancesOf(model)) {
    const bucket = bucketAt(model, distance);
    if (found.at(-1)?.bucket === bucket) found.at(-1).to = distance;
    else found.push({ bucket, from: distance, to: distance });
  }
  return found;
}

function chartOf(width, model) {
  const { bias, bias_after: after, buckets } = model.parts;
  const values = [...bias.data, ...(after?.data ?? [])];
  const [low, high] = [values.reduce((a, b) => Math.min(a, b), 0), values.reduce((a, b) => Math.max(a, b), 0)];
  const distances = distancesOf(model);
  const x = buckets
    ? { low: distances[0] - 0.5, high: Math.max(1, distances.at(-1)) + 0.5 }
    : { low: 0, high: Math.max(1, distances.at(-1)) };
  return chartIn([width, HIGH], [LEFT, RIGHT, TOP + (buckets ? BUCKETS : 0), BELOW], x, roomy(low, high, 0.05));
}

/** What the chosen head, query and key have: q·k, the bias at their distance, and the score. */
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

/** Where one bucket ends and the next begins, with the number of each that has room for it. */
function drawBuckets(context, chart, model, chosen) {
  const { colour } = ink();
  for (const { bucket, from, to } of bucketRuns(model)) {
    const [left, right] = [xOf(chart, from - 0.5), xOf(chart, to + 0.5)];
    if (from > chart.x.low + 0.5) rule(context, chart, { x: from - 0.5, colour: colour("grid") });
    if (bucket === chosen) {
      context.fillStyle = colour("raised");
      context.fillRect(left, chart.top - BUCKETS, right - left, BUCKETS);
    }
    if (textWidth(context, String(bucket)) > right - left) continue;
    write(context, String(bucket), (left + right) / 2, chart.top - 6, {
      align: "center",
      weight: bucket === chosen ? 700 : 400,
      colour: colour(bucket === chosen ? "accent" : "muted"),
    });
  }
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {Function} text
 * @returns {{ element: HTMLElement; draw: Function; lead: Function; tell: Function; table: Function }}
 */
export function createBias(glass, text) {
  const { state } = glass;
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
  bindPointer(canvas, glass, (x, y) => {
    const {
      trace: { model, T },
      query,
    } = state;
    const chart = chartOf(wide, model);
    const distance = Math.round(xAt(chart, x));
    const key = query - distance;
    if (key < 0 || key >= keysSeen(model, query, T)) return null;
    const away = (head) => Math.abs(yOf(chart, biasAt(model, head, distance)) - y);
    const [nearest] = Array.from({ length: model.n_heads }, (_, head) => head).sort((a, b) => away(a) - away(b));
    return { key, ...(away(nearest) < NEAR ? { head: nearest } : {}) };
  });
  bindArrowKeys(canvas, glass, across("key"));

  function draw(held, width) {
    wide = width;
    const {
      trace: { model, T },
      head,
      query,
    } = state;
    const found = biasOf(held, state);
    const context = fit(canvas, width, HIGH);
    const { colour } = ink();
    const chart = chartOf(width, model);
    const own = curveOf(model, head);
    axes(context, chart, {
      xTicks: wholeTicks(chart),
      xName: text("distance_axis"),
      ...(found.bucket === null && { yName: text("bias_axis") }),
    });
    if (found.bucket !== null) {
      write(context, text("bucket_axis"), 0, 16, { colour: colour("muted"), most: width });
      drawBuckets(context, chart, model, found.bucket);
    }
    rule(context, chart, { y: 0, colour: colour("muted") });
    for (let other = 0; other < model.n_heads; other++) {
      if (other !== head) path(context, chart, curveOf(model, other), { colour: colour("muted"), width: 1.2 });
    }
    // Farther keys there are not for this query, on either side.
    for (const x of [query, ...(model.parts.bias_after ? [query - T + 1] : [])])
      rule(context, chart, { x, colour: colour("line"), dash: [4, 3] });
    path(context, chart, own, { colour: colour("accent"), width: 3 });
    dot(context, chart, found.distance, found.bias, colour("accent"), 6);
    write(context, text("head", { head }), xOf(chart, chart.x.high) + 8, yOf(chart, own.at(-1)[1]), {
      base: "middle",
      weight: 600,
      colour: colour("accent"),
      most: RIGHT - 10,
    });
    return found;
  }
  /**
   * The bias of the chosen head at this distance, by its rule.
   *
   * @returns {HTMLElement[]}
   */
  function rules({ distance, slope, bucket, bias }, { head, query, key }) {
    if (bucket !== null)
      return [
        line`${text("bucket_of", { query, key, distance: String(distance).replace("-", "−"), bucket })}`,
        line`${text("bucket_term", { bucket })} = ${strong(bias)}`,
      ];
    if (slope === null) return [line`b[${String(distance)}] = ${strong(bias)}`];
    const [by, apart] = [`−${shown(slope, 5)}`, `(${String(query)} − ${String(key)})`];
    return [
      line`${text("slope", { head })} = ${strong(slope)}`,
      line`b = ${text("slope_times")} = ${by} · ${apart} = ${by} · ${String(distance)} = ${strong(bias)}`,
    ];
  }
  /** What data-value holds, and the line under the title. */
  function tell(found) {
    const { dot: product, distance, slope, bucket, bias, score } = found;
    const {
      trace: { model },
      layer,
      head,
      query,
      key,
    } = state;
    formula.replaceChildren(
      ...rules(found, state),
      scoreLine(model, { dot: product, score, head, query, key }, text),
      line`${text("without_bias")} ${shown(score - bias, 5)} → ${text("with_bias")} ${shown(score, 5)}`,
    );
    const by = slope === null ? "" : ` slope=${exact(slope)}`;
    const of = bucket === null ? "" : ` bucket=${bucket}`;
    const place = `layer ${layer} head ${head} query ${query} key ${key} distance ${distance}`;
    return [
      `${place}${by}${of} bias=${exact(bias)} qk=${exact(product)} score=${exact(score)}`,
      text("read_bias", {
        head,
        distance: String(distance).replace("-", "−"),
        bucket,
        bias: shown(bias, 5),
        slope: slope === null ? "" : shown(slope, 5),
      }),
    ];
  }
  /** The chapter's first line: what is added, by what. */
  const lead = ({ distance, bias }) =>
    text("lead", { ...spokenOf(state), apart: Math.abs(distance), bias: shown(bias, 4) });
  /** @returns {(string | number)[][]} every head's bias by distance, with the bucket where there are any */
  function table() {
    const { model } = state.trace;
    const { buckets } = model.parts;
    const heads = Array.from({ length: model.n_heads }, (_, head) => head);
    const rows = distancesOf(model).map((distance) => [
      distance,
      ...(buckets ? [bucketAt(model, distance)] : []),
      ...heads.map((head) => biasAt(model, head, distance)),
    ]);
    return [["distance", ...(buckets ? ["bucket"] : []), ...heads.map((head) => `head_${head}`)], ...rows];
  }
  return { element, draw, lead, tell, table };
}
