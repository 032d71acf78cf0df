// @ts-check
// What a number of K/V heads takes, and which one is read.

import assert from "node:assert/strict";
import test from "node:test";

import { namesBeside, RADIUS } from "../../visuals/static/panels/attend/dot-names.js";
import { costOf, kindsReader, latentCost } from "../../visuals/static/readings/attention-kinds.js";

const MODEL = { n_layers: 32, d_model: 4096, n_heads: 32, n_kv_heads: 8, head_dim: 128, dtype: "bfloat16" };

test("Llama-3 8B's cache, and its W_K and W_V", () => {
  const { bytes, products } = costOf(MODEL, 8, 10);
  assert.equal(bytes, 131_072); // 128 KiB a token
  assert.equal(products.keys + products.values, 10 * 2 * 4096 * 1024);
  assert.deepEqual(costOf(MODEL, 1, 10).products.scores, products.scores);
});

test("a latent is counted once for keys and values", () => {
  const { bytes, products } = latentCost(MODEL, 512, 10);
  assert.equal(bytes, 32 * 512 * 2);
  assert.deepEqual([products.keys, products.values], [10 * 4096 * 512, 10 * 512 * 2 * 1024]);
});

const measured = (/** @type {number} */ count) => ({ count, kl: 0, p_answer: 0.5, best: " a", p_best: 0.5 });
const left = (/** @type {number} */ count) => ({ count, kl: null, p_answer: null, best: null, p_best: null });

test("without a choice it is MQA, or MHA where MQA is what the network has", () => {
  const found = { answer: " a", p: 0.5, done: 4, heads: [1, 8, 32].map(measured), latents: [measured(4), left(8)] };
  const read = (/** @type {object} */ model, /** @type {number} */ heads, rank = 0) =>
    kindsReader.read(/** @type {any} */ ({ trace: { model, T: 10 }, details: { found } }), { heads, rank });
  assert.equal(read(MODEL, 0).chosen.name, "mqa");
  assert.equal(read(MODEL, 8).chosen.repeated, true);
  assert.equal(read({ ...MODEL, n_kv_heads: 1 }, 0).chosen.name, "mha");
  assert.equal(read(MODEL, 5).chosen.heads, 1); // an address may say anything
  assert.equal(read(MODEL, 8, 4).chosen.rank, 4);
  assert.ok(Number.isNaN(read(MODEL, 0, 8).chosen.kl)); // not measured so far
});

test("what rounding leaves between two passes that compute the same is no distance", () => {
  const kinds = [1, 8, 32].map(measured);
  const found = { answer: " a", p: 0.5, done: 5, heads: kinds, latents: [measured(4), { ...measured(10), kl: 5e-15 }] };
  const run = /** @type {any} */ ({ trace: { model: MODEL, T: 10 }, details: { found } });
  assert.equal(kindsReader.read(run, { heads: 0, rank: 10 }).chosen.kl, 0);
});

test("the last part that is here is read, and the next one is asked for", () => {
  const part = (/** @type {number} */ done) => ({ done, heads: [1, 2, 4].map(measured), latents: [measured(1)] });
  const known = /** @type {Record<number, object>} */ ({});
  /** @type {number[]} */
  const asked = [];
  const needs = () =>
    /** @type {any} */ (kindsReader.needs)(null, null, (/** @type {string} */ _, /** @type {any} */ { start }) => {
      asked.push(start);
      return known[start] ?? null;
    }).found[1].start;
  assert.equal(needs(), 0);
  known[0] = part(2);
  assert.equal(needs(), 0);
  assert.equal(asked.at(-1), 2);
  known[2] = part(4);
  asked.length = 0;
  assert.equal(needs(), 2);
  assert.deepEqual(asked, [0, 2]); // all are here
});

test("every dot has its name beside it or is left for the list, and no name covers a dot or another name", () => {
  for (const step of [20, 60, 140]) {
    const places = [0, 1, 2, 3, 4, 5].map((i) => ({ x: 70 + i * step, y: i < 2 ? 80 : 200 }));
    const names = places.map((place, i) => ({ place, wide: 30 + 20 * (i % 3) }));
    const { beside, left } = namesBeside(names, [places], [52, 130 + 6 * step, 230]);
    assert.deepEqual(new Set([...beside.map((one) => one.place), ...left.map((one) => one.place)]), new Set(places));
    assert.equal(beside.length + left.length, places.length);
    const boxes = [
      ...beside.map((one) => one.box),
      ...places.map(({ x, y }) => [x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS]),
    ];
    for (const [i, a] of boxes.slice(0, beside.length).entries())
      for (const b of boxes.slice(i + 1))
        assert.ok(a[0] >= b[2] || a[2] <= b[0] || a[1] >= b[3] || a[3] <= b[1], `${step}: ${a} on ${b}`);
    assert.equal(left.length > 0, step === 20);
  }
});
