import assert from "node:assert/strict";
import { test } from "node:test";
import { leftByChance, othersTakeAsMuch } from "../../visuals/static/readings/verdict.js";

test("of the draws the middle one counts, in whatever order they come", () => {
  assert.equal(leftByChance({ by_chance: [0.9, 0.1, 0.5] }), 0.5);
  assert.equal(leftByChance({ by_chance: [] }), null);
});

test("heads are not singled out where others take about as much, or more", () => {
  const found = (without, by_chance) => ({ probability: 0.9, look: { without, by_chance } });
  assert.equal(othersTakeAsMuch(found(0.008, [0.004, 0.0001, 0.8])), true);
  assert.equal(othersTakeAsMuch(found(0.1, [0.95, 0.9, 0.97])), false);
  assert.equal(othersTakeAsMuch(found(0.84, [0.83])), true);
  assert.equal(othersTakeAsMuch(found(0.95, [0.9])), false); // these take nothing
  assert.equal(othersTakeAsMuch(found(0.1, [])), false);
});
