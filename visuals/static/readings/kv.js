// What the chapter on the KV cache reads off a run: what the cache held at a moment, measured and by the formula, and
// what it would hold with other kinds of attention.

/**
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("../decoded.d.ts").Detail<"kv_live">} Live
 *
 * @typedef {{ value: number; code: string; params?: Record<string, unknown> }} Factor of a product; `code`: of its
 *   name
 *
 * @typedef {{ model: Pick<Trace["model"], "n_layers" | "n_kv_heads" | "head_dim" | "dtype" | "parts"> }} Shape
 *   what the bytes of a token depend on
 *
 * @typedef {Shape & { encoder: (Shape & Pick<Trace, "T">) | null }} WithSource
 *
 * @typedef {Pick<Trace, "steps"> & WithSource} Written
 *
 * @typedef {{ held: number; from: number; query: number; prefill: boolean }} Moment tokens held, and the first one
 *   written then
 *
 * @typedef {import("../messages.d.ts").KindRow} Row what a model would hold as a kind, or why that cannot be said
 *
 * @typedef {Row & Required<Pick<Row, "bytes" | "terms">>} Counted
 */

/** @type {Record<string, number>} */
const ELEMENT_BYTES = { float32: 4, float16: 2, bfloat16: 2, float64: 8 };

/**
 * Bytes of one stored number in the run's dtype.
 *
 * @param {{ model: Pick<Trace["model"], "dtype"> }} trace
 */
export const elementBytes = (trace) => ELEMENT_BYTES[trace.model.dtype];

/**
 * What a layer keeps of a token in place of keys and values: the widths of the latent and of its rotated key; null
 * where it keeps them.
 *
 * @param {Shape} trace
 */
export const latentOf = ({ model: { parts } }) => parts.latent;

/**
 * How many numbers a layer keeps of a token.
 *
 * @param {Shape} trace
 */
export function keptNumbers(trace) {
  const { n_kv_heads, head_dim } = trace.model;
  const latent = latentOf(trace);
  return latent ? latent.rank + latent.rope : 2 * n_kv_heads * head_dim;
}

/**
 * The factors of the formula for `tokens` tokens, in the order in which they are printed.
 *
 * @param {Shape} trace
 * @param {number} tokens
 * @returns {Factor[]}
 */
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

/**
 * The product of the factors.
 *
 * @param {{ value: number }[]} factors
 */
export const bytesOf = (factors) => factors.reduce((bytes, { value }) => bytes * value, 1);

/**
 * The factors of what a decoder keeps of its source besides, from before its first token on; null where there is
 * none.
 *
 * @param {WithSource} trace
 */
export const sourceFactors = (trace) => (trace.encoder ? factorsOf(trace, trace.encoder.T) : null);

/**
 * Bytes of all that is held with `tokens` tokens: their own, and the source's.
 *
 * @param {WithSource} trace
 * @param {number} tokens
 */
function heldBytes(trace, tokens) {
  const source = sourceFactors(trace);
  return bytesOf(factorsOf(trace, tokens)) + (source ? bytesOf(source) : 0);
}

/**
 * All tokens that the page knows: those of the run, and those written since.
 *
 * @param {Pick<Trace, "tokens" | "steps" | "T" | "nPrompt">} trace
 */
export const piecesOf = (trace) => [
  ...trace.tokens.pieces,
  ...trace.steps.slice(trace.T - trace.nPrompt).map((step) => step.piece),
];

/**
 * The moment at which the model has read `query`: a prompt token belongs to the prefill, which reads the prompt at
 * once.
 *
 * @param {Pick<Trace, "nPrompt">} trace
 * @param {number} query
 * @returns {Moment}
 */
export function momentOf(trace, query) {
  const prefill = query < trace.nPrompt;
  const held = prefill ? trace.nPrompt : query + 1;
  return { held, from: prefill ? 0 : query, query, prefill };
}

/**
 * What was measured when the cache held so many tokens.
 *
 * @param {Pick<Trace, "steps">} trace
 * @param {Pick<Live, "tokens" | "bytes"> | null} detail
 * @param {number} held
 * @returns {number | null}
 */
export function measuredAt(trace, detail, held) {
  const step = trace.steps.find(({ cacheTokens }) => cacheTokens === held);
  if (step) return step.cacheBytes;
  return detail?.tokens === held ? detail.bytes : null;
}

/**
 * Every length that was measured: how many there are, and how many equal the formula.
 *
 * @param {Written} trace
 * @param {Pick<Live, "tokens" | "bytes"> | null} detail
 */
export function agreement(trace, detail) {
  const lengths = new Set(trace.steps.map(({ cacheTokens }) => cacheTokens));
  if (detail) lengths.add(detail.tokens);
  const equal = [...lengths].filter((held) => measuredAt(trace, detail, held) === heldBytes(trace, held));
  return { measured: lengths.size, equal: equal.length };
}

/**
 * What becomes of a token's rows at a moment.
 *
 * @param {Pick<Moment, "held" | "from" | "query">} moment
 * @param {number} token
 * @returns {"new" | "read" | "held" | "empty"}
 */
export function roleOf({ held, from, query }, token) {
  if (token >= held) return "empty";
  if (token >= from) return "new";
  return token <= query ? "read" : "held";
}

/**
 * The token that the model has read last: while text is generated that of the step before, as the newest one is
 * chosen but not read; else the selected one.
 *
 * @param {Trace} trace
 * @param {number} selected
 */
const readLast = ({ generating, nPrompt, steps }, selected) =>
  generating ? nPrompt - 1 + Math.max(0, steps.length - 1) : selected;

/**
 * Every length of the cache, with the formula's bytes beside those that were measured.
 *
 * @param {Trace} trace
 * @param {Live | null} live
 * @returns {import("./reading.js").Table}
 */
function lengthsOf(trace, live) {
  const tokens = Array.from({ length: trace.T }, (_, t) => t + 1);
  return {
    keys: { tokens },
    columns: {
      formula_bytes: tokens.map((held) => heldBytes(trace, held)),
      measured_bytes: tokens.map((held) => measuredAt(trace, live, held) ?? NaN),
    },
  };
}

/**
 * What the cache held when the model had read a token: bytes by the formula and as measured, and the lengths of the
 * token's K and V rows in a layer; NaN where that is not measured.
 *
 * @typedef {{ layer: number; query: number }} LiveSelection
 *
 * @typedef {import("./reading.js").Reading<LiveSelection> & {
 *   moment: Moment;
 *   measured: number | null;
 *   tally: ReturnType<typeof agreement>;
 * }} LiveReading
 * @type {import("./reading.js").Reader<LiveReading>}
 */
export const liveReader = {
  later: ({ generating }) => {
    /** @type {import("./reading.js").Questions} */
    const none = {};
    return generating ? none : { live: ["kv_live", {}] };
  },
  read({ trace, details: { live = null } }, { layer, query: selected }) {
    const query = readLast(trace, selected);
    const moment = momentOf(trace, query);
    const measured = measuredAt(trace, live, moment.held);
    const known = live && query < trace.T;
    const at = layer * trace.T + query;
    return {
      selection: { layer, query },
      moment,
      measured,
      tally: agreement(trace, live),
      at: `layer ${layer} token ${query} ${roleOf(moment, query)}`,
      values: {
        tokens: moment.held,
        bytes: heldBytes(trace, moment.held),
        measured: measured ?? NaN,
        k: known ? live.k_norm.data[at] : NaN,
        v: known ? live.v_norm.data[at] : NaN,
      },
      whole: ["tokens", "bytes", "measured"],
      rows: { lengths: () => lengthsOf(trace, live) },
    };
  },
};

/**
 * @param {Row} row
 * @returns {row is Counted}
 */
export const isCounted = (row) => row.bytes !== undefined && row.terms !== undefined;

/**
 * A row of one token as one of `tokens` tokens: every term grows with them alone, but for what is kept of a source.
 *
 * @param {Row} row
 * @param {number} tokens
 * @returns {Row} the same where it is refused
 */
export function grown(row, tokens) {
  if (!isCounted(row)) return row;
  const terms = row.terms.map((term) => {
    const written = !term.label.startsWith("cross.");
    const factor = (/** @type {(typeof term.factors)[number]} */ one) =>
      written && one.code === "tokens" ? { ...one, value: tokens } : one;
    return {
      ...term,
      factors: term.factors.filter(({ code }) => code !== "sequences").map(factor),
      bytes: String(BigInt(term.bytes) * BigInt(written ? tokens : 1)),
    };
  });
  return { ...row, terms, bytes: String(terms.reduce((sum, { bytes }) => sum + BigInt(bytes), 0n)) };
}

/**
 * What the run would hold as each kind of attention, when the model had read a token.
 *
 * @typedef {import("./reading.js").Reading<{ query: number }> & { kinds: Row[] }} KindsReading
 * @type {import("./reading.js").Reader<KindsReading>}
 */
export const kindsReader = {
  needs: () => ({ live: ["kv_live", {}] }),
  read({ trace, details }, selection) {
    const { held } = momentOf(trace, selection.query);
    /** @type {Live} */
    const live = details.live;
    const kinds = live.kinds.map((row) => grown(row, held));
    const counted = kinds.filter(isCounted);
    return {
      selection,
      kinds,
      at: `tokens=${held} own=${kinds.find(({ own }) => own)?.kind}`,
      values: Object.fromEntries(counted.map(({ kind, bytes }) => [kind, Number(bytes)])),
      whole: counted.map(({ kind }) => kind),
      rows: {
        kinds: () => ({
          keys: { kind: counted.map(({ kind }) => kind), tokens: counted.map(() => held) },
          columns: { bytes: counted.map(({ bytes }) => Number(bytes)) },
        }),
      },
    };
  },
};
