// @ts-check
// The run's next token with every number of K/V heads that its query heads can share: what the cache takes, what is
// multiplied, and how far the prediction moves.

/**
 * @typedef {{ heads: number }} KindsSelection 0 where a reader has chosen none
 *
 * @typedef {{ scores: number; mix: number; keys: number; values: number }} Products multiply-adds of one layer over
 *   all tokens: QKᵀ and AV over all pairs of tokens, and what W_K and W_V make of the stream
 *
 * @typedef {{
 *   heads: number;
 *   name: "mqa" | "gqa" | "mha";
 *   repeated: boolean;
 *   bytes: number;
 *   products: Products;
 *   kl: number;
 *   p: number;
 *   best: string;
 *   pBest: number;
 * }} KvKind
 *   `repeated`: a multiple of the network's own, which computes the same; `bytes` of K and V a token, all layers
 *
 * @typedef {import("./reading.js").Reading<KindsSelection> & {
 *   kinds: KvKind[];
 *   at_: number;
 *   own: KvKind;
 *   chosen: KvKind;
 *   answer: string;
 *   p: number;
 *   width: number;
 *   tokens: number;
 * }} KindsReading
 *   `at_`: which of them is chosen; `width`: bytes of a number
 */

const WIDTHS = /** @type {Record<string, number>} */ ({ float32: 4, bfloat16: 2, float16: 2 });

/**
 * What one number of K/V heads takes, by the formulas.
 *
 * @param {Pick<import("../types.d.ts").Model, "n_layers" | "d_model" | "n_heads" | "head_dim" | "dtype">} model
 * @param {number} heads
 * @param {number} tokens
 * @returns {{ bytes: number; products: Products }}
 */
export function costOf({ n_layers, d_model, n_heads, head_dim, dtype }, heads, tokens) {
  const [pairs, projected] = [n_heads * tokens * tokens * head_dim, tokens * d_model * heads * head_dim];
  return {
    bytes: 2 * n_layers * heads * head_dim * (WIDTHS[dtype] ?? 4),
    products: { scores: pairs, mix: pairs, keys: projected, values: projected },
  };
}

/** @param {KvKind[]} kinds @returns {import("./reading.js").Table} */
const kindsTable = (kinds) => ({
  keys: {
    n_kv_heads: kinds.map(({ heads }) => heads),
    kind: kinds.map(({ name }) => name.toUpperCase()),
    best: kinds.map(({ best }) => best),
  },
  columns: {
    kl: kinds.map(({ kl }) => kl),
    p_answer: kinds.map(({ p }) => p),
    bytes_a_token: kinds.map(({ bytes }) => bytes),
    multiply_adds_qk: kinds.map(({ products }) => products.scores),
    multiply_adds_av: kinds.map(({ products }) => products.mix),
    multiply_adds_w_k: kinds.map(({ products }) => products.keys),
    multiply_adds_w_v: kinds.map(({ products }) => products.values),
  },
});

/** @type {import("./reading.js").Reader<KindsReading>} */
export const kindsReader = {
  needs: () => ({ found: ["attention_kinds", {}] }),
  read({ trace: { model, T: tokens }, details: { found } }, selection) {
    const { n_heads: all, n_kv_heads: given } = model;
    /** @type {KvKind[]} */
    const kinds = /** @type {import("../decoded.d.ts").Detail<"attention_kinds">} */ (found).kinds.map((one) => ({
      heads: one.n_kv_heads,
      name: one.n_kv_heads === all ? "mha" : one.n_kv_heads === 1 ? "mqa" : "gqa",
      repeated: one.n_kv_heads % given === 0,
      ...costOf(model, one.n_kv_heads, tokens),
      kl: one.kl,
      p: one.p_answer,
      best: one.best,
      pBest: one.p_best,
    }));
    const wanted = kinds.findIndex(({ heads }) => heads === selection.heads);
    const first = given === 1 ? kinds.length - 1 : 0; // MQA, where that is not what the network has
    const at = wanted < 0 ? first : wanted;
    const [chosen, own] = [kinds[at], /** @type {KvKind} */ (kinds.find(({ heads }) => heads === given))];
    const { scores, mix, keys, values } = chosen.products;
    return {
      selection: { heads: chosen.heads },
      kinds,
      at_: at,
      own,
      chosen,
      answer: found.answer,
      p: found.p,
      width: WIDTHS[model.dtype] ?? 4,
      tokens,
      at: `n_kv_heads ${chosen.heads}`,
      values: {
        kl: chosen.kl,
        p_answer: chosen.p,
        bytes: chosen.bytes,
        own_bytes: own.bytes,
        qk: scores,
        av: mix,
        w_k: keys,
        w_v: values,
      },
      rows: { kinds: () => kindsTable(kinds) },
    };
  },
};
