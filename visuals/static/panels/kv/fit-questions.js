// What is asked about GPUs: what fits on one, and what so many users need; each where something has changed in it.

import { memo } from "../../reads.js";
import { createAsker } from "./asking.js";
import { requestOf } from "./question.js";

/** @typedef {"kv_fit" | "kv_needs"} Question what fits on a GPU, and what users need */

/** The setting of a GPU of the reader's own. */
export const OWN_GPU = ":gpu";
/** Settings that only the reverse question depends on. */
const REVERSE = ["users", "user_tokens"];
/** Settings of such a GPU alone. */
const OWN = ["memory_gb", "bandwidth_gb_per_s"];
/** Settings of what stands beside weights and cache: where a share decides, no count of GPUs depends on them. */
const BESIDE = ["step_tokens", "context_mib"];

/**
 * Whether a share of the memory decides what fits, as vLLM has it, and not named lines.
 *
 * @param {Object<string, string>} settings
 */
export const byShare = ({ room }) => room === "share";

/**
 * The settings of both panels, without what a question does not depend on.
 *
 * @param {Object<string, string>} calculator its settings
 * @param {Object<string, string>} settings the panel's
 * @param {string[]} skipped
 */
function settingsFor(calculator, settings, skipped) {
  const room = ["room", byShare(settings) ? "fragmentation_mib" : "usable_percent"];
  const left = [...skipped, ...room, ...(settings.gpu === OWN_GPU ? [] : OWN)];
  return { ...calculator, ...Object.fromEntries(Object.entries(settings).filter(([name]) => !left.includes(name))) };
}

/** What fits on the GPU, as a request. */
const fitRequest = (calculator, settings) => requestOf(settingsFor(calculator, settings, REVERSE));

/** What the model's own files hold, as a request: as many settings as the count beside it depends on. */
export const weightsRequest = (calculator, settings, held) => ({
  ...fitRequest(calculator, { ...settings, weight_bytes: "" }),
  ...held,
});

/** What users need, as a request: of their tokens, whatever the calculator's own are. */
function needsRequest(calculator, settings) {
  const { tokens, batch, tp, pp, dcp, ...kept } = settingsFor(calculator, settings, byShare(settings) ? BESIDE : []);
  return requestOf(kept);
}

/**
 * Asks both questions where something has changed in them.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {object} view the panel's state, which takes the answers
 * @param {ReturnType<typeof import("./question.js").question>} asked the calculator's question
 */
export function createQuestions(glass, view, asked) {
  const [askFit, askNeeds] = /** @type {Question[]} */ (["kv_fit", "kv_needs"]).map((what) =>
    createAsker(glass, what, ({ data, message }) => {
      Object.assign(view, data ? { [what]: data, [`${what}_trouble`]: null } : { [`${what}_trouble`]: message });
    }),
  );
  const fit = memo((request) => askFit.ask(JSON.parse(request)));
  const needs = memo((request) => askNeeds.ask(JSON.parse(request)));
  let fitting = null;
  const near = memo(({ along, values }) => askFit.near(fitting, along, values));

  function ask() {
    if (!asked.answered) return;
    fitting = fitRequest(asked.answered, view.settings);
    if (asked.sliding) near(asked.sliding);
    fit(JSON.stringify(fitting));
    needs(JSON.stringify(needsRequest(asked.answered, view.settings)));
  }
  /** A hand comes near a slider of what users need. */
  function nearNeeds(along, values) {
    if (asked.answered) askNeeds.near(needsRequest(asked.answered, view.settings), along, values);
  }
  return { ask, nearNeeds };
}
