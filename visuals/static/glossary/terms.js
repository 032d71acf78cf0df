// The terms that the page explains, from text to word, and the panel on which a run shows each. Their words are in the
// texts' section "glossary": the name, <name>_forms and <name>_means.

/** @typedef {import("../types.d.ts").Glass} Glass */

/** @param {Glass} glass */
const openWhy = (glass) => glass.settings.set("why", { ...glass.settings.get("why"), open: "1" });

/**
 * @typedef {{
 *   name: string;
 *   chapter: string;
 *   panel: string;
 *   part?: string;
 *   set?: (glass: Glass) => void;
 * }} Term
 *   `part`: the name of what is meant inside the panel (panel-parts.js); `set`: what is opened in it first
 */

/** @type {(chapter: string, panel: string, names: string[], more?: Pick<Term, "part" | "set">) => Term[]} */
const at = (chapter, panel, names, more = {}) => names.map((name) => ({ name, chapter, panel, ...more }));

/** @type {Term[]} */
export const TERMS = [
  ...at("token", "merges", ["token", "bpe"]),
  ...at("overview", "overview", ["embedding"]),
  ...at("norm", "norm-vector", ["channel", "rmsnorm", "gamma"]),
  ...at("overview", "residual", ["stream"]),
  ...at("position", "rope", ["query", "key", "rope"]),
  ...at("norm", "norm-vector", ["layernorm"]),
  ...at("norm", "norm-kinds", ["batchnorm"]),
  ...at("norm", "norm-placement", ["pre_norm", "post_norm", "deepnorm"]),
  ...at("position", "rope-score", ["position", "context", "alibi"]),
  ...at("position", "position-kinds", ["sinusoidal", "absolute_position", "relative_position"]),
  ...at("attend", "heads", ["head", "sink", "induction_head", "same_entity", "answer_to_place"]),
  ...at("attend", "attention", ["kv_head", "gqa", "weight", "mask"]),
  ...at("attend", "attention-kinds", ["multi_head", "multi_query"]),
  ...at("attend", "token-groups", ["local_attention"]),
  ...at("attend", "sparse-attention", ["sparse_attention"]),
  ...at("attend", "mask-kinds", ["autoregressive"]),
  ...at("attend", "cell", ["score", "softmax"], { part: "steps" }),
  ...at("attend", "cell", ["value", "w_o"], { part: "carried" }),
  ...at("ffn", "swiglu", ["ffn", "swiglu", "gate", "up"]),
  ...at("ffn", "ffn-token", ["neuron", "down"]),
  ...at("ffn", "ffn-tokens", ["activation"]),
  ...at("ffn", "activation-kinds", ["activation_function", "relu", "gelu", "silu", "glu"]),
  ...at("ffn", "routing-kinds", ["capacity", "load_balancing"]),
  ...at("choice", "sampling", ["temperature", "top_k", "top_p", "sampling"]),
  ...at("choice", "lens", ["lens"]),
  ...at("choice", "contributions", ["unembedding"]),
  ...at("glance", "next", ["logit", "probability"]),
  ...at("glance", "why", ["nat"], { set: openWhy }),
  ...at("overview", "training", ["held_out"]),
  ...at("kv", "kv-live", ["kv_cache", "prefill", "decode"]),
  ...at("kv", "kv-calculator", ["bf16"]),
  ...at("kv", "kv-kinds", ["mla", "latent"]),
  ...at("families", "families", ["expert", "router", "encoder", "decoder", "cross_attention", "prefix_mask"], {
    part: "table",
  }),
  ...at("compare", "compare", ["ablation"]),
  ...at("choice", "causal-map", ["patching"]),
  ...at("glance", "why", ["circuit", "node", "attribution"], { part: "circuit", set: openWhy }),
];

/**
 * @param {string} name
 * @returns {Term | undefined}
 */
export const termOf = (name) => TERMS.find((term) => term.name === name);
