// How much a score depends on the distance, of a head that turns what it compares, and of one that does not.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reachOf } from "../../visuals/static/readings/reach.js";
import { llamaParts } from "./parts_help.js";

const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-6, `${actual} is not ${expected}`);

/** A head of four channels, of which the first two are a pair that turns by one radian a token. */
function worldOf(q, keys) {
  const parts = { ...llamaParts([1], { width: 4 }), causal: true, prefix: 0, window: null, softcap: null };
  const model = { n_heads: 1, n_kv_heads: 1, head_dim: 4, parts };
  const T = keys.length;
  const packed = (rows) => ({ shape: [1, T, 4], data: Float32Array.from(rows.flat()) });
  return [{ q: packed(keys.map(() => q)), k: packed(keys) }, { model }];
}
const last = { head: 0, query: 3, key: 1 };

test("what is not turned scores the same at every distance", () => {
  const [layer, trace] = worldOf(
    [0, 0, 2, 0],
    [1, 2, 3, 4].map((x) => [0, 0, x, 0]),
  );
  const { most, spread, flat } = reachOf(layer, trace, last);
  near(most, 0);
  near(spread, Math.sqrt(1.25)); // of the scores 1, 2, 3 and 4
  assert.equal(flat, true);
});

test("what is turned scores as its angle says, so that a distance counts", () => {
  const [layer, trace] = worldOf(
    [2, 0, 0, 0],
    [1, 1, 1, 1].map((x) => [x, 0, 0, 0]),
  );
  const { most, spread, flat } = reachOf(layer, trace, last);
  const scores = [0, 1, 2, 3].map(Math.cos);
  near(most, 1 - Math.cos(2)); // as far as 2 is from 0
  const mean = scores.reduce((a, b) => a + b) / 4;
  near(spread, Math.sqrt(scores.reduce((sum, x) => sum + (x - mean) ** 2, 0) / 4));
  assert.equal(flat, false);
});

test("of a row of few keys nothing is said", () => {
  const [layer, trace] = worldOf(
    [0, 0, 2, 0],
    [1, 2].map((x) => [0, 0, x, 0]),
  );
  assert.equal(reachOf(layer, trace, { head: 0, query: 1, key: 0 }).flat, false);
});
