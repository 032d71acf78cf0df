// What the panel on GPUs knows and is set to; the panel on logs puts a log's weights into it.

import { linkedState } from "../../settings.js";

/** @type {Record<string, string>} */
const FIRST = {
  gpu: "H100 80 GB",
  weights: "",
  embeddings: "",
  room: "lines",
  usable_percent: "92", // DEFAULT_SHARE in model/kv_math/vllm_rule.py
  step_tokens: "", // as many as are usual on the GPU
  context_mib: "358",
  fragmentation_mib: "150",
  weight_bytes: "",
  users: "64",
  user_tokens: "8192",
  memory_gb: "80",
  bandwidth_gb_per_s: "2000",
};

/**
 * @typedef {import("../../types.d.ts").Refusal} Refusal
 *
 * @typedef {import("./weight-files.js").Held} Held
 *
 * @typedef {import("./fit-questions.js").Answers & {
 *   gpus: import("../../decoded.d.ts").Calculation<"kv_gpus"> | null;
 *   held: Held | null;
 *   held_of: string;
 *   readings: number;
 *   files: import("../../decoded.d.ts").Calculation<"kv_weights"> | null;
 *   files_trouble: Refusal | null;
 * }} State
 *   null: not here, or nothing is wrong; `held_of`: the model that was asked about when `held` was read, the last of
 *   so many `readings`
 *
 * @typedef {State & { settings: Record<string, string> }} View
 *
 * @typedef {object} FitState
 * @property {View} state
 * @property {(change: Record<string, string>) => void} set
 * @property {(held: Held | null, model?: string) => void} hold takes what files or a log hold of a model; null:
 *   nothing is held any more
 */

/** @type {FitState | null} */
let shared = null;

/**
 * The state that the panels share.
 *
 * @param {Pick<import("../../types.d.ts").Glass, "settings" | "repaint" | "on">} glass
 * @returns {FitState}
 */
export function fitState(glass) {
  shared ??= createFitState(glass);
  return shared;
}

/**
 * @param {Pick<import("../../types.d.ts").Glass, "settings" | "repaint" | "on">} glass
 * @returns {FitState}
 */
function createFitState(glass) {
  /** @type {State} */
  const first = {
    ...{ kv_fit: null, kv_fit_trouble: null, kv_needs: null, kv_needs_trouble: null },
    ...{ gpus: null, held: null, held_of: "", readings: 0, files: null, files_trouble: null },
  };
  const { state, set } = linkedState(glass, "kvfit", FIRST, first);
  /** @type {FitState["hold"]} */
  function hold(held, model = "") {
    const read = { held, held_of: model, readings: state.readings + 1 };
    Object.assign(state, { ...read, files: null, files_trouble: null });
    if (!held || held.total_size) set({ weight_bytes: String(held?.total_size ?? "") });
  }
  return { state, set, hold };
}
