// Which layers the story shows of a deep network: the first, the last, and where another word comes first.

import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.requestAnimationFrame = () => {};
const { depthsAsked, depthsShown } = await import("../../visuals/static/story/scenes/layers.js");

const upTo = (count) => Array.from({ length: count }, (_, depth) => depth);

test("of a network of few layers all are shown", () => {
  assert.deepEqual(depthsShown(upTo(14)), upTo(14));
});

test("of a deep one those where another word comes first, and none alone is left out", () => {
  const first = upTo(31).map((depth) => (depth < 10 ? 1 : depth < 12 ? 2 : depth < 30 ? 3 : 4));
  assert.deepEqual(depthsShown(first), [0, 10, 11, 12, 30]); // 11 alone would be left out
  assert.deepEqual(depthsShown(first, 20), [0, 10, 11, 12, 20, 30]); // and one that is marked
});

test("where the word changes all the time, the last changes are shown, with room for what is left out", () => {
  const shown = depthsShown(upTo(31));
  assert.deepEqual([shown[0], shown.at(-1)], [0, 30]);
  assert.deepEqual(shown.slice(1), upTo(31).slice(-12)); // and a row that says so
});

test("which depth it is, is asked with two others, before it and after it, where there are as many", () => {
  // the answer's number says whether the right one is the first, the middle or the last
  assert.deepEqual(depthsAsked(6, 8, 3), [6, 7, 8]);
  assert.deepEqual(depthsAsked(6, 8, 4), [3, 6, 8]);
  assert.deepEqual(depthsAsked(6, 8, 5), [2, 4, 6]);
  assert.deepEqual(depthsAsked(8, 8, 3), [3, 5, 8]); // nothing comes after it
  assert.deepEqual(depthsAsked(2, 8, 5), [1, 2, 8]); // and here one alone before it
  assert.deepEqual(depthsAsked(0, 8, 3), []); // it comes first from the start
  for (let end = 3; end < 40; end++)
    for (let from = 1; from <= end; from++)
      for (const answer of [0, 1, 2]) {
        const asked = depthsAsked(from, end, answer);
        assert.equal(new Set(asked).size, 3);
        assert.ok(
          asked.includes(from) && asked.every((depth, i) => depth >= 1 && depth <= end && depth > (asked[i - 1] ?? 0)),
        );
      }
  assert.deepEqual(depthsAsked(1, 2, 0), []);
});
