// What the chapter on the whole reads off a run, by hand: what a sub-layer adds, a row of the diagram, a training.
import assert from "node:assert/strict";
import { test } from "node:test";
import { diagramReader } from "../../visuals/static/readings/diagram.js";
import { rowFor, rowsOf, stops } from "../../visuals/static/readings/diagram-rows.js";
import { additionReader, indexOfSublayer, sublayerAt } from "../../visuals/static/readings/overview.js";
import { savedRows } from "../../visuals/static/readings/reading.js";
import { trainingReader } from "../../visuals/static/readings/training.js";

const array = (shape, ...data) => ({ shape, data: Float64Array.from(data) });
const parts = (norms) => ({ norms, stack: null, norm_kind: "rms", latent: null, ffn: [] });
const model = {
  n_layers: 1,
  d_model: 2,
  vocab_size: 9,
  parts: parts({ attn_norm: "resid_in", ffn_norm: "resid_mid" }),
};
const trace = { model, T: 2, tokens: { ids: [7, 8], pieces: ["a", "b"] } };
// Two tokens; the stream's norms before layer 0, between its parts, and after it.
const stream = {
  resid: array([2, 2], 1, 3, 5, 7),
  resid_mid: array([1, 2], 2, 6),
  attn_out: array([1, 2], 0.5, 4),
  ffn_out: array([1, 2], 3, 0),
  attn_cosine: array([1, 2], 0.25, 0.5),
  ffn_cosine: array([1, 2], -1, NaN),
  final_normed: array([2], 1.5, 2.5),
  best: { ids: [], pieces: ["x", "y"], logit: array([2], 4, 6), probability: array([2], 0.5, 0.75) },
};

test("what a part adds is beside the stream that it reads, and the one that it leaves", () => {
  const read = (part, token) => additionReader.read({ trace, details: { stream } }, { layer: 0, part, token });
  assert.deepEqual(read("attn", 1).values, { norm: 4, cosine: 0.5, before: 3, after: 6 });
  assert.deepEqual(read("ffn", 0).values, { norm: 3, cosine: -1, before: 2, after: 5 });
  assert.ok(Number.isNaN(read("ffn", 1).values.cosine)); // of nothing that is added
  assert.equal(read("ffn", 1).at, "layer 0 ffn token 1");
  assert.deepEqual(savedRows(read("attn", 0)).slice(0, 3), [
    ["layer", "part", "token", "piece", "norm_added", "cosine_to_stream", "norm_before", "norm_after"],
    [0, "attn", 0, "a", 0.5, 0.25, 1, 2],
    [0, "attn", 1, "b", 4, 0.5, 3, 6],
  ]);
});

test("side by side, both parts read the same stream; where a network looks at a source, that comes between", () => {
  const { resid_mid: _, ...aside } = stream;
  const at = (part, given) =>
    additionReader.read({ trace, details: { stream: given } }, { layer: 0, part, token: 0 }).values;
  assert.deepEqual([at("attn", aside).before, at("attn", aside).after], [1, 5]);
  assert.deepEqual([at("ffn", aside).before, at("ffn", aside).after], [1, 5]);
  const crossing = {
    ...stream,
    resid_cross: array([1, 2], 1.5, 0),
    cross_out: array([1, 2], 0.75, 0),
    cross_cosine: array([1, 2], 0, 0),
  };
  assert.equal(at("attn", crossing).after, 1.5);
  assert.deepEqual(at("cross", crossing), { norm: 0.75, cosine: 0, before: 1.5, after: 2 });
  const three = { ...model, parts: parts({ ...model.parts.norms, cross_norm: "resid_cross" }) };
  assert.deepEqual(sublayerAt(4, three), { part: "cross", layer: 1 });
  assert.equal(indexOfSublayer({ part: "cross", layer: 1 }, three), 4);
});

const stage = { attn_out: array([2], -3, 2), ffn_out: array([2], 0, 0) };
const ends = {
  embedding: array([2], 1, 0),
  final: array([2], 0, 5),
  final_normed: array([2], 0, 2),
  logits: { ids: array([3], 2, 4, 6), values: array([3], -8, 6, 1) },
  log_z: 6.5,
};
const reads = (key, index, details = { stream, stage, ends }) =>
  diagramReader.read({ trace, details }, { key, layer: 0, token: 1, index });

test("a row's value is the one that is chosen, else of a vector the largest, of logits the highest", () => {
  assert.equal(reads("attn", null).at, "attn layer 0 token 1 channel 0 of attn_out");
  assert.deepEqual(reads("attn", null).values, { norm: 4, value: -3 });
  assert.deepEqual(reads("attn", 1).values, { norm: 4, value: 2 });
  assert.equal(reads("attn", 5).selection.index, 0); // which the vector does not have
  assert.equal(reads("head", null).at, "head layer 0 token 1 channel 4 of logits");
  assert.deepEqual(reads("head", null).values, { largest: 6, value: 6 });
  assert.equal(reads("softmax", 2).values.value, Math.exp(1 - 6.5));
  assert.equal(reads("softmax", 2).values.largest, 0.75);
});

test("a row is told without its values while they are not here, and without its size while that is not", () => {
  const coming = reads("attn", null, { stream, stage: null, ends: null });
  assert.equal(coming.at, "attn layer 0 token 1 attn_out");
  assert.deepEqual(coming.values, { norm: 4 });
  assert.deepEqual(reads("ffn_add", null, { stream: null, stage: null, ends: null }).values, {});
  assert.deepEqual(reads("ids", null).values, {});
  const [heads, ...rows] = savedRows(reads("attn", null));
  assert.deepEqual(heads, ["row", "tensor", "shape", "index", "value"]);
  assert.deepEqual(
    rows.filter(([row]) => row === "head"),
    [
      ["head", "logits", "9", 2, -8],
      ["head", "logits", "9", 4, 6],
      ["head", "logits", "9", 6, 1],
    ],
  );
});

test("the diagram has the rows that a network has, and the walk goes through all of them", () => {
  const one = { ...model, parts: parts({ attn_norm: "resid_in" }) }; // one norm before both parts
  assert.ok(!rowsOf(one).some(({ key }) => key === "attn_add" || key === "ffn_norm"));
  assert.deepEqual(
    [rowFor(one, "ffn_norm"), rowFor(one, "cross"), rowFor(model, "attn")],
    ["attn_norm", "attn", "attn"],
  );
  assert.deepEqual(
    stops(one).map(({ key, layer }) => `${key} ${layer}`),
    [
      ...["ids null", "embed null", "attn_norm 0", "attn 0", "ffn 0", "ffn_add 0"],
      ...["final_norm null", "head null", "softmax null"],
    ],
  );
});

test("a training is told by where its log ends; without one there is nothing to tell", () => {
  const found = {
    log: [
      ["patterns", 1_000_000, 3, 3.5],
      ["stories", 2_500_000, 2, 2.25],
    ],
    answers: { data: [{ name: "text:training.skill_recall", x: [1, 2.5], y: [0.5, 0.75] }] },
    measured: [{ name: "recall", language: "en", right: 3, cases: 4, bar: 0.5 }],
  };
  const read = (given) => trainingReader.read({ trace, details: { found: given } }, {});
  assert.deepEqual([read(found).at, read(found).values], ["stage stories", { tokens: 2_500_000, heldout: 2.25 }]);
  const rows = savedRows(read(found));
  assert.deepEqual(rows[3], ["training_loss", "stories", "", 2_500_000, 2, NaN, NaN]);
  assert.deepEqual(rows.slice(-2), [
    ["right_answers", "recall", "", 2_500_000, 0.75, NaN, NaN],
    ["measured", "recall", "en", "", 0.75, 3, 4],
  ]);
  assert.deepEqual(read({ log: [], answers: null, measured: [] }).values, {});
});
