// Brings back what a link holds besides its prompt: the changes of its run, the run kept as A, the side that is shown.

import { decodeRun } from "./decode.js";
import { CHANGED, readRuns } from "./linked.js";
import { listed, ofEncoder, parameters } from "./run-changes.js";
import { LOST } from "./unanswered.js";

/**
 * @typedef {import("./decode.js").Trace} Trace
 *
 * @typedef {import("./linked.js").Recipe} Recipe
 *
 * @typedef {{ code: string; params: Record<string, unknown> }} Reason why not: a text "message.<code>"
 *
 * @typedef {{ message: import("./types.d.ts").RunPayload; trace: Trace }} Made
 */

/**
 * A refusal to be shown.
 *
 * @param {string} code of a text "message.<code>"
 * @param {Record<string, unknown>} params
 * @returns {Error & Reason}
 */
const refusal = (code, params) => Object.assign(new Error(code), { code, params });

/**
 * Why a run could not be made: where it is a change that the model does not have, under the name of the link's
 * field.
 *
 * @param {Reason} refusal
 * @param {Recipe["changes"]} changes
 * @param {string} prefix of the fields of that run
 */
function refused({ code, params }, changes, prefix) {
  const [, encoder, field] = /^(encoder\.)?(.*)$/.exec(String(params?.field ?? "")) ?? [];
  /** @type {(change: import("./run-changes.js").Change) => Record<string, number>} */
  const numbers = ({ kind, value }) => parameters(kind, value);
  const asked = listed(changes).find(
    (change) => ofEncoder(change.kind) === Boolean(encoder) && numbers(change)[field] === params.value,
  );
  if (code === "field" && asked) return refusal("link_change", { ...params, link: prefix + CHANGED[asked.kind] });
  return refusal("link_other", { detail: params.detail ?? code });
}

/**
 * Runs what the link describes once the plain run is shown: A first, then B with its changes. Whatever cannot be
 * run leaves the plain run, and a message says what the link asks for and what is allowed.
 *
 * @param {string} hash
 * @param {import("./types.d.ts").Store} store
 * @param {Pick<import("./types.d.ts").Fetching, "recall">} fetching
 */
export async function restore(hash, store, fetching) {
  const { run, kept, side, faults } = readRuns(hash);
  const { state } = store;
  const plain = state.run;
  if (!plain) return; // nothing could be run that this says more of

  /**
   * Makes a run.
   *
   * @param {Recipe} recipe
   * @param {string} prefix of its fields
   * @param {Made} [first] A, whose stream its patches take unless they name another's
   * @returns {Promise<Made>}
   */
  const made = async (recipe, prefix, first) => {
    const { prompt = plain.prompt, model = plain.model.name, generated, source } = recipe;
    const changes = { ...recipe.changes };
    /** @type {Made | undefined} */
    let from;
    if (changes.patches) {
      from = source ? await made(source, `${prefix}from-`) : first;
      if (!from)
        throw refusal("link_source", {
          field: prefix + CHANGED.patches,
          expected: prefix ? `${prefix}from-prompt` : "a-prompt",
        });
      changes.source = from.trace.id;
    }
    const request = { prompt, model, generated, changes, layer: state.locked.layer };
    const answer = await fetching.recall(request).catch(() => LOST);
    if (answer.kind === "message")
      throw answer.unanswered ? refusal(answer.code, answer.params) : refused(answer, recipe.changes, prefix);
    const message = { ...answer, source: from?.trace };
    return { message, trace: decodeRun(message) };
  };

  try {
    if (faults.length) throw refusal("link_form", faults[0]);
    const first = kept && (await made(kept, "a-"));
    const changed = Object.keys(run.changes).length > 0 ? await made(run, "", first) : null;
    if (state.run !== plain) return; // the reader has run something else meanwhile
    if (first) store.keep(first.trace);
    if (changed) {
      store.pin({ ...state.locked }, store.chosen());
      store.publish(changed.message);
    }
    if (first && side) store.showSide(side);
    if (!first && side === "A") store.keep(state.run);
  } catch (error) {
    const { code, params } = /** @type {Error & Partial<Reason>} */ (error);
    if (!params) throw error;
    store.emit("message", { level: "error", code, params });
  }
}
