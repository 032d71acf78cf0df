import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { habitsOf } from "../../visuals/static/readings/habits.js";
import { done, promptOf, undone } from "../../visuals/static/panels/attend/known.js";
import { llamaParts } from "./parts_help.js";

const bundled = JSON.parse(readFileSync(new URL("../../model/bundled/heads.json", import.meta.url))).kinds;
const names = { kinds: Object.entries(bundled).map(([name, kind]) => ({ name, ...kind })) };

test("a job that every head scores below 0 on is not offered", () => {
  assert.ok(bundled.copying.scores.flat().every((score) => score < 0));
  assert.deepEqual(
    undone(names).map(({ name }) => name),
    ["copying"],
  );
  assert.ok(!done(names).some(({ name }) => name === "copying"));
  assert.equal(done(names).length, names.kinds.length - 1);
  assert.deepEqual([done(null), undone(null)], [[], []]);
});

test("the text that shows a job best is offered in the reader's language", () => {
  for (const kind of done(names)) {
    assert.doesNotMatch(promptOf(kind, "en"), /[一-鿿]/, kind.name);
    assert.match(promptOf(kind, "zh"), /[一-鿿]/, kind.name);
  }
  assert.equal(promptOf({ prompt: "a" }, "zh"), "a");
  assert.equal(promptOf({ prompt: null, prompts: {} }, "zh"), null);
});

test("how far a run bears a job out is its own mean weight, from the third token on", () => {
  const model = { n_heads: 1, n_kv_heads: 1, head_dim: 2, parts: llamaParts([0]) };
  const q = { shape: [1, 4, 2], data: Float32Array.from([1, 0, 1, 0, 1, 0, 1, 0]) };
  const k = { shape: [1, 4, 2], data: Float32Array.from([0, 0, 2, 0, 4, 0, 6, 0]) };
  const scores = [0, 2, 4, 6].map((x) => Math.exp(x / Math.SQRT2));
  const share = (query, key) => scores[key] / scores.slice(0, query + 1).reduce((a, b) => a + b);
  const found = habitsOf({ q, k }, { model, T: 4 }, 0);
  assert.ok(Math.abs(found.previous - (share(2, 1) + share(3, 2)) / 2) < 1e-6);
  assert.ok(Math.abs(found.first - (share(2, 0) + share(3, 0)) / 2) < 1e-6);
  assert.ok(Number.isNaN(habitsOf({ q, k: { ...k } }, { model, T: 2 }, 0).previous));
});
