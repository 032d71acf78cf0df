// What other norms make of a run's vectors, and what becomes of the stream where norms stand elsewhere.
import assert from "node:assert/strict";
import test from "node:test";

import { figuresOf, normKinds, ratioOf } from "../../visuals/static/readings/norm-kinds.js";
import { chainsOf, deepScales, normPlacement } from "../../visuals/static/readings/norm-placement.js";
import { stretchOf } from "../../visuals/static/readings/stretch.js";
import { llamaParts } from "./parts_help.js";

const close = (a, b, message) => assert.ok(Math.abs(a - b) < 1e-6, `${message ?? ""} ${a} is not ${b}`);
const rows = (shape, ...values) => ({ shape, data: Float32Array.from(values) });

test("a stretch of tokens is as long as the bytes allow, and ends with the run", () => {
  assert.deepEqual(stretchOf(12, 1000, 7), { first: 0, count: 12 });
  assert.deepEqual(stretchOf(250, 4000, 7), { first: 0, count: 100 });
  assert.deepEqual(stretchOf(250, 4000, 100), { first: 100, count: 100 });
  assert.deepEqual(stretchOf(250, 4000, 249), { first: 200, count: 50 });
  assert.deepEqual(stretchOf(250, 4000, 900), { first: 200, count: 50 }); // a token that another run has
  assert.deepEqual(stretchOf(3, 1e9, 2), { first: 2, count: 1 });
});

const EPS = 0.5;
const model = { d_model: 4, norm_eps: EPS, n_layers: 8, parts: llamaParts([1], { layers: 8 }) };
const trace = { T: 2, model };
/** Tokens (1, 2, 3, 6) and (3, 2, 5, −2): channel means 2, 2, 4, 2, variances 1, 0, 1, 16. */
const answer = {
  first: 0,
  before: rows([2, 4], 1, 2, 3, 6, 3, 2, 5, -2),
  mean: rows([4], 2, 2, 4, 2),
  variance: rows([4], 1, 0, 1, 16),
  branch: rows([2, 4], 0, 0, 0, 0, 1, 1, -1, -1),
  alpha: 2,
};
const at = { norm: "attn", layer: 1, query: 0, channel: null, alone: false, outside: false };
const read = (more, found = answer) => normKinds.read({ trace, details: { answer: found } }, { ...at, ...more });

test("four norms of one vector, by hand", () => {
  const { values, kinds, selection, at: place } = read({});
  assert.equal(place, "layer 1 attn token 0 channel 3");
  assert.equal(selection.channel, 3); // the largest
  close(values.to_batch, (6 - 2) / Math.sqrt(16 + EPS));
  close(values.mean, 3);
  close(values.deviation, Math.sqrt((4 + 1 + 0 + 9) / 4 + EPS));
  close(values.to_layer, 3 / Math.sqrt(3.5 + EPS));
  close(values.rms, Math.sqrt(50 / 4 + EPS));
  close(values.to_rms, 6 / Math.sqrt(12.5 + EPS));
  const apart = [0, 1, 2, 3].map((c) => kinds.outputs.layer[c] - kinds.outputs.rms[c]);
  close(values.layer_apart, Math.hypot(...apart) / Math.hypot(...kinds.outputs.rms));
});

test("DeepNorm makes the stream larger, not the branch", () => {
  const { values } = read({ query: 1, channel: 2 }); // 2·(3, 2, 5, −2) + (1, 1, −1, −1) = (7, 5, 9, −5), mean 4
  close(values.deep_mean, 4);
  close(values.deep_deviation, Math.sqrt((9 + 1 + 25 + 81) / 4 + EPS));
  close(values.to_deep, 5 / Math.sqrt(29 + EPS));
});

test("alone in its batch a token is all 0", () => {
  const { values, kinds, at: place } = read({ alone: true });
  assert.equal(place, "layer 1 attn token 0 channel 3 alone");
  assert.deepEqual([...kinds.outputs.batch], [0, 0, 0, 0]);
  close(values.batch_deviation, Math.sqrt(EPS));
  close(values.batch_apart, 1);
});

test("ε outside the root is added to the RMS", () => close(read({ outside: true }).values.rms, Math.sqrt(12.5) + EPS));

test("after the final norm nothing is added, and there is no DeepNorm", () => {
  const reading = read({ norm: "final" }, { ...answer, branch: null });
  assert.equal(reading.values.to_deep, undefined);
  assert.deepEqual(
    figuresOf(reading.kinds, 3).map(({ kind }) => kind),
    ["batch", "layer", "rms"],
  );
  assert.deepEqual(Object.keys(reading.rows.channels().columns), ["x", "batch_norm", "layer_norm", "rms_norm"]);
  assert.deepEqual(normKinds.needs(trace, { ...at, norm: "final" }).answer[1], {
    layer: 0,
    norm: "final",
    first: 0,
    count: 2,
  });
});

test("α and β follow from the depth, by the stack", () => {
  assert.deepEqual(deepScales(null, 8, null), { alpha: 2, beta: 64 ** -0.25 });
  assert.deepEqual(deepScales("decoder", 27, null), { alpha: 3, beta: 324 ** -0.25 });
  const { alpha, beta } = deepScales("encoder", 16, 16);
  close(alpha, 0.81 * 2 ** 1.25);
  close(beta, 0.87 * 2 ** -1.25);
});

/** A stream (3, 1) to which (1, −1) and (0, 2) are added: less their means (1, −1), (1, −1) and (−1, 1). */
const added = {
  first: 4,
  layers: [0, 0],
  parts: ["attn", "ffn"],
  lengths: rows([1, 3], Math.sqrt(10), 4, Math.sqrt(20)),
  mean: rows([1], 2),
  products: rows([1, 6], 2, 2, 2, -2, -2, 2),
  decoder_layers: null,
};
const narrow = { d_model: 2, norm_eps: 0, n_layers: 8, parts: llamaParts([1]) };

test("the stream under each placement, by hand", () => {
  const chains = chainsOf(added, 0, narrow, 3);
  const all = (name, lengths, kept) => {
    lengths.forEach((value, i) => close(chains[name].lengths[i], value, `${name} ${i}`));
    kept.forEach((value, i) => close(chains[name].kept[i], value, `${name} kept ${i}`));
  };
  all("pre", [Math.sqrt(10), 4, Math.sqrt(20)], [1, 1, 1]);
  // (3, 1) + (1, −1) = (4, 0), of which LN makes (1, −1) = (4, 0)/2 less its mean; + (0, 2) = (1, 1), deviation 0
  assert.equal(chains.post.kept[1], 0.5);
  all("sandwich", [Math.sqrt(10), Math.sqrt(16 + 0), Math.sqrt(10)], [1, 1, 1]); // (3, 1), (4, 0), (3, 1)
  // 3·(1, −1) + (1, −1) = (4, −4), σ = 4: kept 3/4. 3·(1, −1) + (−1, 1) = (2, −2), σ = 2: kept 3/4 · 3/2
  all("deep", [Math.sqrt(10), Math.SQRT2, Math.SQRT2], [1, 3 / 4, 9 / 8]);
  // (1, −1) + 3·(1, −1) = (4, −4), σ = 4: kept 1/4. (1, −1) + 3·(−1, 1) = (−2, 2), σ = 2: kept 1/8
  all("branch", [Math.sqrt(10), Math.SQRT2, Math.SQRT2], [1, 1 / 4, 1 / 8]);
});

test("α is worked out for the depth that is chosen, else for the network's own", () => {
  const at = { trace: { model: narrow }, details: { answer: added } };
  assert.equal(normPlacement.read(at, { query: 4, depth: null }).values.alpha, 2);
  const { values, at: place } = normPlacement.read(at, { query: 4, depth: 648 });
  assert.equal(values.alpha, 6);
  assert.equal(place, "token 4 depth 648");
  assert.deepEqual(normPlacement.needs({ T: 9, model: narrow }, { query: 4 }), {
    answer: ["norm_placement", { first: 0, count: 9 }],
  });
});

test("times are compared where the middle half of neither spans more than a factor of three", () => {
  const steady = { median: 300, low: 200, high: 600 };
  assert.equal(ratioOf({ median: 150, low: 149, high: 151 }, steady), 0.5);
  assert.equal(ratioOf({ median: 498, low: 66.4, high: 1670 }, steady), null);
  assert.equal(ratioOf(steady, { median: 498, low: 66.4, high: 1670 }), null);
});
