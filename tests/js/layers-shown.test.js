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

test("where the answer's probability rises late, the layers of its rise are shown", () => {
  // as SmolLM2 reads "The capital of France is": 17 changes of the first word, and all of the rise after layer 24
  const first = upTo(31).map((depth) => (depth < 6 ? depth : depth < 24 ? 6 + (depth % 2) : depth));
  const own = upTo(31).map(() => 1e-12);
  own.splice(25, 6, 2e-5, 1.6e-5, 3.3e-4, 0.0106, 0.0703, 0.773);
  for (const marked of [0, 9, 17]) {
    const shown = depthsShown(first, marked, own);
    assert.deepEqual(shown.slice(-6), [25, 26, 27, 28, 29, 30]);
    assert.ok(shown.includes(0) && shown.includes(marked));
    assert.ok(shown.length <= 13, shown); // and rows for what is left out
  }
  const early = own.map((_, depth) => (depth < 4 ? 0.1 * (depth + 1) : 0.5)); // no change of the words is as late
  assert.deepEqual(depthsShown(first, 0, early).slice(0, 5), [0, 1, 2, 3, 4]);
});

test("of more changes than there is room for the largest are shown", () => {
  const own = upTo(31).map((depth) => (depth < 2 ? 0 : 0.001 * 1.01 ** depth * (depth >= 16 ? 100 : 1)));
  const shown = depthsShown(upTo(31).fill(3), 0, own);
  assert.ok(shown.includes(2) && shown.includes(16), shown); // a hundredfold there, by 1% elsewhere
  assert.ok(shown.length <= 14);
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
