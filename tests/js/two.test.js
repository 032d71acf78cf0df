import assert from "node:assert/strict";
import { test } from "node:test";
import { valueOf } from "../../visuals/static/frame.js";
import { savedRows } from "../../visuals/static/readings/reading.js";
import { createStore } from "../../visuals/static/store.js";
import { productLine } from "../../visuals/static/panels/kv/format.js";
import { headOf, pairForm, samePlace, twoReader } from "../../visuals/static/readings/read-by-two.js";
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

test("two runs are named by what differs between them", () => {
  const run = (name, prompt, ids, changes = {}) => ({
    model: { name },
    prompt,
    tokens: { ids },
    nPrompt: 2,
    changes,
  });
  const A = run("small", "in the", [1, 2]);
  const of = (...other) => pairForm({ A, B: run(...other) });
  assert.equal(of("large", "in the", [7, 8, 9]), ""); // another tokenizer
  assert.equal(of("large", "on the", [7, 8]), "_texts_models");
  assert.equal(of("small", "on the", [3, 2]), "_texts");
  assert.equal(of("small", "in the", [1, 2, 5]), "_texts"); // what was written is read, too
  assert.equal(of("small", "in the", [1, 2]), "_again");
  assert.equal(of("small", "in the", [1, 2], { heads: [[4, 0]] }), "_changed");
});

test("a side looks at its own head where one is set, else at the page's, as far as it has that", () => {
  const model = { n_layers: 3, n_heads: 4 };
  assert.deepEqual(headOf(undefined, { layer: 7, head: 2 }, model), { layer: 2, head: 2 });
  assert.deepEqual(headOf("1.9", { layer: 7, head: 2 }, model), { layer: 1, head: 3 });
  assert.deepEqual(headOf("one", { layer: 0, head: 2 }, model), { layer: 0, head: 2 });
});

test("of two networks are told a word with its weight, and what each would write next and costs", () => {
  const network = (name, chances, details) => ({
    trace: {
      model: { name, parts: { cross_scale: 1 } },
      T: 2,
      encoder: { T: 2, tokens: { pieces: ["go", "es"] } },
      tokens: { pieces: ["a", "b"] },
      next: {
        ids: [4, 9],
        pieces: [" x", " y"],
        logits: { data: chances.map(Math.log) },
        logZ: 0,
        vocabSize: 2,
        tail: 0,
      },
    },
    // one head of one dimension that looks at two source tokens: scores 0 and ln 3
    held: {
      cross: {
        q: { shape: [1, 2, 1], data: Float64Array.of(0, 1) },
        k: { shape: [1, 2, 1], data: Float64Array.of(0, Math.log(3)) },
      },
    },
    details,
  });
  const cost = { parameters: 12345, read: 49380, kept: 640, weights: [], cache: [] };
  const runs = { A: network("m", [0.75, 0.25], { cost }), B: network("n", [0.5, 0.5], { cost: null }) };
  runs.B.held = null;
  const place = { layer: 1, head: 0, query: 1 };
  const read = (pointed) => twoReader.read(runs, { A: place, B: place, pointed });
  assert.equal(valueOf(read(null)), "A next=' x' p=0.75000 read=49380 kept=640 B next=' x' p=0.50000 read=? kept=?");
  assert.equal(valueOf(read({ side: "A", token: 1 })), "A layer 1 head 0 query 1 key 1 weight=0.75000");
  assert.equal(read({ side: "B", token: 1 }).word, null); // its layer is still to come
  assert.equal(read(null).runs.A.look.most, 1);
  const [head, ...rows] = savedRows(read(null));
  assert.deepEqual(head, ["what", "side", "model", "place", "index", "piece", "value"]);
  const of = (what, side) => rows.filter((row) => row[0] === what && row[1] === side).map((row) => row.slice(3));
  const looks = of("attention", "A");
  assert.deepEqual(
    looks.map((row) => row.slice(0, 3)),
    [
      ["layer 1 head 0 query 1", 0, "go"],
      ["layer 1 head 0 query 1", 1, "es"],
    ],
  );
  assert.ok(Math.abs(looks[0][3] - 0.25) < 1e-12 && Math.abs(looks[1][3] - 0.75) < 1e-12);
  assert.deepEqual(of("attention", "B"), []);
  assert.deepEqual(of("cost", "A"), [
    ["parameters", "", "", 12345],
    ["read", "", "", 49380],
    ["kept", "", "", 640],
    ["cached", "", "", 4 * 640], // both tokens, and both of the source
  ]);
  assert.deepEqual(of("cost", "B"), []);
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
