// What a lens reads at one token, where an answer lives, and how the terms of a logit are printed.

import assert from "node:assert/strict";
import { test } from "node:test";

import { decimalsToAddUp } from "../../visuals/static/readings/adding-up.js";
import { moveOf } from "../../visuals/static/readings/causal-map.js";
import { readLens, readOneToken } from "../../visuals/static/readings/lens.js";

const names = { ids: [3, 4, 7], pieces: [" a", " b", " c"] };
const packed = (shape, data) => ({ shape, data });
/** Of two depths and so many tokens, the best token alone. */
const answerOf = (tokens, ids, ranks, own, targets) => ({
  first: 1,
  names,
  targets: packed([tokens], targets),
  ids: packed([2, tokens, 1], ids),
  probabilities: packed([2, tokens, 1], own),
  rank: packed([2, tokens], ranks),
  logit: packed([2, tokens], own),
  probability: packed([2, tokens], own),
});

test("one token is read wherever it stands", () => {
  const lens = readOneToken(answerOf(1, [3, 7], [5, 0], [0.25, 0.5], [7]));
  for (const token of [0, 11]) {
    assert.equal(lens.target(token), 7);
    assert.deepEqual([lens.rank(1, token), lens.rank(2, token)], [5, 0]);
    assert.deepEqual(lens.best(2, token), [{ id: 7, probability: 0.5 }]);
    assert.equal(lens.own(1, token), 0.25);
  }
  assert.deepEqual([lens.here(0), lens.depths, Number.isNaN(lens.own(0, 11))], [false, 3, true]);
});

test("of all tokens each has its own", () => {
  const lens = readLens(answerOf(2, [3, 4, 7, 4], [5, 1, 0, 2], [0.25, 0.1, 0.5, 0.2], [7, 4]));
  assert.deepEqual([lens.target(1), lens.rank(2, 1), lens.own(1, 1)], [4, 2, 0.1]);
});

test("where an answer lives is told of the map's own cells, and two places that are nearly equal both", () => {
  const lost = [
    [0, 1, 0],
    [0, 0.6, 0.2],
    [0, 0.38, 0.4],
    [0, 0.1, 0.9],
    [0, 0, 1],
  ];
  const left = { shape: [5, 3], data: Float32Array.from(lost.flat(), (part) => 1 - part) };
  const { moves, settles, stays, from, to, between } = moveOf(left);
  assert.deepEqual([moves, settles, stays], [1, 3, false]);
  assert.deepEqual([from.tokens, to.tokens, between], [[1], [2], [2, 1]]);
  assert.ok(Math.abs(from.lost - 0.6) < 1e-6 && Math.abs(to.lost - 0.9) < 1e-6);
});

test("the terms of a logit add up as they are printed", () => {
  const terms = [0.0286, 5.64404, 10.7465];
  const sum = terms.reduce((all, one) => all + one);
  const decimals = decimalsToAddUp(terms, sum);
  const printed = terms.map((one) => Number(one.toFixed(decimals)));
  assert.equal(printed.reduce((all, one) => all + one).toFixed(decimals), sum.toFixed(decimals));
  assert.equal(decimalsToAddUp([1, 2], 3), 3);
});
