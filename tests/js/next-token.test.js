// What the chapter on the next token reads off a run: each number beside the sum done by hand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { contributionReader } from "../../visuals/static/readings/contributions.js";
import { followedReader, lensReader } from "../../visuals/static/readings/lens.js";
import { namedInEither, nameInEither, PLAIN, tokenReader } from "../../visuals/static/readings/logits.js";
import { heatedIn, nextReader } from "../../visuals/static/readings/next.js";
import { probabilitiesIn } from "../../visuals/static/readings/probabilities.js";
import { savedRows } from "../../visuals/static/readings/reading.js";
import { samplingReader } from "../../visuals/static/readings/sampling.js";

const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-6, `${actual} is not ${expected}`);
const packed = (shape, data) => ({ shape, data });

/** Of four tokens with probabilities 1/10, 4/10, 3/10 and 2/10, the two most probable are named. */
const logits = Float32Array.from([1, 4, 3, 2], Math.log);
const next = {
  ids: [1, 2],
  pieces: [" b", " c"],
  logits: { data: Float32Array.from([4, 3], Math.log) },
  logZ: Math.log(10),
  vocabSize: 4,
  tail: 0.3,
};
const trace = { T: 2, nPrompt: 2, tokens: { ids: [0, 1], pieces: ["x", " b"] }, steps: [], next, model: {} };
const run = { trace, details: { logits: { logits: { data: logits } } } };
const sliders = { temperature: 0.5, topK: 3, topP: 1, seed: 7, then: true, rests: true };

test("a token that is no candidate has its probability once all logits are here", () => {
  const [known, every] = [probabilitiesIn(next, null), probabilitiesIn(next, logits)];
  near(known.of(2), 0.3);
  near(known.least, 0.3);
  assert.equal(known.of(3), null);
  near(every.of(3), 0.2);
  assert.equal(every.of(4), 0); // of another vocabulary
});

test("a candidate is read after each filter, and the draw is asked for once the sliders rest", () => {
  const at = (rank, stage) => samplingReader.read(run, { token: null, rank, stage, ...sliders });
  near(at(0, "softmax").values.p, 0.4);
  near(at(0, "all").values.p, 16 / 30); // squares of 4, 3, 2 and 1
  near(at(0, "topK").values.p, 16 / 29);
  near(at(3, "topP").values.p, 0);
  assert.deepEqual([at(1, "topP").at, at(3, "all").at], ["'·c' rank 2 topP", "'#0' rank 4 all"]);
  near(at(1, "topP").values.logit, Math.log(3));
  assert.deepEqual(samplingReader.needs(trace, { token: null }), { logits: ["logits", {}] });
  assert.deepEqual(samplingReader.later(trace, at(0, "topP").selection), {
    drawn: ["draw", { temperature: 0.5, top_k: 3, top_p: 1, seed: 7 }],
  });
  assert.deepEqual(samplingReader.later(trace, { ...sliders, token: null, rests: false }), {});
  const [names, first] = savedRows(at(0, "topP"));
  assert.deepEqual(names, ["rank", "id", "piece", "logit", "softmax", "all", "topK", "topP"]);
  assert.deepEqual(first.slice(0, 3), [1, 1, " b"]);
});

test("a temperature makes the first candidates more or less even, among the whole vocabulary", () => {
  const at = (temperature) => heatedIn(next, logits, temperature, 6);
  assert.deepEqual(
    at(1).map(({ id, piece }) => [id, piece]),
    [
      [1, " b"],
      [2, " c"],
    ],
  );
  near(at(1)[0].probability, 0.4);
  near(at(0.5)[0].probability, 16 / 30); // squares of 4, 3, 2 and 1
  near(at(0.5)[1].probability, 9 / 30);
  near(at(2)[0].probability, 2 / (1 + 2 + Math.sqrt(3) + Math.sqrt(2)));
  assert.equal(heatedIn(next, logits, 1, 1).length, 1);
});

test("two runs have a token of the vocabulary in common, and those that either names come first", () => {
  const other = Float32Array.from([6, 1, 1, 2], Math.log);
  const named = { ...trace, next: { ...next, ids: [0, 3], pieces: [" a", " d"] } };
  const b = { trace: named, details: { logits: { logits: { data: other } } } };
  const [one, two] = [run, b].map((each) => tokenReader.read(each, { token: null, id: null, ...PLAIN }));
  assert.deepEqual([one.at, two.at], ["id 1", "id 0"]);
  near(two.values.p, 0.6);
  assert.deepEqual(namedInEither(one, two), [0, 1, 2, 3]);
  assert.deepEqual(
    [0, 1].map((id) => nameInEither(id, run, b)),
    ["·a", "·b"],
  );
  const filtered = tokenReader.read(run, { token: null, id: 2, ...sliders });
  near(filtered.values.p, 9 / 29);
  near(filtered.rows.probabilities().columns.p[3], 4 / 29);
  assert.equal(filtered.rows.logits().columns.logit, logits);
});

test("the first candidates and all others are read, and sum to 1", () => {
  const at = (row) => nextReader.read(run, { token: null, generating: false, count: 1, row });
  assert.equal(at(0).at, "' b' rank 1");
  near(at(0).values.p, 0.4);
  assert.equal(at(2).at, "others 3");
  near(at(2).values.p, 0.6);
  const rows = savedRows(at(0));
  assert.deepEqual(rows.at(-1).slice(0, 2), ["", "2 others"]);
  near(
    rows.slice(1).reduce((sum, row) => sum + row[3], 0),
    1,
  );
});

/** Depths 1 and 2 of a lens over two tokens, the best token alone. */
const lens = {
  first: 1,
  names: { ids: [3, 4, 7], pieces: [" a", " b", " c"] },
  targets: packed([2], [7, 4]),
  ids: packed([2, 2, 1], [3, 4, 7, 4]),
  probabilities: packed([2, 2, 1], [0.6, 0.7, 0.5, 0.9]),
  rank: packed([2, 2], [5, 1, 0, 0]),
  logit: packed([2, 2], [0, 0, 0, 0]),
  probability: packed([2, 2], [0.25, 0.1, 0.5, 0.9]),
};
const at = { depth: 1, token: 0, follow: false, jacobian: false };

test("a lens is read at a depth and token, and saved at all of them", () => {
  const details = { lens, plain: lens };
  const read = lensReader.read({ trace, details }, at);
  assert.deepEqual([read.at, read.values], ["layer 0 token 0 top 3 target 7 rank 6", { p: 0.6, p_target: 0.25 }]);
  assert.deepEqual(
    read.way.map(({ p }) => p),
    [NaN, 0.25, 0.5],
  );
  const early = lensReader.read({ trace, details }, { ...at, depth: 0 });
  assert.deepEqual([early.at, early.values], ["embedding token 0 unfitted", {}]);
  const rows = savedRows(read);
  assert.equal(rows.length, 1 + 3 * 2);
  assert.deepEqual(Object.fromEntries(rows[0].map((name, i) => [name, rows[6][i]])), {
    depth: 2,
    token: 1,
    piece: " b",
    rank_1_id: 4,
    rank_1_piece: "·b",
    followed_id: 4,
    rank_1_probability: 0.9,
    followed_rank: 1,
    followed_probability: 0.9,
  });
});

test("one token is asked for by itself until all are here; of two runs the token that B follows is read", () => {
  const asked = [];
  const answered = (...question) => void asked.push(question);
  assert.deepEqual(lensReader.needs(trace, at, answered), { early: ["lens", { follow: false, token: 0 }] });
  assert.deepEqual(asked[0], ["lens", { follow: false }]);
  assert.deepEqual(followedReader.needs(trace, { ...at, other: "b" }), {
    lens: ["lens", { follow: false, other: "b" }],
  });
  const { at: place, values, rows } = followedReader.read({ trace, details: { lens } }, at);
  assert.deepEqual([place, values], ["layer 0 token 0", { p: 0.25, rank: 6 }]);
  assert.deepEqual(rows.depths().columns.p, [NaN, 0.25, 0.5]);
});

test("a logit's parts are read in the order of the network, and their sum beside the model's own", () => {
  const shares = {
    names: { ids: [7], pieces: [" c"] },
    embedding: { data: [1, 2] },
    attention: packed([1, 2], [10, 20]),
    cross: null,
    ffn: packed([1, 2], [100, 200]),
    patched: { data: [0, 0] },
    constant: { data: [0.5, 0.5] },
    targets: { data: [7, 7] },
    against: null,
    logit: { data: [111.5, 222.5] },
    scale: { data: [3, 4] },
  };
  const model = { n_layers: 1, parts: { norms: { cross_norm: null } } };
  const read = (kind) =>
    contributionReader.read(
      { trace: { ...trace, model }, details: { shares } },
      { kind, layer: 0, token: 1, versus: false },
    );
  assert.deepEqual(read("ffn").values, { adds: 200, sum: 222.5, logit: 222.5, final_rms: 4 });
  assert.deepEqual(
    [read("ffn").at, read("embedding").at],
    ["layer 0 ffn token 1 target 7", "embedding token 1 target 7"],
  );
  assert.deepEqual(read("ffn").rows.writers().columns.contribution, [2, 20, 200, 0]);
  assert.deepEqual(savedRows(read("ffn")).at(-1), [1, " b", "ffn", 0, 7, "·c", 200]);
});
