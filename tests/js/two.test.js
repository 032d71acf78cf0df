import assert from "node:assert/strict";
import { test } from "node:test";
import { createStore } from "../../visuals/static/store.js";
import { productLine, rowsOfCost } from "../../visuals/static/panels/compare/costs.js";
import { headOf, samePlace } from "../../visuals/static/panels/compare/two.js";
import { runMessage } from "./payload_help.js";

globalThis.requestAnimationFrame = () => {};
const text = (...pieces) => ({ tokens: { pieces } });

test("the same place in two tokenizations of a text", () => {
  const [a, b] = [text("The", " cat", " sleeps", "."), text("Th", "e", " c", "at", " sl", "eeps", ".")];
  assert.deepEqual(
    [0, 1, 2, 3].map((token) => samePlace(a, b, token)),
    [1, 3, 5, 6],
  );
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 6].map((token) => samePlace(b, a, token)),
    [0, 0, 1, 1, 2, 2, 3],
  );
  assert.equal(samePlace(a, a, 2), 2);
  const [whole, parts] = [text("院子", "里", " a"), text("院", "子", "⟨E9⟩⟨87⟩", "⟨8C⟩", " a")];
  assert.deepEqual(
    [0, 1, 2].map((token) => samePlace(whole, parts, token)),
    [1, 3, 4],
  );
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((token) => samePlace(parts, whole, token)),
    [0, 0, 1, 1, 2],
  );
  assert.equal(samePlace(a, text("The", " cat"), 3), 1); // the other is shorter: its end
});

test("a side looks at its own head where one is set, else at the page's, as far as it has that", () => {
  const model = { n_layers: 3, n_heads: 4 };
  assert.deepEqual(headOf(undefined, { layer: 7, head: 2 }, model), { layer: 2, head: 2 });
  assert.deepEqual(headOf("1.9", { layer: 7, head: 2 }, model), { layer: 1, head: 3 });
  assert.deepEqual(headOf("one", { layer: 0, head: 2 }, model), { layer: 0, head: 2 });
});

test("a product says each factor with its name", () => {
  const factors = [
    { value: 1200, code: "weights", how: "30 × 40" },
    { value: 4, code: "bytes", params: { format: "fp32" } },
  ];
  const name = (code, { format } = {}) => (format ? `${code} (${format})` : code);
  assert.equal(
    productLine({ factors, bytes: "4800" }, name),
    "1,200 weights (30 × 40) × 4 bytes (fp32) = 4,800\u00a0B",
  );
  assert.deepEqual(rowsOfCost(null), []);
});

test("B − A is offered for two runs of one model alone", () => {
  const store = createStore();
  const run = (id, name) => {
    const message = runMessage([5, 6, 7]);
    return { ...message, id, model: { ...message.model, name } };
  };
  store.publish(run("first", "one"));
  assert.equal(store.subtractable(), false);
  store.keep(store.state.trace);
  store.publish(run("second", "one"));
  assert.equal(store.subtractable(), true);
  store.showSide("B-A");
  assert.equal(store.state.side, "B-A");
  store.publish(run("third", "other"));
  assert.deepEqual([store.subtractable(), store.state.side], [false, "B"]);
  store.showSide("B-A");
  assert.equal(store.state.side, "B");
  store.showSide("A");
  assert.deepEqual([store.state.side, store.state.trace.id], ["A", "first"]);
});
