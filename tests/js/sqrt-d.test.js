// @ts-check
// How hard a row of weights is.

import assert from "node:assert/strict";
import test from "node:test";

import { hardnessOf } from "../../visuals/static/readings/sqrt-d.js";

test("equal weights are soft, one weight alone is hard", () => {
  const soft = hardnessOf(new Float64Array(4).fill(0.25));
  assert.deepEqual(
    { ...soft, entropy: soft.entropy.toFixed(9) },
    {
      largest: 0.25,
      key: 0,
      entropy: Math.log(4).toFixed(9),
      gradient: 0.75,
    },
  );
  assert.deepEqual(hardnessOf(new Float64Array([0, 1, 0])), { largest: 1, key: 1, entropy: 0, gradient: 0 });
});

test("a gradient is told though the weight is nearly 1", () => {
  const { gradient } = hardnessOf(new Float64Array([1 - 1e-9, 1e-9]));
  assert.ok(Math.abs(gradient - 2e-9) < 1e-15, String(gradient));
});
