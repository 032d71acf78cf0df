// @ts-check
// How hard a row of weights is.

import assert from "node:assert/strict";
import test from "node:test";

import { firstPower, hardnessOf } from "../../visuals/static/readings/sqrt-d.js";

test("equal weights are soft, one weight alone is hard", () => {
  const soft = hardnessOf(new Float64Array(4).fill(0.25));
  assert.deepEqual(
    { ...soft, entropy: soft.entropy.toFixed(9) },
    {
      largest: 0.25,
      rest: 0.75,
      key: 0,
      entropy: Math.log(4).toFixed(9),
      gradient: 0.75,
    },
  );
  assert.deepEqual(hardnessOf(new Float64Array([0, 1, 0])), { largest: 1, rest: 0, key: 1, entropy: 0, gradient: 0 });
});

test("a gradient is told though the weight is nearly 1", () => {
  const { gradient } = hardnessOf(new Float64Array([1 - 1e-9, 1e-9]));
  assert.ok(Math.abs(gradient - 2e-9) < 1e-15, String(gradient));
});

test("what the largest weight lacks of 1 counts though it is rounded to 1", () => {
  const { largest, rest, gradient, entropy } = hardnessOf(new Float64Array([1, 1e-20, 3e-20]));
  assert.equal(largest, 1);
  assert.ok(Math.abs(rest - 4e-20) < 1e-30, String(rest));
  assert.ok(Math.abs(gradient - 8e-20) < 1e-30, String(gradient)); // Σ aᵢ(1 − aᵢ), of which the largest's term is half
  const others = -1e-20 * Math.log(1e-20) - 3e-20 * Math.log(3e-20);
  assert.ok(Math.abs(entropy - (others + 4e-20)) < 1e-29, String(entropy)); // −a·ln(a) = rest, for a = 1 − rest
});

test("the divisor begins where it makes a difference", () => {
  const model = /** @type {any} */ ({ parts: { scale: 1 / Math.sqrt(32) } });
  assert.equal(firstPower(model, hardnessOf(new Float64Array([0.9999, 0.0001]))), 1); // a larger one softens it
  assert.equal(firstPower(model, hardnessOf(new Float64Array([0.5, 0.5]))), 0); // without any it hardens
  assert.equal(firstPower(model), 0);
  assert.equal(firstPower(/** @type {any} */ ({ parts: { scale: 1 } })), 0.5); // T5 divides by nothing
});
