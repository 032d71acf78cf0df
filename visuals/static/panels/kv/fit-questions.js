// What is asked about GPUs: what fits on one, and what so many users need; each where something has changed in it.

import { memo } from "../../reads.js";
import { createAsker } from "./asking.js";
import { requestOf } from "./question.js";

/**
 * @typedef {Record<string, string>} Settings
 *
 * @typedef {import("../../types.d.ts").Refusal} Refusal
 *
 * @typedef {object} Answers to what fits on a GPU, and to what users need; null until they come
 * @property {import("../../decoded.d.ts").Calculation<"kv_fit"> | null} kv_fit
 * @property {Refusal | null} kv_fit_trouble
 * @property {import("../../decoded.d.ts").Calculation<"kv_needs"> | null} kv_needs
 * @property {Refusal | null} kv_needs_trouble
 */

/** The setting of a GPU of the reader's own. */
export const OWN_GPU = ":gpu";
/** Settings that only the reverse question depends on. */
const REVERSE = ["users", "user_tokens"];
/** Settings of such a GPU alone. */
const OWN = ["memory_gb", "bandwidth_gb_per_s"];
/** Settings of what stands beside weights and cache: where a share is for these, no count of GPUs depends on them. */
const BESIDE = ["step_tokens", "context_mib"];

/** What may decide what fits: named lines, a share for weights and cache, or vLLM's rule for a share. */
export const ROOMS = ["lines", "share", "vllm"];
/**
 * Whether a share of the memory is set.
 *
 * @param {Settings} settings
 */
export const hasShare = ({ room }) => room === "share" || room === "vllm";

/**
 * The settings of both panels, without what a question does not depend on.
 *
 * @param {Settings} calculator its settings
 * @param {Settings} settings the panel's
 * @param {string[]} skipped
 * @returns {Settings}
 */
function settingsFor(calculator, settings, skipped) {
  const room = ["room", hasShare(settings) ? "fragmentation_mib" : "usable_percent"];
  const left = [...skipped, ...room, ...(settings.gpu === OWN_GPU ? [] : OWN)];
  const kept = Object.entries(settings).filter(([name]) => !left.includes(name));
  return { ...calculator, ...Object.fromEntries(kept), ...(settings.room === "vllm" && { vllm: "on" }) };
}

/**
 * What fits on the GPU, as a request.
 *
 * @param {Settings} calculator its settings
 * @param {Settings} settings the panel's
 */
const fitRequest = (calculator, settings) => requestOf(settingsFor(calculator, settings, REVERSE));

/**
 * What the model's own files hold, as a request: as many settings as the count beside it depends on.
 *
 * @param {Settings} calculator its settings
 * @param {Settings} settings the panel's
 * @param {import("./weight-files.js").Held} held
 */
export function weightsRequest(calculator, settings, { tensors, total_size }) {
  return {
    ...fitRequest(calculator, { ...settings, weight_bytes: "" }),
    tensors,
    ...(total_size !== undefined && { total_size }),
  };
}

/**
 * What users need, as a request: of their tokens, whatever the calculator's own are.
 *
 * @param {Settings} calculator its settings
 * @param {Settings} settings the panel's
 */
function needsRequest(calculator, settings) {
  const { tokens, batch, tp, pp, dcp, ...kept } = settingsFor(
    calculator,
    settings,
    settings.room === "share" ? BESIDE : [],
  );
  return requestOf(kept);
}

/**
 * Asks both questions where something has changed in them.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {Answers & { settings: Settings }} view the panel's state, which takes the answers
 * @param {import("./question.js").Asked} asked the calculator's question
 */
export function createQuestions(glass, view, asked) {
  /**
   * Where a question is refused, the last good answer stays, unless the model has none.
   *
   * @template Answer
   * @param {Answer} before
   * @param {Refusal | null} message
   */
  const kept = (before, message) => (message?.code === "unstated" ? null : before);
  const askFit = createAsker(glass, "kv_fit", ({ data, message = null }) => {
    Object.assign(view, { kv_fit: data ?? kept(view.kv_fit, message), kv_fit_trouble: message });
  });
  const askNeeds = createAsker(glass, "kv_needs", ({ data, message = null }) => {
    Object.assign(view, { kv_needs: data ?? kept(view.kv_needs, message), kv_needs_trouble: message });
  });
  const fit = memo((/** @type {string} */ request) => askFit.ask(JSON.parse(request)));
  const needs = memo((/** @type {string} */ request) => askNeeds.ask(JSON.parse(request)));
  /** @type {ReturnType<typeof fitRequest> | null} */
  let fitting = null;
  const near = memo((/** @type {NonNullable<typeof asked.sliding>} */ { along, values }) => {
    if (fitting) askFit.near(fitting, along, values);
  });

  function ask() {
    if (!asked.answered) return;
    fitting = fitRequest(asked.answered, view.settings);
    if (asked.sliding) near(asked.sliding);
    fit(JSON.stringify(fitting));
    needs(JSON.stringify(needsRequest(asked.answered, view.settings)));
  }
  /**
   * A hand comes near a slider of what users need.
   *
   * @param {string} along
   * @param {number[]} values
   */
  function nearNeeds(along, values) {
    if (asked.answered) askNeeds.near(needsRequest(asked.answered, view.settings), along, values);
  }
  return { ask, nearNeeds };
}
