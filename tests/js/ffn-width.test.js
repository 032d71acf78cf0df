// LLaMA's rule for the width of its feed-forward, as the browser works it out.

import assert from "node:assert/strict";
import test from "node:test";

import { ffnParameters, ffnWidth, llamaWidth } from "../../visuals/static/readings/ffn-width.js";
import { savedRows } from "../../visuals/static/readings/reading.js";

const RULES = [
  [4096, 1, 256, [16384, 10922, 10922, 11008]],
  [4096, 1.3, 1024, [16384, 10922, 14198, 14336]],
  [8192, 1.3, 4096, [32768, 21845, 28398, 28672]],
  [16384, 1.2, 4096, [65536, 43690, 52428, 53248]],
  [2048, 1.5, 256, [8192, 5461, 8191, 8192]],
];

test("the steps are those of Meta's code", () => {
  for (const [d, multiplier, multiple, wanted] of RULES) {
    const { four, thirds, scaled, width } = llamaWidth(d, multiplier, multiple);
    assert.deepEqual([four, thirds, scaled, width], wanted);
  }
  assert.equal(ffnParameters(768, 2048, true), ffnParameters(768, 3072, false));
});

const ffn = (more) => ({ width: 688, gated: true, experts: 0, top_k: 0, shared: 0, ...more });
const rows = [
  { model: "Some 7B", d_model: 4096, width: 11008, gated: true, multiplier: 1, multiple_of: 256, source: "x" },
  { model: "Free", d_model: 4096, width: 14336, gated: true, multiplier: null, multiple_of: null, source: "y" },
];
const read = (made, selection) =>
  ffnWidth.read(
    { trace: { model: { name: "own", d_model: 256, parts: { ffn: [made] } } }, details: { found: { rows } } },
    { layer: 0, model: "", d: null, multiplier: null, multiple: null, ...selection },
  );

test("this run's width, and whether the rule gives it", () => {
  const own = read(ffn(), {});
  assert.deepEqual([own.fits, own.rule.multiple, own.steps.width], [[8, 16], 16, 688]);
  assert.deepEqual(read(ffn({ width: 700 }), {}).fits, []);
  assert.deepEqual(read(ffn({ gated: false, width: 1024 }), {}).fits, []);
  assert.equal(read(ffn({ width: 64, experts: 8, top_k: 2, shared: 32 }), {}).own.active, 160);
});

test("a published model, and a slider moved away from it", () => {
  const chosen = read(ffn(), { model: "Some 7B" });
  assert.deepEqual([chosen.values.width, chosen.actual.name], [11008, "Some 7B"]);
  const moved = read(ffn(), { model: "Some 7B", d: 512 });
  assert.deepEqual([moved.values.four, moved.actual], [2048, null]);
  assert.equal(read(ffn(), { model: "no such" }).selection.model, "");
  assert.deepEqual(savedRows(chosen)[2], ["Free", "no", 4096, 14336, 3, 1, 256, 11008]);
});
