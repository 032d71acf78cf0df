// Messages as visuals/payload.py makes them, small, for the tests of the store.

import { llamaParts } from "./parts_help.js";

export const pack = (values, shape = [values.length], dtype = "f4") => {
  const View = { f4: Float32Array, u2: Uint16Array, f2: Uint16Array, i4: Int32Array, u1: Uint8Array }[dtype];
  return { dtype, shape, data: Buffer.from(View.from(values).buffer).toString("base64") };
};

/** The parts as a message holds them. */
function packedParts() {
  const parts = llamaParts([1, 0.1], { layers: 4 });
  return { ...parts, rotary: { ...parts.rotary, inv_freq: pack([1, 0.1]) } };
}

const zeros = (...shape) => pack(new Array(shape.reduce((a, b) => a * b, 1)).fill(0), shape);

export const layerMessage = (layer, T = 3, token = T - 1) => ({
  kind: "layer",
  run: "r",
  layer,
  q: zeros(4, T, 4),
  k: zeros(2, T, 4),
  top: { neuron: pack(new Array(T * 2).fill(1), [T, 2], "u2"), gate: zeros(T, 2), up: zeros(T, 2) },
  neurons: { kind: "neurons", run: "r", layer, token, gate: zeros(6), up: zeros(6) },
});

export const layersMessage = (layers, token = 2) => ({
  kind: "layers",
  run: "r",
  layers: layers.map((layer) => layerMessage(layer, 3, token)),
});

const next = () => ({ ids: [1, 2], pieces: ["a", "b"], logits: pack([2, 1]), log_z: 2.5, vocab_size: 9, tail: 0.2 });

export const stepMessage = (index, id = 7) => ({
  index,
  id,
  piece: "x",
  probability: 0.5,
  drawn_probability: 0.6,
  cache_bytes: 128,
  cache_tokens: 3,
  seconds: 0.01,
  stop: null,
  next: next(),
  own: true,
});

export const runMessage = (ids = [5, 6, 7], more = {}) => ({
  kind: "run",
  id: "r",
  prompt: "p",
  n_prompt: ids.length,
  model: {
    name: "m",
    n_layers: 4,
    eos_ids: [],
    n_parameters: 4000,
    n_heads: 4,
    n_kv_heads: 2,
    head_dim: 4,
    ffn_hidden: 6,
    parts: packedParts(),
  },
  tokens: { ids, pieces: ids.map(String) },
  rms: { attn: zeros(4, ids.length), ffn: zeros(4, ids.length), final: zeros(ids.length) },
  mean: { attn: null, ffn: null, final: null },
  next: next(),
  layer: layerMessage(0, ids.length),
  steps: [],
  seconds: 0.02,
  sinks: [],
  ...more,
});

/** Neurons of three tokens, six each: gate 0, 1, 2, … and up 0. */
export const allNeurons = (layer) => ({
  kind: "neurons",
  run: "r",
  layer,
  token: null,
  gate: pack(
    Array.from({ length: 18 }, (_, i) => i),
    [3, 6],
  ),
  up: zeros(3, 6),
});
