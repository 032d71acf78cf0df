// What a LLaMA's message says of its parts (visuals/payload.py), for the tests.

/**
 * @param {ArrayLike<number>} frequencies of its pairs
 * @param {number} neurons of each of its layers
 */
export const llamaParts = (
  frequencies,
  { layers = 1, neurons = 6, width = 2 * frequencies.length, scaling = 1 } = {},
) => ({
  norm_kind: "rms",
  norms: { attn_norm: "resid_in", ffn_norm: "resid_mid" },
  embed_norm: false,
  rotary: {
    inv_freq: { shape: [frequencies.length], data: Float32Array.from(frequencies) },
    attention_scaling: scaling,
    first: 0,
    interleaved: false,
  },
  bias: null,
  scale: width ** -0.5,
  latent: null,
  ffn: Array.from({ length: layers }, () => ({
    activation: "silu",
    gated: true,
    neurons,
    width: neurons,
    experts: 0,
    top_k: 0,
    shared: 0,
    scoring: null,
    normalised: false,
    scaling: 1,
    groups: 1,
    kept_groups: 1,
    group_best: 1,
    balanced: false,
  })),
});
