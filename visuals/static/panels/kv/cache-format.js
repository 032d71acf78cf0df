// The format of the cache as two choices: K's, and V's where that is another. One setting holds both, by the name that
// the server has for the two.

import { h } from "../../dom.js";
import { choiceField } from "./fields.js";

/**
 * @typedef {import("./fields.js").Field} Field
 *
 * @typedef {import("./fields.js").Option} Option
 */

/** @typedef {import("../../messages.d.ts").PairMessage} Pair */

/**
 * The formats of K and of V; "" for V where it has K's.
 *
 * @param {Pair[]} pairs
 * @param {string} dtype
 */
export function parted(pairs, dtype) {
  const { k, v } = pairs.find(({ name }) => name === dtype) ?? { k: dtype, v: "" };
  return { k, v };
}

/**
 * @param {Pair[]} pairs
 * @param {string} k
 * @param {string} v "" for the same as K
 */
export const joined = (pairs, k, v) => pairs.find((pair) => pair.k === k && pair.v === v)?.name ?? k;

/**
 * Fields of the two, beside each other. V's is of use where K's format can have another beside it and the model
 * caches a V; it stays as long as one is set.
 *
 * @param {import("./question.js").Asked} asked
 * @param {import("./fields.js").Change} set
 * @param {import("../../types.d.ts").Say} text of the section "kv"
 */
export function formatFields(asked, set, text) {
  const pairs = () => asked.catalogue?.pairs ?? [];
  const now = () => parted(pairs(), asked.settings.dtype);
  /** @type {() => Option[]} */
  const formats = () =>
    (asked.catalogue?.formats ?? []).map(({ name, engine }) => [name, engine ? `${name} (${engine})` : name]);
  /** @type {() => Option[]} */
  const others = () => [
    ["", text("choice_as_k")],
    ...pairs().flatMap(({ k, v }) => (k === now().k ? [/** @type {Option} */ ([v, v])] : [])),
  ];
  const ofK = choiceField("dtype", ({ dtype }) => set({ dtype: joined(pairs(), dtype, now().v) }), formats);
  const ofV = choiceField("dtype_v", ({ dtype_v: v }) => set({ dtype: joined(pairs(), now().k, v) }), others);
  /** @type {Field[]} */
  const fields = [
    { ...ofK, show: () => ofK.show({ dtype: now().k }) },
    { ...ofV, show: () => ofV.show({ dtype_v: now().v }) },
  ];
  /** @param {boolean} caches whether the model caches a V */
  const useful = (caches) => now().v !== "" || (caches && pairs().some(({ k }) => k === now().k));
  return { fields, element: h("div.kv-formats", null, ofK.element, ofV.element), useful };
}
