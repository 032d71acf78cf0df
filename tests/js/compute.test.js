// The arithmetic of attention, rotation and neurons against reference.json (NumPy; make_reference.py) and numbers
// worked out by hand.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { makeMap, readHead } from "../../visuals/static/marks/attention-values.js";
import * as activations from "../../visuals/static/activations.js";
import * as arrays from "../../visuals/static/arrays.js";
import * as attention from "../../visuals/static/compute.js";
import * as rotation from "../../visuals/static/rotation.js";
import { llamaParts } from "./parts_help.js";

const compute = { ...activations, ...arrays, ...attention, ...rotation };

const reference = JSON.parse(readFileSync(new URL("reference.json", import.meta.url), "utf8"));
const array = (shape, values) => ({ shape, data: Float32Array.from(values) });
const model = {
  ...reference.model,
  parts: llamaParts(reference.inv_freq, { scaling: reference.model.attention_scaling }),
};
const rotary = (frequencies, scaling) => llamaParts(frequencies, { scaling }).rotary;
const freshLayer = () => ({ q: array(reference.shapes.q, reference.q), k: array(reference.shapes.k, reference.k) });
const [heads, T] = reference.shapes.q;

/** Every value of two lists agrees within `tolerance`. */
function close(actual, expected, tolerance = 1e-6) {
  assert.equal(actual.length, expected.length);
  Array.from(actual).forEach((value, i) =>
    assert.ok(Math.abs(value - expected[i]) <= tolerance, `${i}: ${value} against ${expected[i]}`),
  );
}

test("rotation of every head and position agrees with complex numbers", () => {
  const layer = freshLayer();
  const q = Array.from({ length: heads }, (_, head) => [...compute.rotatedHead(layer, model, "q", head)]).flat();
  const k = Array.from({ length: 2 }, (_, head) => [...compute.rotatedHead(layer, model, "k", head)]).flat();
  close(q, reference.q_rot);
  close(k, reference.k_rot);
});

test("a quarter turn sends (1, 0) to (0, 1), in the half-split layout", () => {
  close(compute.rotate([1, 5, 0, 7], 1, rotary([Math.PI / 2, 0])), [0, 5, 1, 7], 1e-7);
  close(compute.rotate([1, 0], 0, rotary([0.3])), [1, 0]);
  close(compute.rotate([3, 4], 0, rotary([0.3], 2)), [6, 8]);
});

test("rotation keeps a pair's length, and a score depends on the distance alone", () => {
  const turned = compute.rotate([3, 4], 123, rotary([0.7]));
  assert.ok(Math.abs(Math.hypot(...turned) - 5) < 1e-12);
  const dot = (m, n) => {
    const [a, b] = [compute.rotate([1, 2], m, rotary([0.5])), compute.rotate([-3, 1], n, rotary([0.5]))];
    return a[0] * b[0] + a[1] * b[1];
  };
  assert.ok(Math.abs(dot(9, 4) - dot(25, 20)) < 1e-12);
});

test("scores and weights of every head and query agree with NumPy; query heads share their K/V head", () => {
  const layer = freshLayer();
  for (let head = 0; head < heads; head++) {
    for (let query = 0; query < T; query++) {
      const found = compute.attention(layer, model, head, query);
      close(compute.scores(layer, model, head, query), reference.scores[head][query].slice(0, query + 1));
      close(found, reference.weights[head][query].slice(0, query + 1));
      assert.ok(Math.abs(found.reduce((a, b) => a + b) - 1) < 1e-12);
    }
  }
  assert.deepEqual(
    [0, 1, 2, 3].map((head) => compute.kvHead(model, head)),
    [0, 0, 1, 1],
  );
});

test("a row tells the parts of its softmax", () => {
  const { scores, weights, top, total } = compute.row(freshLayer(), model, 1, 4);
  scores.forEach((score, i) => assert.ok(Math.abs(Math.exp(score - top) / total - weights[i]) < 1e-12));
});

test("the pairs' terms sum to q·k", () => {
  const layer = freshLayer();
  const width = model.head_dim;
  const q = compute.rotatedHead(layer, model, "q", 3).subarray(5 * width, 6 * width);
  const k = compute.rotatedHead(layer, model, "k", 1).subarray(2 * width, 3 * width);
  const terms = compute.pairTerms(q, k, model.parts.rotary);
  assert.equal(terms.length, width / 2);
  const sum = terms.reduce((a, b) => a + b);
  assert.ok(Math.abs(sum / Math.sqrt(width) - reference.scores[3][5][2]) < 1e-6);
});

test("a map in slices holds every weight, and a pooled one the largest of each block", () => {
  const layer = freshLayer();
  const [whole, pooled] = [1, 3].map((block) => makeMap([readHead(layer, model, 2)], block));
  while (!whole.work(performance.now() + 1) || !pooled.work(performance.now() + 1));
  // the mask hides the rest
  const seen = (map) => Array.from(map.values, (weight) => (Number.isNaN(weight) ? 0 : weight));
  close(seen(whole), reference.weights[2].flat());
  const block = (r, c) =>
    Math.max(...[0, 1, 2].flatMap((i) => reference.weights[2][3 * r + i].slice(3 * c, 3 * c + 3)));
  close(seen(pooled), [block(0, 0), 0, block(1, 0), block(1, 1)]);
});

test("softmax survives large scores", () => {
  close(compute.softmax([1000, 1000, 1000 + Math.log(2)]), [0.25, 0.25, 0.5], 1e-12);
});

test("SiLU and the SwiGLU product, by hand", () => {
  assert.equal(compute.silu(0), 0);
  close([compute.silu(1), compute.silu(-1), compute.silu(-800)], [0.7310585786, -0.2689414214, 0], 1e-9);
  const neurons = { gate: array([2], [1, -1]), up: array([2], [2, 3]), weight: null, ffn: { activation: "silu" } };
  close(compute.inner(neurons).product, [1.4621171573, -0.8068242642], 1e-9);
  const routed = compute.inner({ ...neurons, weight: array([2], [0.5, NaN]) }).product;
  assert.ok(Math.abs(routed[0] - 0.7310585786) < 1e-9 && Number.isNaN(routed[1]));
});

test("GELU, exact and by tanh, and ReLU against PyTorch's values; without a gate up itself is activated", () => {
  const { gelu, gelu_new: byTanh, relu } = compute.ACTIVATIONS;
  close(
    [-3, -0.5, 0.1, 1, 4.5].map(gelu),
    [-0.0040496941, -0.1542687693, 0.0539827837, 0.8413447461, 4.4999847105],
    1e-9,
  );
  close(
    [-3, -0.5, 0.1, 1, 4.5].map(byTanh),
    [-0.0036373921, -0.1542859902, 0.053982751, 0.8411919906, 4.4999948633],
    1e-9,
  );
  close([compute.erf(-7), compute.erf(0), compute.erf(2.5)], [-1, 0, 0.999593047982555], 1e-15);
  close([relu(-2), relu(3)], [0, 3]);
  const { activated, product } = compute.inner({
    gate: null,
    up: array([2], [1, -0.5]),
    weight: null,
    ffn: { activation: "gelu" },
  });
  close(product, [0.8413447461, -0.1542687693], 1e-7);
  close(activated, product);
});

test("part of a head turned in interleaved pairs, a bias by distance, another scale, keys turned already", () => {
  const parts = {
    rotary: { ...rotary([Math.PI / 2]), first: 1, interleaved: true },
    bias: array([1, 3], [0, -1, -2]),
    scale: 0.5,
  };
  const own = { n_heads: 1, n_kv_heads: 1, head_dim: 4, parts };
  close(compute.rotate([9, 1, 0, 7], 1, parts.rotary), [9, 0, 1, 7], 1e-7);
  assert.deepEqual(
    [0, 1, 2, 3].map((channel) => compute.pairOf(parts.rotary, channel)),
    [null, 0, 0, null],
  );
  const q = array([1, 3, 4], [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 2]);
  const layer = { q, k: null, kRot: array([1, 3, 4], [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]) };
  // q at position 2 is (1, -1, 0, 2); · k = 1, -1, 2; · 0.5, less 2, 1 and 0
  close(compute.scores(layer, own, 0, 2), [-1.5, -1.5, 1], 1e-7);
  close([compute.unrotatedTerm([1, -1, 0, 2], [3, 1, 0, 1], parts.rotary)], [5]);
  close(compute.pairTerms([1, -1, 0, 2], [3, 1, 5, 1], parts.rotary), [-1]);
});

test("candidates have their probability over the whole vocabulary, and all rows with the others sum to 1", () => {
  const shown = reference.order.slice(0, 20);
  const next = {
    ids: shown,
    pieces: shown.map(String),
    logits: { shape: [20], data: Float64Array.from(shown, (id) => reference.logits[id]) },
    logZ: reference.log_z,
    vocabSize: 50,
    tail: reference.order.slice(20).reduce((sum, id) => sum + reference.probabilities[id], 0),
  };
  const { rows, others } = compute.topCandidates(next, 8);
  close(
    rows.map((r) => r.probability),
    shown.slice(0, 8).map((id) => reference.probabilities[id]),
    1e-12,
  );
  assert.equal(others.count, 42);
  assert.ok(Math.abs(rows.reduce((sum, r) => sum + r.probability, others.probability) - 1) < 1e-12);
});

test("panels speak of the strongest neuron of the token where none is selected", () => {
  const top = { neuron: { shape: [2, 3], data: [5, 1, 9, 7, 0, 2] } };
  assert.deepEqual(
    [0, 1].map((token) => compute.strongestNeuron({ top }, token)),
    [5, 7],
  );
});

test("strongest and pooled columns go by magnitude", () => {
  assert.deepEqual(compute.strongest([1, -5, 3, 5], 3), [1, 3, 2]);
  assert.deepEqual(compute.poolColumns([1, -5, 3, 2, 0, -1], 3), [1, 2, 5]);
  assert.deepEqual(compute.poolColumns([7, 8], 9), [0, 1]);
});

test("frequencies in words: angle in float32, wavelength in tokens", () => {
  assert.equal(compute.angle(3, 0.1), Math.fround(0.3));
  assert.ok(Math.abs(compute.wavelength(1) - 6.283185307) < 1e-9);
});
