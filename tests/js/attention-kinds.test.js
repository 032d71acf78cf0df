// @ts-check
// What a number of K/V heads takes, and which one is read.

import assert from "node:assert/strict";
import test from "node:test";

import { costOf, kindsReader } from "../../visuals/static/readings/attention-kinds.js";

const MODEL = { n_layers: 32, d_model: 4096, n_heads: 32, n_kv_heads: 8, head_dim: 128, dtype: "bfloat16" };

test("Llama-3 8B's cache, and its W_K and W_V", () => {
  const { bytes, products } = costOf(MODEL, 8, 10);
  assert.equal(bytes, 131_072); // 128 KiB a token
  assert.equal(products.keys + products.values, 10 * 2 * 4096 * 1024);
  assert.deepEqual(costOf(MODEL, 1, 10).products.scores, products.scores);
});

test("without a choice it is MQA, or MHA where MQA is what the network has", () => {
  const found = {
    answer: " a",
    p: 0.5,
    kinds: [1, 8, 32].map((n_kv_heads) => ({ n_kv_heads, kl: 0, p_answer: 0.5, best: " a", p_best: 0.5 })),
  };
  const read = (/** @type {object} */ model, /** @type {number} */ heads) =>
    kindsReader.read(/** @type {any} */ ({ trace: { model, T: 10 }, details: { found } }), { heads });
  assert.equal(read(MODEL, 0).chosen.name, "mqa");
  assert.equal(read(MODEL, 8).chosen.repeated, true);
  assert.equal(read({ ...MODEL, n_kv_heads: 1 }, 0).chosen.name, "mha");
  assert.equal(read(MODEL, 5).chosen.heads, 1); // an address may say anything
});
