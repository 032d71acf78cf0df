// @ts-check
// Which keys a query sees under each mask, and GLM's input for a text with blanks.

import assert from "node:assert/strict";
import test from "node:test";

import { pairAt } from "../../visuals/static/panels/attend/mask-tiles.js";
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

test("a tile's cell is named by its two words, and says whether the one sees the other", () => {
  const own = ["a", "b", "c", "d"];
  /** @type {any} */
  const reading = {
    masks: { causal: masks.causal, sliding: masks.sliding(2) },
    words: { own, source: ["a"], target: ["b", "c", "d"] },
    selection: { prefix: 1 },
  };
  /** @type {(kind: any, key: number, query: number, of: number) => unknown[] | null} */
  const at = (kind, key, query, of) => {
    const pair = pairAt(kind, reading, (key + 0.5) / of, (query + 0.5) / of);
    return pair && [pair.query, pair.key, pair.sees];
  };
  assert.deepEqual(at("causal", 1, 3, 4), ["d", "b", true]);
  assert.deepEqual(at("causal", 3, 1, 4), ["b", "d", false]);
  assert.deepEqual(at("sliding", 1, 3, 4), ["d", "b", false]);
  // a [MASK] | [START] b c d: part A sees itself, part B sees A and what came before
  assert.deepEqual(at("blank", 1, 0, 6), ["a", "[MASK]", true]);
  assert.deepEqual(at("blank", 2, 0, 6), ["a", "[START]", false]);
  assert.deepEqual(at("blank", 0, 4, 6), ["c", "a", true]);
  // a | b c d: the target sees all of the source and is causal; the source sees no target, which is in no mask
  assert.deepEqual(at("encoder_decoder", 0, 2, 5), ["b", "a", true]);
  assert.deepEqual(at("encoder_decoder", 4, 2, 5), ["b", "d", false]);
  assert.equal(at("encoder_decoder", 2, 0, 5), null);
  assert.equal(at("encoder_decoder", 1, 3, 5), null);
  assert.equal(pairAt("causal", reading, 1.01, 0.5), null);
});
