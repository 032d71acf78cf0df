import assert from "node:assert/strict";
import { test } from "node:test";
import { logitTermsReader } from "../../visuals/static/readings/choice.js";
import { savedRows } from "../../visuals/static/readings/reading.js";

/** One layer of two heads and four neurons over two tokens, of which one neuron is known: 1 + 10 + 2 + 0.5 = 13.5. */
const found = {
  embedding: 1,
  patched: 0,
  heads: { shape: [1, 2, 2], data: [3, -4, 5, 6] },
  cross: null,
  neurons: [{ layer: 0, neuron: 3, value: 2 }],
  other_neurons: 0.5,
  logit: 13.5,
  total: 13.5,
};
const read = (more = {}) =>
  logitTermsReader.read(
    { trace: { model: { n_layers: 1, ffn_hidden: 4 } }, details: { found: { ...found, ...more } } },
    { token: 1, target: 7, against: null },
  );

test("a logit is read as its terms, each with its place, and all other neurons together", () => {
  const { at, values, others, terms } = read();
  assert.deepEqual(
    [at, values, others],
    ["after 1 target 7", { logit: 13.5, sum: 13.5, first: 6 }, { count: 3, value: 0.5 }],
  );
  assert.deepEqual(
    terms.map(({ part, layer, head, neuron, key, value }) => [part, layer, head, neuron, key, value]),
    [
      ["embedding", null, null, null, null, 1],
      ["head", 0, 0, null, 0, 3],
      ["head", 0, 0, null, 1, -4],
      ["head", 0, 1, null, 0, 5],
      ["head", 0, 1, null, 1, 6],
      ["neuron", 0, null, 3, null, 2],
    ],
  );
  const [names, ...rows] = savedRows(read());
  assert.deepEqual(names, ["part", "layer", "head", "neuron", "key", "terms", "value"]);
  assert.deepEqual(rows.at(-1), ["others", "", "", "", "", 3, 0.5]);
  assert.equal(
    rows.reduce((sum, row) => sum + row[6], 0),
    13.5,
  );
});

test("what was taken over from another run, and looks at a source, are terms of their own", () => {
  const more = { patched: -20, cross: { shape: [1, 2, 1], data: [7, 8] } };
  const { terms, values } = read(more);
  assert.deepEqual(
    terms
      .filter(({ part }) => part === "patched" || part === "cross")
      .map(({ head, key, value }) => [head, key, value]),
    [
      [null, null, -20],
      [0, 0, 7],
      [1, 0, 8],
    ],
  );
  assert.equal(values.first, -20);
});
