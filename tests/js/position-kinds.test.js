// The kinds of positions on one row: the formulas by hand, and what shuffling the other tokens changes.

import assert from "node:assert/strict";
import test from "node:test";

import { scores as ownScores } from "../../visuals/static/compute.js";
import {
  alibiSlopes,
  placesOf,
  positionKinds,
  sinusoid,
  waveOf,
} from "../../visuals/static/readings/position-kinds.js";
import { savedRows } from "../../visuals/static/readings/reading.js";
import { llamaParts } from "./parts_help.js";

const [TOKENS, HEADS, KV, WIDTH, D] = [7, 4, 2, 4, 8];
const wave = (count, step) => Float32Array.from({ length: count }, (_, i) => Math.sin(step * (i + 1)) * 2);
const array = (shape, step) => ({
  shape,
  data: wave(
    shape.reduce((a, b) => a * b, 1),
    step,
  ),
});
const near = (a, b, message) => assert.ok(Math.abs(a - b) < 1e-6, `${message ?? ""} ${a} is not ${b}`);

const parts = { ...llamaParts([1, 0.1]), causal: true, buckets: null };
const model = { n_layers: 1, n_heads: HEADS, n_kv_heads: KV, head_dim: WIDTH, d_model: D, max_context: 64, parts };
const held = { q: array([HEADS, TOKENS, WIDTH], 0.7), k: array([KV, TOKENS, WIDTH], 1.2), kRot: null };
const trace = { model, T: TOKENS, tokens: { pieces: [..."abcdefg"] } };
const at = { layer: 0, head: 3, query: 5, key: 2, heads: null, order: 1 };
const added = { q: array([TOKENS, WIDTH], 0.3), k: array([TOKENS, WIDTH], 0.4), norm: null };
const learned = {
  model: "T5",
  bias: array([2, TOKENS], 0.9),
  bucket: { shape: [TOKENS], data: new Uint16Array(TOKENS) },
};
const read = (found, more = {}, run = { trace, held }) =>
  positionKinds.read({ ...run, details: { found } }, { ...at, ...more });

test("sinusoids and slopes by hand", () => {
  near(sinusoid(3, 0, 8), Math.sin(3));
  near(sinusoid(3, 5, 8), Math.cos(3 * 10_000 ** (-4 / 8)));
  near(waveOf(1, 4), 0.01);
  assert.deepEqual(
    alibiSlopes(8),
    [1, 2, 3, 4, 5, 6, 7, 8].map((i) => 2 ** -i),
  );
  alibiSlopes(12)
    .slice(8)
    .forEach((slope, i) => near(slope, 2 ** -(0.5 + i), "12 heads")); // every other one of sixteen heads
  assert.deepEqual(alibiSlopes(1), [2 ** -8]);
  assert.equal(alibiSlopes(112).length, 112);
});

test("an order leaves one token where it is, moves others, and comes back by its number", () => {
  for (const order of [1, 2, 77]) {
    for (const [count, fixed] of [
      [7, 6],
      [7, 0],
      [3, 2],
      [512, 100],
    ]) {
      const places = placesOf(count, fixed, order);
      assert.deepEqual(
        [...places].sort((a, b) => a - b),
        places.map((_, i) => i),
      );
      assert.equal(places[fixed], fixed);
      assert.ok(places.some((place, token) => place !== token));
      assert.deepEqual(placesOf(count, fixed, order), places);
    }
  }
  assert.deepEqual(placesOf(1, 0, 1), [0]);
  assert.deepEqual(placesOf(2, 1, 1), [0, 1]);
});

test("without positions nothing changes; the network's own kind is what it computes", () => {
  const reading = read({ added, learned });
  const { values, kinds, places, terms } = reading;
  assert.equal(values.change_none, 0);
  near(values.moved_none, 0);
  for (const kind of ["sinusoidal", "relative", "alibi", "rope"]) assert.ok(values[`change_${kind}`] > 0.01, kind);
  ownScores(held, model, at.head, at.query).forEach((score, key) => near(kinds[4].scores[key], score));
  assert.deepEqual(
    kinds.map(({ own }) => own),
    [false, false, false, false, true],
  );
  near(
    terms.reduce((a, b) => a + b),
    values.score_sinusoidal / parts.scale,
  );
  near(values.score_alibi, values.score_none - 3 * alibiSlopes(4)[3]);
  near(values.score_relative, values.score_none + learned.bias.data[(3 % 2) * TOKENS + 3]);
  near(read({ added, learned }, { heads: 2 }).values.score_alibi, values.score_none - 3 * alibiSlopes(2)[1]);
  const [names, ...lines] = savedRows(reading);
  assert.equal(lines.length, 6);
  assert.deepEqual(names.slice(0, 3), ["key", "piece", "place_in_other_order"]);
  assert.deepEqual(
    lines.map((line) => line[2]),
    places,
  );
});

test("what a network has not is left out, and a norm after the sum is applied", () => {
  const bare = read({ added: null, learned: null });
  assert.ok(Number.isNaN(bare.values.score_sinusoidal) && Number.isNaN(bare.values.score_relative));
  assert.equal(savedRows(bare)[0].filter((name) => /sinusoidal|relative/.test(name)).length, 0);
  assert.equal(bare.terms, null);
  const ones = { shape: [WIDTH], data: new Float32Array(WIDTH).fill(1) };
  const rows = (name, head) => ({
    shape: [TOKENS, WIDTH],
    data: held[name].data.subarray(head * TOKENS * WIDTH, (head + 1) * TOKENS * WIDTH),
  });
  const norm = { q: rows("q", 3), k: rows("k", 1), q_gamma: ones, k_gamma: ones, eps: 0 };
  const found = read({ added: { ...added, norm }, learned: null });
  assert.equal(found.terms, null);
  const unit = (name, token) => {
    const sum = Array.from(
      { length: WIDTH },
      (_, i) => norm[name].data[token * WIDTH + i] + added[name].data[token * WIDTH + i],
    );
    const rms = Math.sqrt(sum.reduce((total, x) => total + x * x, 0) / WIDTH);
    return sum.map((x) => x / rms);
  };
  const [q, k] = [unit("q", at.query), unit("k", at.key)];
  near(found.values.score_sinusoidal, q.reduce((sum, x, i) => sum + x * k[i], 0) * parts.scale);
});

test("a network that sees all counts ALiBi's distance both ways, and one without RoPE gets LLaMA's", () => {
  const bias = { shape: [HEADS, TOKENS], data: wave(HEADS * TOKENS, 0.2) };
  const other = {
    ...parts,
    causal: false,
    rotary: null,
    bias,
    bias_after: bias,
    buckets: { before: bias, after: bias },
  };
  const run = { trace: { ...trace, model: { ...model, parts: other } }, held };
  const reading = read({ added, learned: null }, { key: 6, query: 2 }, run);
  assert.equal(reading.kinds[0].scores.length, TOKENS);
  near(reading.values.score_alibi, reading.values.score_none - 4 * alibiSlopes(4)[3]);
  near(reading.values.score_relative, reading.values.score_none + bias.data[3 * TOKENS + 4]);
  assert.ok(reading.kinds[2].own && !reading.kinds[4].own);
});
