// What the live cache held at a moment of the run: pure arithmetic over the run's own messages.

const ELEMENT_BYTES = { float32: 4, float16: 2, bfloat16: 2, float64: 8 };

/** Bytes of one stored number in the run's dtype. */
export const elementBytes = (trace) => ELEMENT_BYTES[trace.model.dtype];

/**
 * What a layer keeps of a token in place of keys and values: the widths of the latent and of its rotated key; null
 * where it keeps them.
 */
export const latentOf = ({ model: { parts } }) => parts?.latent ?? null;

/** How many numbers a layer keeps of a token. */
export function keptNumbers(trace) {
  const { n_kv_heads, head_dim } = trace.model;
  const latent = latentOf(trace);
  return latent ? latent.rank + latent.rope : 2 * n_kv_heads * head_dim;
}

/** The factors of the formula for `tokens` tokens, in the order in which they are printed. */
export function factorsOf(trace, tokens) {
  const { n_layers, n_kv_heads, head_dim, dtype } = trace.model;
  const kept = latentOf(trace)
    ? [{ value: keptNumbers(trace), code: "latent_rope_key" }]
    : [
        { value: n_kv_heads, code: "k_v_heads" },
        { value: 2, code: "k_and_v" },
        { value: head_dim, code: "head_dim" },
      ];
  return [
    { value: n_layers, code: "layers" },
    { value: tokens, code: "tokens" },
    ...kept,
    { value: elementBytes(trace), code: "bytes", params: { format: dtype } },
  ];
}

/** The product of the factors. */
export const bytesOf = (factors) => factors.reduce((bytes, { value }) => bytes * value, 1);

/**
 * The factors of what a decoder keeps of its source besides, from before its first token on; null where there is
 * none.
 */
export const sourceFactors = (trace) => (trace.encoder ? factorsOf(trace, trace.encoder.T) : null);

/** Bytes of all that is held with `tokens` tokens: their own, and the source's. */
export const heldBytes = (trace, tokens) =>
  bytesOf(factorsOf(trace, tokens)) + (trace.encoder ? bytesOf(sourceFactors(trace)) : 0);

/** All tokens that the page knows: those of the run, and those written since. */
export const piecesOf = (trace) => [
  ...trace.tokens.pieces,
  ...trace.steps.slice(trace.T - trace.nPrompt).map((step) => step.piece),
];

/**
 * The moment at which the model has read `query`: a prompt token belongs to the prefill, which reads the prompt at
 * once.
 *
 * @returns {{ held: number; from: number; query: number; prefill: boolean }} tokens held, the first one written
 *   then
 */
export function momentOf(trace, query) {
  const prefill = query < trace.nPrompt;
  const held = prefill ? trace.nPrompt : query + 1;
  return { held, from: prefill ? 0 : query, query, prefill };
}

/**
 * What was measured when the cache held so many tokens.
 *
 * @param {object | null} detail kv_live
 * @returns {number | null}
 */
export function measuredAt(trace, detail, held) {
  const step = trace.steps.find(({ cacheTokens }) => cacheTokens === held);
  if (step) return step.cacheBytes;
  return detail?.tokens === held ? detail.bytes : null;
}

/** Every length that was measured: how many there are, and how many equal the formula. */
export function agreement(trace, detail) {
  const lengths = new Set(trace.steps.map(({ cacheTokens }) => cacheTokens));
  if (detail) lengths.add(detail.tokens);
  const equal = [...lengths].filter((held) => measuredAt(trace, detail, held) === heldBytes(trace, held));
  return { measured: lengths.size, equal: equal.length };
}
