// What the chapter of two runs works out for itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { added, atSelection, has, removed } from "../../visuals/static/panels/compare/changes.js";
import { listed, parameters } from "../../visuals/static/run-changes.js";
import { nameOf } from "../../visuals/static/panels/compare/names.js";
import { changeText } from "../../visuals/static/panels/compare/predictions.js";
import { choicesReader, compared, headsReader, mostOf, streamsReader } from "../../visuals/static/readings/compare.js";
import { savedRows } from "../../visuals/static/readings/reading.js";
import { valueOf } from "../../visuals/static/frame.js";

const next = (ids, logits, logZ, all = null) => ({
  ids,
  pieces: ids.map((id) => `t${id}`),
  logits: { data: logits },
  logZ,
  all,
});

test("candidates of both runs, the most probable in either first; what is not sent is unknown", () => {
  const a = next([1, 2], [Math.log(0.6), Math.log(0.3)], 0);
  const b = next([3, 1], [Math.log(0.7), Math.log(0.1)], 0);
  const { candidates: rows, least } = compared(a, b);
  assert.deepEqual(
    rows.map(({ id }) => id),
    [3, 1, 2],
  );
  assert.equal(rows[0].a, null);
  assert.equal(rows[0].change, null);
  assert.ok(Math.abs(rows[1].b - 0.1) < 1e-12);
  assert.ok(Math.abs(rows[1].change + 0.5) < 1e-12);
  assert.ok(Math.abs(least.a - 0.3) < 1e-12 && Math.abs(least.b - 0.1) < 1e-12);
});

test("rounding before the first change draws as nothing, a change in full colour", () => {
  const noise = [0, 1e-7, 3e-7];
  assert.ok(3e-7 / mostOf(noise, "float32") < 0.02);
  assert.equal(mostOf([...noise, 0.4], "float32"), 0.4);
  assert.equal(mostOf([...noise, 2e-3], "float32"), 2e-3);
  assert.ok(0.004 / mostOf([0.004], "bfloat16") < 0.01); // a rounding step of bfloat16 is 2⁻⁷
  assert.ok(mostOf([], "another") > 0);
});

test("once all logits have come, every candidate has its probability in both runs", () => {
  const [first, second] = [
    [0.05, 0.6, 0.3, 0.05],
    [0.05, 0.1, 0.15, 0.7],
  ];
  const logits = (chances) => chances.map(Math.log);
  const a = next([1, 2], logits([0.6, 0.3]), 0, logits(first));
  const b = next([3, 1], logits([0.7, 0.1]), 0, logits(second));
  const { candidates } = compared(a, b);
  for (const row of candidates) {
    assert.ok(Math.abs(row.a - first[row.id]) < 1e-12);
    assert.ok(Math.abs(row.b - second[row.id]) < 1e-12);
  }
  assert.deepEqual(
    candidates.map(({ id }) => id),
    [3, 1, 2],
  );
});

/** Two runs of a network of four tokens that choose between them, as the panel reads them. */
const pair = (more = {}) => {
  const run = (ids, chances, changed = {}) => ({
    trace: {
      model: { name: "m", vocab_size: 4 },
      T: 3,
      tokens: { ids: [1, 2, 3] },
      next: { ...next(ids, chances.map(Math.log), 0), vocabSize: 4, tail: 0 },
      ...changed,
    },
    details: {},
  });
  return { A: run([1, 2], [0.6, 0.3]), B: run([3, 1], [0.7, 0.1], more) };
};

test("what two runs would choose is told of both, a candidate with its probability in each", () => {
  const read = (id, more) => choicesReader.read(pair(more), { id });
  assert.equal(valueOf(read(null)), "A next='t1' p=0.60000 B next='t3' p=0.70000");
  assert.equal(valueOf(read(1)), "'t1' A=0.60000 B=0.10000");
  assert.equal(valueOf(read(3)), "'t3' A=? B=0.70000"); // A's logits are still to come
  assert.equal(read(null).complete, false);
  const [head, ...rows] = savedRows(read(null));
  assert.deepEqual(head, ["id", "piece", "A", "B", "B_minus_A"]);
  assert.deepEqual(rows[0].slice(0, 3), [3, "t3", ""]);
});

test("tokens of two networks are not each other's; how well a text is predicted is said of the same text", () => {
  const other = { model: { name: "n", vocab_size: 4 } };
  const runs = pair(other);
  assert.equal(choicesReader.read(runs, { id: 1 }).candidates, null);
  assert.deepEqual(savedRows(choicesReader.read(runs, { id: 1 })).length, 1);
  assert.equal(choicesReader.read(runs, { id: null }).losses, null);
  const traces = (more) => Object.fromEntries(Object.entries(pair(more)).map(([side, { trace }]) => [side, trace]));
  assert.deepEqual(choicesReader.later(traces(other)), { A: {}, B: {} });
  assert.deepEqual(Object.keys(choicesReader.later(traces()).A), ["logits", "loss"]);
  assert.deepEqual(Object.keys(choicesReader.later(traces({ tokens: { ids: [1, 2, 0] } })).B), ["logits"]);
  const same = pair();
  same.B.details.loss = { mean: 1.5 };
  const { losses } = choicesReader.read(same, { id: null });
  assert.deepEqual(losses, { tokens: 2, vocabulary: 4, uniform: Math.log(4), a: null, b: 1.5 });
});

test("two streams lie ‖B − A‖ apart, beside ‖A‖, at every place that both have", () => {
  const answer = {
    apart: { shape: [2, 2], data: [0, 3, 0, 2] },
    first: { shape: [2, 2], data: [1, 4, 5, 8] },
  };
  const runs = { A: { trace: { id: "a" } }, B: { trace: { model: { dtype: "float32" } }, details: { apart: answer } } };
  assert.deepEqual(streamsReader.needs({ A: runs.A.trace }), { B: { apart: ["difference", { other: "a" }] } });
  const reading = streamsReader.read(runs, { layer: 7, token: 7 }); // as far as both have them
  assert.equal(valueOf(reading), "out token 1 apart=2.0000 first=8.0000 ratio=0.25000"); // of one layer: above it
  const below = streamsReader.read(runs, { layer: 0, token: 1 });
  assert.equal(valueOf(below), "layer 0 token 1 apart=3.0000 first=4.0000 ratio=0.75000");
  assert.equal(reading.same, false);
  assert.equal(reading.most, 0.75);
  assert.deepEqual(savedRows(reading), [
    ["before_layer", "token", "norm_of_difference", "norm_of_A", "ratio"],
    [0, 0, 0, 1, 0],
    [0, 1, 3, 4, 0.75],
    [1, 0, 0, 5, 0],
    [1, 1, 2, 8, 0.25],
  ]);
});

test("a head's row stands in A, in B, and B − A, key by key", () => {
  const model = {
    ...{ n_heads: 1, n_kv_heads: 1, head_dim: 1 },
    parts: { causal: true, prefix: null, rotary: null, bias: null, bias_after: null, scale: 1 },
  };
  // scores of the second token: 0 and ln 3 in A, 0 and 0 in B
  const run = (pieces, last) => ({
    trace: { model, tokens: { pieces } },
    held: {
      q: { shape: [1, 2, 1], data: Float64Array.of(0, 1) },
      k: { shape: [1, 2, 1], data: Float64Array.of(0, last) },
    },
  });
  const runs = { A: run(["a", "b"], Math.log(3)), B: run(["a", "c"], 0) };
  const cell = { layer: 2, head: 0, query: 1, key: 1 };
  const reading = headsReader.read(runs, { A: cell, B: cell });
  assert.equal(valueOf(reading), "layer 2 head 0 query 1 key 1 A=0.75000 B=0.50000 change=-0.25000");
  const [head, first, second] = savedRows(reading);
  assert.deepEqual(head, ["query", "key", "piece_in_A", "piece_in_B", "A", "B", "B_minus_A"]);
  assert.deepEqual(first.slice(0, 4), [1, 0, "a", "a"]);
  assert.deepEqual(second.slice(0, 4), [1, 1, "b", "c"]);
  assert.ok(Math.abs(first[6] - 0.25) < 1e-12 && Math.abs(second[6] + 0.25) < 1e-12);
});

test("a change has its sign, and none where one side is unknown", () => {
  const said = (change) => changeText((key) => key, change);
  assert.equal(said(0.25 - 0.5), "−25.0");
  assert.equal(said(0.5 - 0.25), "+25.0");
  assert.equal(said(0), "0");
  assert.equal(said(0.250229 - 0.25), "+0.0229"); // of 25.0% and 25.0%
  assert.equal(said(1e-9 - 3e-9), "chance.hardly_any");
  assert.equal(said(null), "");
});

test("changes are listed once and can be taken back", () => {
  let changes = added(added({}, "heads", [1, 2]), "heads", [1, 2]);
  changes = added(changes, "ffn", 0);
  assert.deepEqual(listed(changes), [
    { kind: "heads", value: [1, 2] },
    { kind: "ffn", value: 0 },
  ]);
  assert.deepEqual(removed(changes, "heads", [1, 2]).heads, []);
});

test("a stream can be taken over where the kept run has that token, of the same model", () => {
  const trace = { model: { name: "m", parts: { cross_scale: null } } };
  const at = (more) => atSelection({ layer: 1, head: 2, query: 3, neuron: null, trace, ...more });
  assert.equal(at({ kept: null }).patches, null);
  assert.deepEqual(at({ kept: { T: 4, model: { name: "m" } } }).patches, [1, 3]);
  assert.equal(at({ kept: { T: 3, model: { name: "m" } } }).patches, null);
  assert.equal(at({ kept: { T: 4, model: { name: "n" } } }).patches, null);
  assert.equal(at({ kept: null }).neurons, null);
  assert.deepEqual(at({ kept: null, neuron: 5 }).neurons, [1, 5]);
});

test("a head that looks at a source can be switched off where the network has such heads", () => {
  const of = (scale) =>
    atSelection({
      layer: 1,
      head: 2,
      query: 3,
      neuron: null,
      kept: null,
      trace: { model: { name: "m", parts: { cross_scale: scale } } },
    });
  assert.deepEqual(of(1).cross, [1, 2]);
  assert.equal("cross" in of(null), false);
});

test("while an encoder is shown its own parts are switched off, and none of the decoder's", () => {
  const trace = { whole: {}, model: { name: "m", parts: { cross_scale: null } } };
  const of = (neuron) =>
    atSelection({ layer: 1, head: 2, query: 3, neuron, kept: { T: 9, model: { name: "m" } }, trace });
  assert.deepEqual(of(7), { encoder_heads: [1, 2], encoder_attention: 1, encoder_ffn: 1, encoder_neurons: [1, 7] });
  assert.equal(of(null).encoder_neurons, null);
  assert.deepEqual(parameters("encoder_heads", [1, 2]), parameters("heads", [1, 2]));
  assert.deepEqual(parameters("encoder_ffn", 1), { layer: 1 });
});

test("a position has both runs' names where they differ", () => {
  assert.equal(nameOf(" cat", " cat"), "·cat");
  assert.equal(nameOf("The", " 小明"), "The → ·小明");
});

test("a change is found by its value", () => {
  assert.equal(has({ heads: [[1, 2]] }, "heads", [1, 2]), true);
  assert.equal(has({ heads: [[1, 2]] }, "heads", [2, 1]), false);
  assert.equal(has({}, "ffn", 0), false);
});
