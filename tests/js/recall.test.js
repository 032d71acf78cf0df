import assert from "node:assert/strict";
import { test } from "node:test";
import { isQuick, keysOf } from "../../visuals/static/readings/recall.js";

/** @param {[gathered: boolean, moved: boolean, brought: boolean]} clear */
const told = ([gathered, moved, brought]) => {
  const layers = { first: 0, last: 13 };
  return {
    gathered: { layers, all: 1, later: 0.4, above: 0.05, attention: 0.04, elsewhere: 0, clear: gathered },
    moved: { layers: { first: 23, last: 23 }, held: 0.9, before: 0.03, after: 0.95, clear: moved },
    brought: { layer: 23, head: 4, lost: 0.87, following: 0.12, clear: brought },
  };
};

test("each part of how an answer is recalled is said, or that the map does not say it, with the rule", () => {
  assert.deepEqual(keysOf(told([true, true, true])), { gathers: "gathered", moves: "moved_by", rule: null });
  assert.deepEqual(keysOf(told([false, true, true])), { gathers: "gathered_not", moves: "moved_by", rule: "rule" });
  assert.deepEqual(keysOf(told([true, true, false])), { gathers: "gathered", moves: "moved", rule: "rule" });
  assert.deepEqual(keysOf(told([true, false, true])), { gathers: "gathered", moves: "moved_not", rule: "rule" });
});

test("what takes no more than about a second is measured without being asked for", () => {
  assert.equal(isQuick({ n_parameters: 7e6, n_layers: 8 }, 32), true);
  assert.equal(isQuick({ n_parameters: 1.35e8, n_layers: 30 }, 5), true);
  assert.equal(isQuick({ n_parameters: 1.35e8, n_layers: 30 }, 9), false);
});
