// What was answered about the last runs, for one that comes and is the same: after a change is taken back nothing of
// it is measured again.

import { sameChanges } from "./off.js";

/**
 * @typedef {import("./decode.js").Trace} Trace
 *
 * @typedef {{ details: [string, any][]; layers: [number, import("./decode.js").Layer][] }} Known
 *
 * @typedef {{ trace: Pick<Trace, "prompt" | "changes">; made: string; known: Known }} Remembered
 */

const RUNS = 3;
const BYTES = 16e6; // of numbers, of each run

/**
 * What makes a run beside its prompt and its changes. Of one network the same tokens have the same candidates.
 *
 * @param {Trace} trace
 */
const madeOf = ({ model: { name, device, dtype, int8 }, tokens, nPrompt, encoder, next, steps }) =>
  JSON.stringify([
    [name, device, dtype, int8],
    [tokens.ids, nPrompt, encoder?.tokens.ids, next?.ids],
    steps.map(({ id, own, stop, sampling }) => [id, own, stop, sampling]),
  ]);

/** Whether a run is of its own tokens and changes alone. @param {Trace} trace */
const isWhole = ({ generating, changes, source }) => !generating && !source && !changes.patches?.length;

/**
 * Bytes of the numbers in a value, however deep.
 *
 * @param {unknown} value
 * @returns {number}
 */
function bytesOf(value) {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (value === null || typeof value !== "object") return 8;
  const parts = value instanceof Map ? [...value.values()] : Object.values(value);
  return parts.reduce((sum, part) => sum + bytesOf(part), 8);
}

/**
 * The answers that hold for another run of the same: none that is not to be had, that names a run, or that is a
 * part of what has not come to its end, as the server goes on from its own.
 *
 * @param {Trace["details"]} details
 * @returns {[string, any][]}
 */
function lasting(details) {
  const all = [...details].map(([key, answer]) => {
    const at = key.indexOf(" ");
    const { start, ...asked } = JSON.parse(key.slice(at));
    return { key, answer, start, asked, series: `${key.slice(0, at)} ${JSON.stringify(asked)}` };
  });
  const ended = new Set(all.filter(({ answer }) => answer?.total <= answer?.done).map(({ series }) => series));
  return all
    .filter(({ answer, asked }) => answer && typeof asked.other !== "string")
    .filter(({ start, series }) => start === undefined || ended.has(series))
    .map(({ key, answer }) => [key, answer]);
}

/**
 * What is remembered of a run: the smallest first, as much as there is room for.
 *
 * @param {Trace} trace
 * @returns {Known}
 */
function knownOf({ details, layers }) {
  /** @type {Known} */
  const known = { details: [], layers: [] };
  const all = [
    ...lasting(details).map((one) => ({ keep: () => known.details.push(one), bytes: bytesOf(one) })),
    ...[...layers].map((one) => ({ keep: () => known.layers.push(one), bytes: bytesOf(one[1]) })),
  ];
  let room = BYTES;
  for (const { keep, bytes } of all.sort((a, b) => a.bytes - b.bytes)) if ((room -= bytes) >= 0) keep();
  return known;
}

export function createAnswered() {
  /** @type {Remembered[]} the last one last */
  let remembered = [];
  /** @type {(trace: Trace, made: string) => (one: Remembered) => boolean} */
  const isOf = (trace, made) => (one) =>
    one.made === made && one.trace.prompt === trace.prompt && sameChanges(one.trace, trace);
  return {
    /** @param {Trace} trace a run that may be followed by another */
    remember(trace) {
      if (!isWhole(trace)) return;
      const [{ prompt, changes }, made] = [trace, madeOf(trace)];
      const isSame = isOf(trace, made);
      const others = remembered.filter((one) => !isSame(one));
      remembered = [...others, { trace: { prompt, changes }, made, known: knownOf(trace) }].slice(-RUNS);
    },
    /** Gives a run that has come what is known of it. @param {Trace} trace */
    tell(trace) {
      const found = isWhole(trace) && remembered.find(isOf(trace, madeOf(trace)));
      if (!found) return;
      for (const [key, answer] of found.known.details) trace.details.set(key, answer);
      for (const [layer, held] of found.known.layers) {
        const own = trace.layers.get(layer); // which came with the run, with neurons of one token
        if (!own || own.neurons.size < held.neurons.size) trace.layers.set(layer, held);
      }
    },
  };
}
