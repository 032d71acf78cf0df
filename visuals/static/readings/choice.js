// What the chapter on the next token reads off a run: one logit as an exact sum over the embedding, every head by the
// token that it read, and every neuron.

/**
 * @typedef {import("../decoded.d.ts").Detail<"logit_terms">} Answer
 *
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {{ token: number; target: number; against: number | null }} TermsSelection the position, whose logit,
 *   and less whose; null: that of one token alone
 *
 * @typedef {object} LogitTerm null where a term has no such place
 * @property {"embedding" | "patched" | "biases" | "head" | "cross" | "neuron" | "others"} part
 * @property {number | null} layer
 * @property {number | null} head
 * @property {number | null} neuron
 * @property {number | null} key the token that a head read: of a look at a source, one of the source
 * @property {number} value
 *
 * @typedef {import("./reading.js").Reading<TermsSelection> & {
 *   terms: LogitTerm[];
 *   others: { count: number; value: number };
 * }} TermsReading
 *   `terms`: those that are known one by one, `others`: the neurons that are not, together
 */

const NOWHERE = { layer: null, head: null, neuron: null, key: null };

/**
 * The looks of every head, by the token that it read.
 *
 * @param {"head" | "cross"} part
 * @param {import("../decoded.d.ts").NumArray | null} looks (L, n_heads, tokens)
 * @returns {LogitTerm[]}
 */
function looksIn(part, looks) {
  if (!looks) return [];
  const [, heads, tokens] = looks.shape;
  return Array.from(looks.data, (value, i) => ({
    ...NOWHERE,
    part,
    layer: Math.floor(i / (heads * tokens)),
    head: Math.floor(i / tokens) % heads,
    key: i % tokens,
    value,
  }));
}

/**
 * @param {Answer} found
 * @returns {LogitTerm[]}
 */
function termsIn({ embedding, patched, biases, heads, cross, neurons }) {
  return [
    { ...NOWHERE, part: "embedding", value: embedding },
    ...(patched ? [{ ...NOWHERE, part: /** @type {const} */ ("patched"), value: patched }] : []),
    ...(biases ? [{ ...NOWHERE, part: /** @type {const} */ ("biases"), value: biases }] : []),
    ...looksIn("head", heads),
    ...looksIn("cross", cross),
    ...neurons.map((one) => ({ ...NOWHERE, part: /** @type {const} */ ("neuron"), ...one })),
  ];
}

/**
 * @param {LogitTerm[]} terms
 * @param {TermsReading["others"]} others
 * @returns {import("./reading.js").Table}
 */
function tableOf(terms, others) {
  const all = [...terms, { ...NOWHERE, part: "others", value: others.value }];
  return {
    keys: {
      part: all.map(({ part }) => part),
      ...Object.fromEntries(
        /** @type {const} */ (["layer", "head", "neuron", "key"]).map((name) => [
          name,
          all.map((one) => one[name] ?? ""),
        ]),
      ),
    },
    columns: { terms: [...terms.map(() => 1), others.count], value: all.map(({ value }) => value) },
  };
}

/** One logit as a sum. @type {import("./reading.js").Reader<TermsReading>} */
export const logitTermsReader = {
  needs: (_trace, { token, target, against }) => ({ found: ["logit_terms", { token, target, against }] }),
  read({ trace: { model }, details }, selection) {
    /** @type {Answer} */
    const found = details.found;
    const { token, target } = selection;
    const terms = termsIn(found);
    const largest = terms.reduce((most, one) => (Math.abs(one.value) > Math.abs(most.value) ? one : most));
    const count = model.n_layers * model.ffn_hidden - found.neurons.length;
    const others = { count, value: found.other_neurons };
    return {
      selection,
      at: `after ${token} target ${target}`,
      values: { logit: found.logit, sum: found.total, first: largest.value },
      digits: 7,
      terms,
      others,
      rows: { terms: () => tableOf(terms, others) },
    };
  },
};
