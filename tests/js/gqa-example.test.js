// @ts-check
// The shapes of grouped-query attention, and numbers that do not fit each other.

import assert from "node:assert/strict";
import test from "node:test";

import { EXAMPLE, exampleReading, misfit } from "../../visuals/static/readings/gqa-example.js";

test("the literature's example", () => {
  const { shapes, values } = exampleReading(EXAMPLE);
  const shape = Object.fromEntries(shapes.map(({ name, rows, columns }) => [name, [rows, columns]]));
  assert.deepEqual(
    ["X", "W_Q", "W_K", "K_g", "Y"].map((name) => shape[name]),
    [
      [100, 512],
      [512, 512],
      [512, 128],
      [100, 64],
      [100, 512],
    ],
  );
  assert.deepEqual(values, { head_dim: 64, group_size: 4, kept: 25_600, kept_by_all: 102_400 });
});

test("what does not divide is named, with what would", () => {
  assert.equal(misfit(EXAMPLE), null);
  assert.deepEqual(misfit({ ...EXAMPLE, g: 3 }), { field: "g", fits: [1, 2, 4, 8] });
  assert.deepEqual(misfit({ ...EXAMPLE, h: 6 }), { field: "h", fits: [2, 4, 8, 16, 32] });
});
