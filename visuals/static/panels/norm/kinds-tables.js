// The tables of norm-kinds: what each norm subtracts, divides by and gives; how long two of them take; who has which.

import { count, h, shown } from "../../dom.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { figuresOf } from "../../readings/norm-kinds.js";

/**
 * @typedef {import("../../readings/norm-kinds.js").KindsReading} KindsReading
 *
 * @typedef {import("../../frame.js").Panel["text"]} Text
 *
 * @typedef {import("../../decoded.d.ts").Detail<"norm_times">} Times
 */

const KIND = "norm-kinds";
const USES = ["batch", "layer", "rms", "deep"];
const TIMED = /** @type {const} */ (["layer", "rms"]);

/** What each norm subtracts and divides by, and gives. */
export function createFigures() {
  const table = createTable(
    KIND,
    [
      ["head_norm", "th.gp-token.norm-name"],
      ["over", "td.norm-words"],
      ["subtracted", "td.gp-number"],
      ["divisor", "td.gp-number"],
      ["given", "td.gp-number"],
      ["largest", "td.gp-number"],
    ],
    { rows: 4 },
  );
  /** @type {(reading: KindsReading, text: Text, T: number) => void} */
  function fill({ kinds, selection: { channel, alone } }, text, T) {
    const over = { tokens: alone ? 1 : T, d: kinds.x.length, channel: channel ?? 0 };
    table.fill(figuresOf(kinds, channel ?? 0), (fields, { kind, subtracted, divisor, given, largest }) =>
      writeTexts(fields, [
        text(`kind_${kind}`),
        text(kind === "batch" ? "over_tokens" : "over_channels", over),
        kind === "rms" ? "–" : shown(subtracted, 4),
        ...[divisor, given, largest].map((value) => shown(value, 4)),
      ]),
    );
  }
  return { box: listed(".norm-channels.norm-figures", `${KIND}.figures`, table), fill };
}

/** Microseconds to three digits, and all digits of a thousand and more. @param {number} value */
const time = (value) => (value < 1000 ? shown(value, 3) : count(Math.round(value)));

/** How long LayerNorm and RMSNorm take. */
export function createTimes() {
  const table = createTable(
    KIND,
    [
      ["head_norm", "th.gp-token.norm-name"],
      ["fused", "td.gp-number"],
      ["written", "td.gp-number"],
      ["bytes", "td.gp-number"],
    ],
    { rows: TIMED.length },
  );
  /** @type {(timed: { median: number; low: number; high: number }) => string} */
  const told = ({ median, low, high }) => `${time(median)} µs (${time(low)}\u2060–\u2060${time(high)})`;
  /** @type {(times: Times, text: Text) => void} */
  const fill = (times, text) =>
    table.fill(TIMED, (fields, kind) =>
      writeTexts(fields, [
        text(`kind_${kind}`),
        told(times[`${kind}_fused`]),
        told(times[`${kind}_written`]),
        count(times[`bytes_${kind}`]),
      ]),
    );
  return { box: listed(".norm-channels.norm-times", `${KIND}.times`, table), fill };
}

/** Who has each norm and why, with sources. */
export function usesTable() {
  const columns = ["norm", "used_by", "why"];
  const head = columns.map((name) => h("th.is-left", { scope: "col", "data-text": `${KIND}.head_${name}` }));
  const rows = USES.map((kind) =>
    h(
      "tr",
      null,
      h("th.gp-token.norm-name", { scope: "row", "data-text": `${KIND}.kind_${kind}` }),
      ...columns
        .slice(1)
        .map((name) =>
          h("td.norm-words", { "data-text": `${KIND}.${name}_${kind}`, "data-text-head": `${KIND}.head_${name}` }),
        ),
    ),
  );
  const table = h(
    "table.gp-table.gp-stacked",
    null,
    h("thead", null, h("tr", null, ...head)),
    h("tbody", null, ...rows),
  );
  return listed(".norm-channels", `${KIND}.uses`, { element: table });
}
