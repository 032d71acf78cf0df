// The run's next token with every number of K/V heads that its query heads can share, and with latents in their
// place: what the cache takes, what is multiplied, and how far the prediction moves.

/**
 * @typedef {{ heads: number; rank: number }} KindsSelection 0 where a reader has chosen none; a rank counts before
 *   heads
 *
 * @typedef {{ scores: number; mix: number; keys: number; values: number }} Products multiply-adds of one layer over
 *   all tokens: QKᵀ and AV over all pairs of tokens, and what W_K and W_V make of the stream; of a latent, what
 *   makes it, and what is rebuilt from it
 *
 * @typedef {{
 *   heads: number;
 *   rank: number;
 *   name: "mqa" | "gqa" | "mha" | "latent";
 *   repeated: boolean;
 *   bytes: number;
 *   products: Products;
 *   kl: number;
 *   p: number;
 *   best: string;
 *   pBest: number;
 * }} KvKind
 *   `heads`, `rank`: one of them is 0; `repeated`: a multiple of the network's own, which computes the same; `bytes`
 *   of a token, all layers. Numbers are NaN until they are measured
 *
 * @typedef {import("./reading.js").Reading<KindsSelection> & {
 *   kinds: KvKind[];
 *   latents: KvKind[];
 *   own: KvKind;
 *   chosen: KvKind;
 *   answer: string;
 *   p: number;
 *   width: number;
 *   tokens: number;
 *   done: number;
 * }} KindsReading
 *   `kinds` by heads, `latents` by rank; `width`: bytes of a number; `done`: how many of both are measured
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

/**
 * As `costOf`, with a latent of so many numbers in place of K and V of `n_kv_heads`.
 *
 * @param {Pick<
 *   import("../types.d.ts").Model,
 *   "n_layers" | "d_model" | "n_heads" | "n_kv_heads" | "head_dim" | "dtype"
 * >} model
 * @param {number} rank
 * @param {number} tokens
 * @returns {{ bytes: number; products: Products }}
 */
export function latentCost(model, rank, tokens) {
  const { products } = costOf(model, model.n_kv_heads, tokens);
  const rebuilt = tokens * rank * 2 * model.n_kv_heads * model.head_dim;
  return {
    bytes: model.n_layers * rank * (WIDTHS[model.dtype] ?? 4),
    products: { ...products, keys: tokens * model.d_model * rank, values: rebuilt },
  };
}

/**
 * What a network keeps of a token in all layers: K and V of its heads, or the latent and the rotated key.
 *
 * @param {import("../types.d.ts").Model} model
 */
export function bytesOf(model) {
  const { latent } = model.parts;
  if (!latent) return costOf(model, model.n_kv_heads, 1).bytes;
  return model.n_layers * (latent.rank + latent.rope) * (WIDTHS[model.dtype] ?? 4);
}

/** @param {KvKind[]} kinds @returns {import("./reading.js").Table} */
const kindsTable = (kinds) => ({
  keys: {
    kind: kinds.map(({ name }) => name.toUpperCase()),
    n_kv_heads: kinds.map(({ heads }) => heads || ""),
    rank: kinds.map(({ rank }) => rank || ""),
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

/** @typedef {import("../decoded.d.ts").Detail<"attention_kinds">} Found */

// nats: what float32 leaves between two passes that compute the same lies far below it
const ROUNDING = 1e-9;

/** What was measured. @param {Found["heads"][number]} one */
const measured = ({ kl, p_answer: p, best, p_best: pBest }) => ({
  kl: kl === null ? NaN : kl < ROUNDING ? 0 : kl,
  p: p ?? NaN,
  best: best ?? "",
  pBest: pBest ?? NaN,
});

/**
 * Which part is read: the last that is here. Looking for the one after it asks for that.
 *
 * @param {(what: "attention_kinds", params: object) => Found | null} answered
 */
function partHere(answered) {
  for (let start = 0, came = answered("attention_kinds", { start }); ;) {
    const next = came && came.done < came.heads.length + came.latents.length && came.done;
    const after = next ? answered("attention_kinds", { start: next }) : null;
    if (!after) return start;
    [start, came] = [/** @type {number} */ (next), after];
  }
}

/** @type {import("./reading.js").Reader<KindsReading>} */
export const kindsReader = {
  needs: (_trace, _selection, answered) => ({
    found: ["attention_kinds", { start: partHere(/** @type {any} */ (answered)) }],
  }),
  read({ trace: { model, T: tokens }, details }, selection) {
    const found = /** @type {Found} */ (details.found);
    const { n_heads: all, n_kv_heads: given } = model;
    /** @type {KvKind[]} */
    const kinds = found.heads.map((one) => ({
      heads: one.count,
      rank: 0,
      name: one.count === all ? "mha" : one.count === 1 ? "mqa" : "gqa",
      repeated: one.count % given === 0,
      ...costOf(model, one.count, tokens),
      ...measured(one),
    }));
    /** @type {KvKind[]} */
    const latents = found.latents.map((one) => ({
      heads: 0,
      rank: one.count,
      name: "latent",
      repeated: false,
      ...latentCost(model, one.count, tokens),
      ...measured(one),
    }));
    const first = given === 1 ? kinds[kinds.length - 1] : kinds[0]; // MQA, where that is not what the network has
    const byHeads = kinds.find(({ heads }) => heads === selection.heads) ?? first;
    const chosen = latents.find(({ rank }) => rank === selection.rank) ?? byHeads;
    const own = /** @type {KvKind} */ (kinds.find(({ heads }) => heads === given));
    const { scores, mix, keys, values } = chosen.products;
    return {
      selection: { heads: chosen.heads, rank: chosen.rank },
      kinds,
      latents,
      own,
      chosen,
      answer: found.answer,
      p: found.p,
      width: WIDTHS[model.dtype] ?? 4,
      tokens,
      done: found.done,
      at: chosen.rank ? `rank ${chosen.rank}` : `n_kv_heads ${chosen.heads}`,
      values: {
        kl: chosen.kl,
        p_answer: chosen.p,
        bytes: chosen.bytes,
        own_bytes: own.bytes,
        qk: scores,
        av: mix,
        w_k: keys,
        w_v: values,
        measured: found.done,
      },
      rows: { kinds: () => kindsTable([...kinds, ...latents]), heads: () => kindsTable(kinds) },
    };
  },
};
