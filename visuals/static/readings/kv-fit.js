// What the panel on GPUs reads off the server's answers: what lies in a GPU's memory, the most that fits, and what
// users need.

import { calledCell, counted, sourceCell } from "./kv-answer.js";

/**
 * @typedef {import("../decoded.d.ts").Calculation<"kv_fit">} Fit
 *
 * @typedef {import("../decoded.d.ts").Calculation<"kv_needs">} Needs
 *
 * @typedef {import("./reading.js").Cell} Cell
 *
 * @typedef {[name: string, bytes: string]} Amount
 */

/** What is taken of a number of bytes. @param {string} all @param {string} part */
const less = (all, part) => String(BigInt(all) - BigInt(part));

/**
 * What lies in the memory of the fullest GPU, and where all of it fits, what is left and what is kept back.
 *
 * @param {Fit} found
 * @returns {Amount[]} without those of no bytes
 */
function piecesOf({ use, beside }) {
  const { gpu, by, share, usable, weights, cache, free, fits } = use;
  /** @type {Amount[]} */
  const pieces = [
    ["weights", weights],
    ["cache", cache],
  ];
  if (by !== "share") pieces.push(["activations", beside.activation_bytes], ["context", beside.context]);
  if (by === "lines") pieces.push(["fragmentation", beside.left]);
  if (by === "vllm") pieces.push(["graphs", use.vllm.graphs]);
  if (fits) {
    if (by === "vllm") pieces.push(["blocks", less(less(less(usable, weights), cache), free)]);
    pieces.push(["room", free]);
    if (by === "lines") pieces.push(["system", less(gpu.memory, share)]);
    else pieces.push(["reserve", less(gpu.memory, by === "vllm" ? share : usable)]);
  }
  return pieces.filter(([, bytes]) => Number(bytes) > 0);
}

/**
 * What the memory that weights and cache may not take is for.
 *
 * @param {Fit} found
 * @returns {Amount[]}
 */
function keptOf({ use, beside: { activation_bytes, context, left } }) {
  /** @type {Amount[]} */
  const lines = [
    ["activations", activation_bytes],
    ["context", context],
  ];
  if (use.by === "vllm") return [...lines, ["graphs", use.vllm.graphs], ["outside", left]];
  if (use.by === "share") return [...lines, left.startsWith("-") ? ["lacking", left.slice(1)] : ["left", left]];
  const system = less(use.gpu.memory, use.share);
  return [...lines, ["fragmentation", left], ...(system === "0" ? [] : [/** @type {Amount} */ (["system", system])])];
}

/**
 * The most that fits; null where that is refused.
 *
 * @param {Fit["batch"] | Fit["context"]} found
 */
const mostOf = (found) => ("refused" in found ? null : found.value);

/**
 * @typedef {[question: string, gpu: string, values: Record<string, Cell | null | undefined>]} Group of numbers that
 *   answer one question about one GPU
 */

/**
 * What one GPU holds.
 *
 * @param {Fit} found
 * @param {Cached | null} cached
 * @returns {Group[]}
 */
function groupsOfFit({ use, batch, context, bound, beside }, cached) {
  const { gpu, stored } = use;
  return [
    ["model", "", { weights: use.weights_in, ...(stored[0] && { remark: stored[0] }) }],
    [
      "fits",
      gpu.name,
      {
        ...(cached && { tokens_each: cached.tokens, sequences: cached.batch, kv_format: cached.dtype }),
        memory_bytes: counted(gpu.memory),
        memory_from: gpu.reported ? `${gpu.reporter}: ${gpu.reported_in}` : "",
        usable_bytes: counted(use.usable),
        weights_bytes: counted(use.weights),
        cache_bytes: counted(use.cache),
        free_bytes: counted(use.free),
        fits: String(use.fits),
        largest_batch: mostOf(batch),
        largest_context: mostOf(context),
        tokens_per_second_at_most: "refused" in bound ? null : bound.each,
      },
    ],
    [
      "beside",
      gpu.name,
      {
        decided_by: use.by,
        tp: use.tp,
        pp: use.pp,
        kept_back_bytes: counted(beside.kept_back),
        activation_bytes: counted(beside.activation_bytes),
        context_bytes: counted(beside.context),
        ...(use.by === "vllm"
          ? { graphs_bytes: counted(use.vllm.graphs), outside_share_bytes: counted(beside.left) }
          : { left_for_fragmentation_bytes: counted(beside.left) }),
      },
    ],
  ];
}

/**
 * The GPUs that users need.
 *
 * @param {Needs} needs
 * @param {Cached | null} cached
 * @returns {Group[]}
 */
const groupsOfNeeds = ({ users, tokens, gpus }, cached) =>
  gpus.map(
    ({
      name,
      memory,
      percent,
      reported,
      reported_in: report,
      reporter,
      source,
      room,
      room_tp,
      alone,
      at_least,
      layout,
    }) => [
      "needed",
      name,
      {
        users,
        tokens_each: tokens,
        ...(cached && { kv_format: cached.dtype }),
        memory_bytes: counted(memory),
        memory_from: reported ? `${reporter}: ${report}` : source,
        percent_usable: percent,
        room_bytes: counted(room),
        room_tp,
        room_alone_bytes: counted(alone),
        gpus_by_bytes: at_least,
        gpus_that_fit: layout?.gpus,
        tp: layout?.tp,
        pp: layout?.pp,
      },
    ],
  );

/**
 * A row a number: what one GPU holds, and the GPUs that users need.
 *
 * @param {Answered} answered
 * @returns {import("./reading.js").AnswerTable}
 */
function answersOf({ fit, needs, card, cached }) {
  /** @type {Group[]} */
  const groups = [
    ...(card ? [/** @type {Group} */ (["model", "", { name: calledCell(card), source: sourceCell(card) }])] : []),
    ...(fit ? groupsOfFit(fit, cached) : []),
    ...(needs ? groupsOfNeeds(needs, cached) : []),
  ];
  const rows = groups.flatMap(([question, gpu, values]) =>
    Object.entries(values).map(([quantity, value]) => ({ question, gpu, quantity, value: value ?? "" })),
  );
  return {
    keys: {
      question: rows.map(({ question }) => question),
      gpu: rows.map(({ gpu }) => gpu),
      quantity: rows.map(({ quantity }) => quantity),
    },
    columns: { value: rows.map(({ value }) => value) },
  };
}

/**
 * @typedef {{ tokens: number; batch: number; dtype: string }} Cached the cache that was asked about: tokens of each
 *   sequence, sequences, and the format of K and V
 *
 * @typedef {object} Answered what was answered; null: not yet
 * @property {Fit | null} fit
 * @property {Needs | null} needs
 * @property {import("./kv-answer.js").Card | null} card of the model
 * @property {Cached | null} cached
 *
 * @typedef {import("./reading.js").AnswerReading & Answered & { pieces: Amount[]; kept: Amount[] }} FitReading
 *   `pieces`: of the fullest GPU's memory; `kept`: what stands there beside weights and cache
 */

/**
 * @param {Answered} answered
 * @returns {FitReading}
 */
export function readFit(answered) {
  const { fit } = answered;
  return {
    ...answered,
    pieces: fit ? piecesOf(fit) : [],
    kept: fit ? keptOf(fit) : [],
    at: fit ? `gpu=${fit.use.gpu.name} fits=${fit.use.fits}` : "",
    values: fit
      ? {
          free: counted(fit.use.free),
          batch: mostOf(fit.batch) ?? "none",
          context: mostOf(fit.context) ?? "none",
        }
      : {},
    whole: ["free", "batch", "context"],
    rows: { answers: () => answersOf(answered) },
  };
}
