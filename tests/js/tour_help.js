// What the tests of the tours share: a run of three tokens, and the server's answers about it.

import { readFileSync } from "node:fs";
import { decodeAll } from "../../visuals/static/decode.js";
import { createStore } from "../../visuals/static/store.js";
import { lookUp } from "../../visuals/static/texts.js";
import { pack, runMessage } from "./payload_help.js";

globalThis.requestAnimationFrame = () => {};
globalThis.ResizeObserver = class {};
const { placesOf } = await import("../../visuals/static/tour/places.js");
const { tourOf } = await import("../../visuals/static/tour/tours.js");

export const TABLES = Object.fromEntries(
  ["en", "zh"].map((code) => [
    code,
    JSON.parse(readFileSync(new URL(`../../app/${code}.json`, import.meta.url), "utf8")),
  ]),
);

export const T = 3;
const skill = (name, y) => ({ name: `text:training.skill_${name}`, x: [0.5, 1, 1.5, 2].slice(0, y.length), y });
/** A training of two stages: induction leaps at 1.5 million tokens, counting is there at once, pronouns never come. */
export const TRAINING = {
  stages: [
    { number: 1, name: "text:training.stage_patterns", tokens: 0 },
    { number: 2, name: "my own", tokens: 1e6 },
  ],
  log: [
    ["patterns", 0.5e6, 2, 3.0],
    ["patterns", 1e6, 2, 2.0],
    ["my own", 1.5e6, 2, 1.5],
    ["my own", 2e6, 2, 1.0],
  ],
  answers: {
    data: [
      skill("induction", [0.1, 0.2, 0.95, 0.9]),
      skill("counting", [0.9, 0.2, 1, 1]),
      skill("pronouns", [0, 0.1, 0.2, 0.3]),
      skill("recall", []),
    ],
  },
  measured: [
    { name: "induction", language: "en", right: 190, cases: 200, bar: 0.98 },
    { name: "free stories", language: "zh", right: 150, cases: 200, bar: 0.95 },
    { name: "recall", language: "en", right: 200, cases: 200, bar: 0.95 },
  ],
};
export const ramp = (count, from = 0.1, by = 0.07) =>
  Array.from({ length: count }, (_, i) => Math.sin(from + by * i * i));
export const round = (array) => Float32Array.from(array);

/** A run of three tokens with values everywhere, and the server's answers about it. */
export function world({ changes = {}, id = "r" } = {}) {
  const q = ramp(4 * T * 4),
    k = ramp(2 * T * 4, 0.4, 0.11);
  const gate = ramp(6, 0.3, 0.5),
    up = ramp(6, 1, 0.3);
  const layer = {
    kind: "layer",
    run: id,
    layer: 1,
    q: pack(q, [4, T, 4]),
    k: pack(k, [2, T, 4]),
    top: { neuron: pack([3, 1, 3, 1, 3, 1], [T, 2], "u2"), gate: pack(ramp(6), [T, 2]), up: pack(ramp(6), [T, 2]) },
    neurons: { kind: "neurons", run: id, layer: 1, token: 2, gate: pack(gate), up: pack(up) },
  };
  const store = createStore();
  const message = runMessage([5, 6, 5], { layer, id, changes });
  Object.assign(message.model, {
    vocab_size: 9,
    d_model: 4,
    norm_eps: 1e-5,
    max_context: 64,
    attention_scaling: 1,
    dtype: "float32",
    device: "CPU",
    n_parameters: 500,
  });
  store.publish(message);
  const part = (kind, index, without, more) => ({ kind, layer: 1, index, without, loss: 1, ...more });
  const answers = {
    why: {
      target: 1,
      piece: " a",
      position: 2,
      probability: 0.6,
      first: { kind: "head", layer: 1, head: 2, key: 0, weight: 0.7 },
      look: {
        key: 0,
        heads: [
          { layer: 1, head: 2, weight: 0.7 },
          { layer: 0, head: 1, weight: 0.6 },
        ],
        without: 0.2,
        by_chance: [0.5, 0.55, 0.58],
      },
      parts: [part("head", 2, 0.3, { head: 2, key: 0, weight: 0.7 }), part("neuron", 3, 0.4)],
    },
    norm_vectors: { before: pack(ramp(T * 4, 0.9), [T, 4]), gamma: pack([1, 2, 0.5, 1.5]) },
    values: { v: pack(ramp(2 * T * 4, 0.2), [2, T, 4]) },
    head_write: { written: pack([3, 4, 0, 0]), stream: pack([0, 6, 8, 0]) },
    logit_terms: {
      heads: pack(ramp(4 * 4 * T, 0.3), [4, 4, T]),
      ffn: pack([0.5, 1, -0.25, 2]),
      logit: 2.5,
      total: 2.5,
      neurons: [
        { layer: 2, neuron: 1, value: -0.9 },
        { layer: 1, neuron: 3, value: 0.4 },
      ],
      embedding: 0,
      patched: 0,
    },
    score_terms: {
      terms: pack([1, -2, 0.5, 3], [2, 2]),
      sources: [{ kind: "embedding" }, { kind: "head", layer: 0, head: 1 }],
      score: 2.5,
      total: 2.5,
    },
    matching: {
      rival: 1,
      score: 2.5,
      rival_score: -1.5,
      term: 3,
      rival_term: 0.25,
      from_asked: 3.25,
      rival_from_asked: -0.25,
      n_terms: 4,
      asked: [],
      told: [{ layer: 0, head: 1, at: 0, key: 0, weight: 0.9 }],
      rival_told: null,
      other: { position: 2, id: 6, piece: " b", score: 0.5, rival_score: 0.75 },
    },
    ffn_written: {
      rows: [{ neuron: 3, norm: 0.7, column: 1, raised: [{ id: 1, piece: " a", by: 0.2 }], lowered: [] }],
      rest: 0,
      whole: 1,
    },
    lens: {
      ids: pack(
        [...Array(T * 3).fill(2), ...Array(T * 2).fill(1)].flatMap((one) => [one, 3]),
        [5, T, 2],
        "i4",
      ),
      targets: pack([1, 1, 1], [T], "i4"),
      rank: pack([...Array(T * 3).fill(4), ...Array(T * 2).fill(0)], [5, T], "i4"),
      probability: pack(
        Array.from({ length: 5 * T }, (_, i) => i / 20),
        [5, T],
      ),
      names: { ids: [1, 2, 3], pieces: [" a", " b", " c"] },
    },
    kv_live: {
      tokens: T,
      bytes: 768,
      kinds: ["MHA", "GQA", "MQA", "MLA"].map((kind, i) => ({
        kind,
        own: i === 1,
        bytes: String(512 >> i),
        latent: i === 3 ? [16, 2] : null,
      })),
    },
    training: TRAINING,
  };
  const card = { name: "Big", n_layers: 32, n_heads: 32, n_kv_heads: 8, head_dim: 128, max_context: 16384 };
  const calculated = {
    kv: ({ tokens }) => ({
      model: "Big",
      tokens,
      batch: 1,
      dtype: "bf16",
      per_token: "131072",
      bytes: String(131072 * tokens),
      card,
      kinds: [{ kind: "MHA", bytes: String(4 * 131072 * tokens) }],
      terms: [],
    }),
    kv_models: () => ({ models: [card], formats: [], families: [] }),
  };
  const settings = {};
  const glass = {
    state: store.state,
    settings: {
      get: (name) => settings[name] ?? {},
      set: (name, values) => {
        settings[name] = values;
      },
    },
    detail(what, params = {}, { details } = store.state.trace) {
      const key = `${what} ${JSON.stringify(params)}`;
      if (!details.has(key) && answers[what]) details.set(key, decodeAll(answers[what]));
      return details.get(key) ?? null;
    },
    change: () => {},
    repaint() {},
    on: store.on,
    select: store.select,
    text: (key, params) => lookUp(TABLES.en, key, params),
    calculate: async (what, params) => ({ data: calculated[what](params) }),
  };
  return { glass, store, answers, raw: { q: round(q), k: round(k), gate: round(gate), up: round(up) } };
}

export const foundIn = ({ glass, answers }) => placesOf(decodeAll(answers.why), glass.state);
export const at = (name, made) => {
  const tour = tourOf(name);
  const stop = tour.stops.find((one) => one.name === name);
  const found = tour.places ? foundIn(made) : made.glass.state.trace;
  made.store.select(stop.select(found, made.glass));
  return stop.told(made.glass, found);
};
export const valuesOf = (told) =>
  Object.fromEntries(Object.entries(told.numbers).map(([name, { value }]) => [name, value]));
