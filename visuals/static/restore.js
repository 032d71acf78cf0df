// Brings back what a link holds besides its prompt: the changes of its run, the run kept as A, the side that is shown.

import { decodeRun } from "./decode.js";
import { CHANGED, readRuns } from "./linked.js";
import { listed, ofEncoder, parameters } from "./run-changes.js";
import { LOST } from "./unanswered.js";

/**
 * A refusal to be shown.
 *
 * @param {string} code of a text "message.<code>"
 * @param {object} params
 */
const refusal = (code, params) => Object.assign(new Error(code), { code, params });

/**
 * Why a run could not be made: where it is a change that the model does not have, under the name of the link's
 * field.
 */
function refused({ code, params }, changes, prefix) {
  const [, encoder, field] = /^(encoder\.)?(.*)$/.exec(params?.field ?? "");
  const asked = listed(changes).find(
    ({ kind, value }) => ofEncoder(kind) === Boolean(encoder) && parameters(kind, value)[field] === params.value,
  );
  if (code === "field" && asked) return refusal("link_change", { ...params, link: prefix + CHANGED[asked.kind] });
  return refusal("link_other", { detail: params.detail ?? code });
}

/**
 * Runs what the link describes once the plain run is shown: A first, then B with its changes. Whatever cannot be
 * run leaves the plain run, and a message says what the link asks for and what is allowed.
 *
 * @param {string} hash
 * @param {object} store
 * @param {{ recall: Function }} fetching
 */
export async function restore(hash, store, fetching) {
  const { run, kept, side, faults } = readRuns(hash);
  const { state } = store;
  const plain = state.run;

  /** A run as { message, trace }; `first` is A, whose stream its patches take unless they name another's. */
  async function made(recipe, prefix, first) {
    const { prompt = plain.prompt, model = plain.model.name, generated, source } = recipe;
    const changes = { ...recipe.changes };
    let from = null;
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
    if (answer.unanswered) throw refusal(answer.code, answer.params);
    if (answer.kind === "message") throw refused(answer, recipe.changes, prefix);
    const message = { ...answer, source: from?.trace };
    return { message, trace: decodeRun(message) };
  }

  try {
    if (faults.length) throw refusal("link_form", faults[0]);
    const first = kept && (await made(kept, "a-"));
    const changed = Object.keys(run.changes).length > 0 && (await made(run, "", first));
    if (state.run !== plain) return; // the reader has run something else meanwhile
    if (first) store.keep(first.trace);
    if (changed) {
      store.pin({ ...state.locked });
      store.publish(changed.message);
    }
    if (first && side) store.showSide(side);
    if (!first && side === "A") store.keep(state.run);
  } catch (error) {
    const { code, params } = error;
    if (!params) throw error;
    store.emit("message", { level: "error", code, params });
  }
}
