// What is switched off in a run, as app/comparing.py reads it: asked by place, named in words, and drawn as unused.

import { h } from "./dom.js";
import { ink, inside, stepsTo, strokeLines, write } from "./draw.js";
import { changeName, listed } from "./run-changes.js";
import { neuronIn } from "./neuron-names.js";
import { oneLine } from "./one-line.js";

/**
 * @typedef {import("./messages.d.ts").Changes} Changes
 *
 * @typedef {import("./decode.js").Trace} Trace
 *
 * @typedef {{ changes?: Changes }} Changed a run, or what of it says what was changed
 *
 * @typedef {Pick<Trace, "changes" | "model">} Run
 *
 * @typedef {import("./types.d.ts").Texts["text"]} Say
 *
 * @typedef {import("./frame.js").About["unused"]} Use what a panel shows
 *
 * @typedef {Pick<import("./selection.js").Selection, "layer" | "head" | "neuron">} Place
 */

const NAMED = 6; // changes that are named one by one

/**
 * Whether anything was changed in a run.
 *
 * @param {Changed} trace
 */
export const isChanged = ({ changes }) => listed(changes ?? {}).length > 0;

/**
 * Whether the same is changed in two runs.
 *
 * @param {Changed} a
 * @param {Changed} b
 */
export const sameChanges = (a, b) => {
  const [one, other] = [a, b].map(({ changes }) => JSON.stringify(listed(changes ?? {})));
  return one === other;
};

/**
 * What of a run's changes holds for another text: all but the stream that was taken over from another run, which is
 * of that run's words.
 *
 * @param {Changes} changes
 * @returns {Changes}
 */
export const forAnotherText = ({ patches: _patches, source: _source, ...rest }) => rest;

/**
 * Whether a head writes nothing: it is off itself, or all attention of its layer is.
 *
 * @param {Changed} trace
 * @param {number} layer
 * @param {number} head
 */
export const headOff = ({ changes }, layer, head) =>
  Boolean(changes?.attention?.includes(layer) || changes?.heads?.some(([l, one]) => l === layer && one === head));

/**
 * Whether a head that looks at a source writes nothing.
 *
 * @param {Changed} trace
 * @param {number} layer
 * @param {number} head
 */
export const crossOff = ({ changes }, layer, head) =>
  Boolean(changes?.cross?.some(([l, one]) => l === layer && one === head));

/**
 * The neurons of a layer that write nothing; null where all of them do not.
 *
 * @param {Changed} trace
 * @param {number} layer
 * @returns {number[] | null}
 */
export const neuronsOff = ({ changes }, layer) =>
  changes?.ffn?.includes(layer)
    ? null
    : (changes?.neurons ?? []).filter(([l]) => l === layer).map(([, neuron]) => neuron);

/**
 * Whether a neuron writes nothing: it is off itself, or its layer's FFN is.
 *
 * @param {Changed} trace
 * @param {number} layer
 * @param {number} neuron
 */
export const neuronOff = (trace, layer, neuron) => neuronsOff(trace, layer)?.includes(neuron) ?? true;

/**
 * The layers whose whole FFN is off.
 *
 * @param {Changed} trace
 * @returns {number[]}
 */
export const ffnsOff = ({ changes }) => changes?.ffn ?? [];

/**
 * Every change of a run in words; "" where there is none.
 *
 * @param {Run} trace
 * @param {Say} text
 */
export function changesOf({ changes, model }, text) {
  const all = listed(changes ?? {});
  const named = all.slice(0, NAMED).map((change) => changeName("is", change, model, text));
  return [...named, ...(all.length > NAMED ? [text("off.more", { count: all.length - NAMED })] : [])].join(" · ");
}

/**
 * What takes all changes of a run back, as the end of a text's name: switching on, another mask, or more than one
 * of these.
 *
 * @param {Changed} trace
 */
export function takenBack({ changes }) {
  const kinds = new Set(listed(changes ?? {}).map(({ kind }) => kind));
  const other = kinds.has("prefix") || kinds.has("parts");
  if (kinds.has("patches") || (other && kinds.size > 1)) return "all";
  return kinds.has("prefix") ? "mask" : kinds.has("parts") ? "parts" : "on";
}

/**
 * What being off, and being taken over, means, as far as one of the runs has it.
 *
 * @param {Changed[]} traces
 * @param {Say} text
 */
function meanings(traces, text) {
  const kinds = new Set(traces.flatMap(({ changes }) => listed(changes ?? {}).map(({ kind }) => kind)));
  const [patched, prefixed] = [kinds.delete("patches"), kinds.delete("prefix")];
  const exchanged = kinds.delete("parts");
  return [
    ...(exchanged ? [text("off.means_parts")] : []),
    ...(prefixed ? [text("off.means_prefix")] : []),
    ...(kinds.size ? [text("off.means_off")] : []),
    ...(patched ? [text("off.means_patch")] : []),
  ];
}

/**
 * What is changed in the one run that is shown, or in the two that are subtracted, and what that means; "" where
 * nothing is.
 *
 * @param {{ A?: Run; B: Run }} runs
 * @param {Say} text
 * @param {ReturnType<typeof unused>} [place] what the selected place has that nothing uses: it says what off means
 */
export function changedText({ A, B }, text, place = null) {
  const runs = A ? [A, B] : [B];
  if (!runs.some(isChanged)) return "";
  const named = (/** @type {Run} */ trace) => changesOf(trace, text) || text("off.unchanged");
  const what = A ? text("off.both", { a: named(A), b: named(B) }) : text("off.one", { changes: named(B) });
  return oneLine([what, ...(place ? [text(...place)] : meanings(runs, text))]);
}

/**
 * The same of one run in few words, where it is said whole elsewhere: how many changes there are, or the one.
 *
 * @param {Run} trace
 * @param {Say} text
 */
export function changedBriefly(trace, text) {
  const count = listed(trace.changes ?? {}).length;
  return count > 1 ? text("off.count", { count }) : text("off.one", { changes: changesOf(trace, text) });
}

/**
 * What of a run is computed at the selected place but not used: a text's name and its numbers, or null.
 *
 * @param {Run} trace
 * @param {Use} use
 * @param {Place} place
 * @param {Say} text
 * @returns {[key: string, params: Record<string, unknown>] | null}
 */
export function unused(trace, use, { layer, head, neuron }, text) {
  if (use?.startsWith("head"))
    return headOff(trace, layer, head)
      ? [use === "head" ? "off.head_unused" : "off.head_brief", { layer, head }]
      : null;
  if (use === "cross") return crossOff(trace, layer, head) ? ["off.cross_unused", { layer, head }] : null;
  if (!use) return null;
  const neurons = neuronsOff(trace, layer);
  if (neurons === null) return ["off.ffn_unused", { layer }];
  return neuron !== null && neurons.includes(neuron)
    ? ["off.neuron_unused", { layer, neuron: neuronIn(trace.model, layer, neuron, text) }]
    : null;
}

/**
 * In the place of a difference where the numbers of both runs are the same: what differs nevertheless.
 *
 * @param {{ A: Run; B: Run }} runs
 * @param {Use} use
 * @param {Place} selection
 * @param {Say} text
 */
export function sameText({ A, B }, use, selection, text) {
  const [a, b] = [A, B].map((trace) => unused(trace, use, selection, text));
  if (Boolean(a) !== Boolean(b))
    return text("off.same_unused", { run: a ? "A" : "B", what: changesOf(a ? A : B, text) });
  const apart = changesOf(A, text) !== changesOf(B, text);
  return apart
    ? text("off.same_elsewhere", {
        a: changesOf(A, text) || text("off.unchanged"),
        b: changesOf(B, text) || text("off.unchanged"),
      })
    : text("b_minus_a.same");
}

/**
 * Draws a place over as unused: greyed, and crossed by lines that lean against those of the mask, with a word where
 * there is room.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
export function drawOff(context, x, y, width, height, word = "") {
  const { colour } = ink();
  inside(context, x, y, width, height, () => {
    context.globalAlpha = 0.72;
    context.fillStyle = colour("raised");
    context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
    /** @type {(d: number) => [number, number, number, number][]} */
    const crossed = (d) => [
      [x + d, y, x + d - height, y + height],
      [x + width - d, y, x + width - d + height, y + height],
    ];
    strokeLines(context, colour("muted"), stepsTo(width + height, 9).flatMap(crossed));
  });
  if (!word || width < 60 || height < 24) return;
  context.fillStyle = colour("card");
  context.fillRect(x + width / 2 - Math.min(width / 2, 52), y + height / 2 - 12, Math.min(width, 104), 24);
  write(context, word, x + width / 2, y + height / 2 + 5, { align: "center", weight: 600, most: Math.min(width, 100) });
}

/**
 * Names a table's row; where nothing uses its numbers it says so beside the name, and is drawn as off.
 *
 * @param {HTMLElement} line
 * @param {HTMLElement} cell
 * @param {string} name
 * @param {boolean} off
 * @param {Say} text
 */
export function nameRow(line, cell, name, off, text) {
  line.classList.toggle("is-off", off);
  cell.replaceChildren(name, ...(off ? [" ", h("span.gp-off", null, text("off.word"))] : []));
}
