// The format of the cache as two choices: K's, and V's where that is another. One setting holds both, as "q8_0/q4_0".

import { h } from "../../dom.js";
import { choiceField } from "./fields.js";

/**
 * @typedef {import("./fields.js").Field} Field
 *
 * @typedef {import("./fields.js").Option} Option
 */

/**
 * The formats of K and of V; "" for V where it has K's.
 *
 * @param {string} dtype
 */
export function parted(dtype) {
  const [k, v = ""] = dtype.split("/");
  return { k, v };
}

/**
 * @param {string} k
 * @param {string} v "" for the same as K
 */
export const joined = (k, v) => (v && v !== k ? `${k}/${v}` : k);

/**
 * Fields of the two, beside each other. V's is of use where K's format can have another beside it and the model
 * caches a V; it stays as long as one is set.
 *
 * @param {import("./question.js").Asked} asked
 * @param {import("./fields.js").Change} set
 * @param {import("../../types.d.ts").Say} text of the section "kv"
 */
export function formatFields(asked, set, text) {
  const paired = () => asked.catalogue?.paired ?? [];
  const now = () => parted(asked.settings.dtype);
  /** @type {() => Option[]} */
  const formats = () =>
    (asked.catalogue?.formats ?? []).map(({ name, engine }) => [name, engine ? `${name} (${engine})` : name]);
  /** @type {() => Option[]} */
  const others = () => [
    ["", text("choice_as_k")],
    ...paired().flatMap((name) => (name === now().k ? [] : [/** @type {Option} */ ([name, name])])),
  ];
  const ofK = choiceField(
    "dtype",
    ({ dtype }) => set({ dtype: joined(dtype, paired().includes(dtype) ? now().v : "") }),
    formats,
  );
  const ofV = choiceField("dtype_v", ({ dtype_v: v }) => set({ dtype: joined(now().k, v) }), others);
  /** @type {Field[]} */
  const fields = [
    { ...ofK, show: () => ofK.show({ dtype: now().k }) },
    { ...ofV, show: () => ofV.show({ dtype_v: now().v }) },
  ];
  /** @param {boolean} caches whether the model caches a V */
  const useful = (caches) => now().v !== "" || (caches && paired().includes(now().k));
  return { fields, element: h("div.kv-formats", null, ofK.element, ofV.element), useful };
}
