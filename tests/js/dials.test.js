// A head's q and k pair by pair, a bias by distance, and the strip's weights, by hand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dialsReader, turnedReader } from "../../visuals/static/readings/dials.js";
import { biasReader } from "../../visuals/static/readings/distance-bias.js";
import { savedRows } from "../../visuals/static/readings/reading.js";
import { tokensReader } from "../../visuals/static/readings/token-strip.js";
import { llamaParts } from "./parts_help.js";

const array = (shape, data) => ({ shape, data: Float32Array.from(data) });
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);
const selection = { layer: 0, head: 0, query: 1, key: 0, pair: 0 };

/** One head of two channels at two tokens: q is (1, 0) at each, k is (0, 2) and (3, 0). */
function runOf(parts) {
  const model = { n_heads: 1, n_kv_heads: 1, head_dim: 2, parts: { scale: 1, ...parts } };
  const held = { q: array([1, 2, 2], [1, 0, 1, 0]), k: array([1, 2, 2], [0, 2, 3, 0]), kRot: null };
  const tokens = { ids: [5, 6], pieces: ["a", "b"] };
  return { trace: { model, T: 2, nPrompt: 1, tokens, layers: new Map([[0, held]]) }, held, details: {} };
}

test("a pair is turned by its angle: what it adds to q·k, and what it would add unturned", () => {
  const reading = dialsReader.read(runOf(llamaParts([0.5])), selection);
  const { angle_q, angle_k, term, sum } = reading.values;
  assert.deepEqual([angle_q, angle_k], [0.5, 0]);
  near(term, 2 * Math.sin(0.5)); // (cos ½, sin ½) · (0, 2)
  near(sum, term);
  assert.deepEqual([reading.still, reading.unturned], [0, null]);
  assert.equal(
    reading.at,
    "pair 0 q=(1.0000, 0.0000) q_rot=(0.87758, 0.47943) k=(0.0000, 2.0000) k_rot=(0.0000, 2.0000)",
  );
  const [head, row] = savedRows(reading);
  assert.deepEqual(head.slice(0, 6), ["pair", "first", "second", "inv_freq", "q_first", "q_second"]);
  assert.deepEqual(row.slice(0, 6), [0, 0, 1, 0.5, 1, 0]);
  near(row.at(-1), term);
  const both = turnedReader.read(runOf(llamaParts([0.5])), selection);
  assert.equal(both.at, "pair 0 layer 0 head 0 query 1 key 0");
  near(both.values.q_rot_second, Math.sin(0.5));
  assert.deepEqual([...both.rows.vectors().columns.k], [0, 2]);
});

test("a bias by distance is read with its slope, and the score without and with it", () => {
  const parts = { ...llamaParts([0.5]), rotary: null, bias: array([1, 2], [0, -0.25]) };
  const reading = biasReader.read(runOf(parts), { layer: 0, head: 0, query: 1, key: 0 });
  assert.equal(reading.at, "layer 0 head 0 query 1 key 0 distance 1");
  assert.deepEqual(reading.values, { slope: 0.25, bias: -0.25, qk: 0, score: -0.25 });
  assert.equal(reading.bucket, null);
  assert.deepEqual(savedRows(reading), [
    ["distance", "head_0"],
    [0, 0],
    [1, -0.25],
  ]);
});

test("the strip has the selected row's weights: none of what the mask hides, none before the layer is here", () => {
  const run = runOf(llamaParts([0.5]));
  const at = { layer: 0, head: 0, query: 0, key: 0 };
  const reading = tokensReader.read(run, at);
  assert.equal(reading.at, "token 0 id 5 'a'");
  assert.deepEqual(savedRows(reading), [
    ["position", "id", "piece", "origin", "attention_weight_from_0"],
    [0, 5, "a", "prompt", 1],
    [1, 6, "b", "generated", NaN],
  ]);
  assert.equal(tokensReader.read(run, { ...at, layer: 1 }).weights, null);
});
