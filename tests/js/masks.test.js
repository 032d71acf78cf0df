// @ts-check
// Which keys a query sees under each mask, and GLM's input for a text with blanks.

import assert from "node:assert/strict";
import test from "node:test";

import * as masks from "../../visuals/static/readings/masks.js";

test("pairs are counted as matrices have them", () => {
  const count = (/** @type {import("../../visuals/static/readings/masks.js").Mask} */ mask) => masks.pairsOf(mask, 5);
  assert.equal(count(masks.causal), 15);
  assert.equal(count(masks.bidirectional(5)), 25);
  assert.equal(count(masks.prefixed(3)), 18); // 15, and (0,1), (0,2), (1,2)
  assert.equal(count(masks.sliding(2)), 9);
  assert.equal(count(masks.grouped([0, 3, 5], true)), 6 + 3);
  assert.equal(count(masks.grouped([0, 3, 5], false)), 9 + 4);
});

test("groups are as equal as they can be", () => {
  assert.deepEqual(masks.groupEdges(11, 4), [0, 3, 6, 9, 11]);
  assert.deepEqual(masks.groupEdges(3, 3), [0, 1, 2, 3]);
  assert.deepEqual(masks.grouped([0, 3, 6, 9, 11], true)(7), [6, 8]);
});

test("what is left of a row sums to 1 again", () => {
  const { weights, lost } = masks.within(new Float64Array([0.5, 0.25, 0.25]), [1, 3]);
  assert.deepEqual([...weights], [NaN, 0.5, 0.5]);
  assert.equal(lost, 0.5);
});

test("blank infilling is the paper's figure 2", () => {
  const found = masks.blankInfilling(["x1", "x2", ["x3"], "x4", ["x5", "x6"]], true);
  assert.deepEqual(
    found.map(({ word, sign }) => word ?? sign),
    ["x1", "x2", "mask", "x4", "mask", "start", "x5", "x6", "start", "x3"],
  );
  assert.deepEqual(
    found.map(({ place }) => place),
    [1, 2, 3, 4, 5, 5, 5, 5, 3, 3],
  );
  assert.deepEqual(
    found.map(({ inner }) => inner),
    [0, 0, 0, 0, 0, 1, 2, 3, 1, 2],
  );
  assert.deepEqual(
    found.slice(5).map(({ target }) => target),
    ["x5", "x6", "[END]", "x3", "[END]"],
  );
});
