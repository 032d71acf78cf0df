// Activations in the browser, and what is read of other kinds of feed-forward.

import assert from "node:assert/strict";
import test from "node:test";

import { BENDS } from "../../visuals/static/activations.js";
import { activationKinds } from "../../visuals/static/readings/activations.js";
import { savedRows } from "../../visuals/static/readings/reading.js";

test("a slope is what the function rises by", () => {
  for (const [name, { f, slope }] of Object.entries(BENDS))
    for (let x = -6.05; x < 6; x += 0.1) {
      const rise = (f(x + 1e-5) - f(x - 1e-5)) / 2e-5;
      assert.ok(Math.abs(rise - slope(x)) < 1e-8, `${name}′(${x}) is ${slope(x)} and not ${rise}`);
    }
});

test("the short forms of GELU are off by as much as is said", () => {
  const worst = (name) =>
    Math.max(
      ...Array.from({ length: 20001 }, (_, i) => Math.abs(BENDS[name].f(i / 1e3 - 10) - BENDS.gelu.f(i / 1e3 - 10))),
    );
  assert.ok(Math.abs(worst("gelu_sigmoid") - 0.0203) < 1e-4);
  assert.ok(Math.abs(worst("gelu_new") - 4.7e-4) < 1e-5);
});

const array = (...rows) => ({ shape: [rows.length, rows[0].length], data: Float32Array.from(rows.flat()) });
const found = {
  kinds: ["relu", "gelu", "swiglu"],
  functions: ["relu", "gelu", "silu"],
  own: "swiglu",
  neurons: 8,
  zeros: array([3, 5], [0, 0], [0, 0]),
  slope: array([0.625, 0.375], [0.5, 0.25], [0.5, 0.75]),
  length: array([1, 2], [3, 4], [5, 6]),
  change: array([0.5, 0.25], [1.5, 2], [0, 0]),
  apart: array([0.125, 0.25], [0.5, 1]),
};

test("the kinds of one token, the textbooks' first", () => {
  const read = activationKinds.read({ details: { found } }, { layer: 1, query: 1 });
  assert.equal(read.own.name, "swiglu");
  assert.deepEqual([read.closed, read.neurons, read.apart], [5, 8, { tanh: 0.25, sigmoid: 1 }]);
  assert.deepEqual(savedRows(read), [
    ["kind", "matrices", "zeros", "mean_slope", "length", "change"],
    ["relu", 2, 5, 0.375, 2, 0.25],
    ["swiglu", 3, 0, 0.75, 6, 0],
    ["gelu", 2, 0, 0.25, 4, 2],
  ]);
  assert.deepEqual(activationKinds.needs(null, { layer: 3 }), { found: ["activation_kinds", { layer: 3 }] });
});
