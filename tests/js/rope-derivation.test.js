// RoPE's derivation on one pair, and the bound over all pairs, by hand.

import assert from "node:assert/strict";
import test from "node:test";

import { stepsOf } from "../../visuals/static/panels/position/derivation-formulas.js";
import { savedRows } from "../../visuals/static/readings/reading.js";
import { decayBound, ropeDerivation, rotationBy } from "../../visuals/static/readings/rope-derivation.js";
import { terms, turned } from "../../visuals/static/readings/turning.js";
import { llamaParts } from "./parts_help.js";

const [TOKENS, HEADS, KV, WIDTH] = [9, 4, 2, 6];
const wave = (count, step) => Float32Array.from({ length: count }, (_, i) => Math.sin(step * (i + 1)) * 2);
const array = (shape, step) => ({
  shape,
  data: wave(
    shape.reduce((a, b) => a * b, 1),
    step,
  ),
});
const near = (a, b, tolerance = 1e-9) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);
const held = { q: array([HEADS, TOKENS, WIDTH], 0.7), k: array([KV, TOKENS, WIDTH], 1.2), kRot: null };
const FREQUENCIES = [1, 0.1, 0.01];
const at = { layer: 0, head: 3, query: 8, key: 2, pair: 1, distance: 6, count: 40 };

/** A reading with this factor on cos and sin. */
function read(scaling = 1, more = {}) {
  const parts = llamaParts(FREQUENCIES, { scaling });
  const model = { n_layers: 1, n_heads: HEADS, n_kv_heads: KV, head_dim: WIDTH, parts };
  const trace = { model, T: TOKENS, tokens: { pieces: [..."abcdefghi"] } };
  return ropeDerivation.read({ trace, held, details: {} }, { ...at, ...more });
}

test("a pair's share is the same as complex numbers, as matrices and as RoPE computes it", () => {
  for (const scaling of [1, 1.25]) {
    for (let pair = 0; pair < 3; pair++) {
      const { values, place, forms } = read(scaling, { pair });
      const truth = terms(turned(place.q, 8, place.frequencies), turned(place.k, 2, place.frequencies))[pair];
      near(values.term, truth);
      near(values.by_distance, truth);
      near(values.shifted, truth);
      near(values.length_after, values.length_before);
      near(values.step, place.frequencies.inv_freq[pair], 1e-7);
      near(forms.start[0], forms.q[0] * scaling);
      const turnedBack = rotationBy((2 - 8) * values.theta);
      forms.both.flat().forEach((value, i) => near(value, turnedBack.flat()[i]));
      if (pair < 2) assert.ok(Math.abs(values.wrong_sign - truth) > 1e-3);
      assert.equal(forms.channels[1] - forms.channels[0], 3);
    }
  }
});

test("the bound is an average of running sums, and holds for q and k", () => {
  const [first, ...others] = decayBound(Float32Array.from(FREQUENCIES), 40);
  near(first, 2); // (1 + 2 + 3) / 3
  assert.ok(others.every((value) => value <= first && value >= 0));
  const sums = FREQUENCIES.map((_, j) => {
    const part = FREQUENCIES.slice(0, j + 1).map((f) => Math.fround(f) * 7);
    return Math.hypot(...[Math.cos, Math.sin].map((of) => part.reduce((sum, angle) => sum + of(angle), 0)));
  });
  near(others[6], sums.reduce((a, b) => a + b) / 3);
  for (const distance of [0, 1, 6, 30]) {
    const { limit, values } = read(1, { distance });
    assert.ok(Math.abs(values.far) <= limit + 1e-9, `${values.far} within ${limit}`);
  }
});

test("the conditions are met but for rounding, and a line is saved for each pair", () => {
  const said = (name, params) => `${name} ${JSON.stringify(params ?? {})}`;
  for (const { apart } of stepsOf(read(1.25), said)) assert.ok(Math.abs(apart) < 1e-12, apart);
  assert.ok(stepsOf(read(), said).some(({ apart }) => apart !== 0));
  const [names, ...lines] = savedRows(read());
  assert.equal(lines.length, 3);
  assert.ok(names.includes("term_by_distance"));
});
