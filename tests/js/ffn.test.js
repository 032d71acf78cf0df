// Feed-forwards of every kind as the panels speak of them, and how a router chooses, by hand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { poolColumns } from "../../visuals/static/arrays.js";
import { answerNeuron } from "../../visuals/static/readings/answer-neuron.js";
import { ffnForms, kindOf } from "../../visuals/static/readings/ffn-kinds.js";
import { drawnOf, everyNeuron, neuronsReader } from "../../visuals/static/readings/neurons.js";
import { firingReader, mapReader } from "../../visuals/static/readings/firing.js";
import { everyWrites, writesReader } from "../../visuals/static/readings/neuron-writes.js";
import { savedRows } from "../../visuals/static/readings/reading.js";
import { expertOf, neuronName, neuronPlace } from "../../visuals/static/neuron-names.js";
import {
  chooseFor,
  chosenAt,
  expertsReader,
  firstWithExperts,
  loads,
  weightMap,
} from "../../visuals/static/readings/routing.js";
import { strongestChanges, remainder } from "../../visuals/static/difference/table.js";

const plain = { activation: "gelu_new", gated: false, neurons: 4, width: 4, experts: 0 };
const routed = { activation: "silu", gated: true, neurons: 7, width: 2, experts: 3, shared: 1, top_k: 1 };
const array = (values, shape = [values.length]) => ({ shape, data: Float32Array.from(values) });
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);

test("a feed-forward is named after its activation, what that reads, and its form", () => {
  assert.deepEqual(
    [kindOf(plain).act, kindOf(plain).column, kindOf(plain).reads, kindOf(plain).form],
    ["GELU", "gelu", "up", "plain"],
  );
  assert.deepEqual(
    kindOf(plain).strips.map(([name]) => name),
    ["up", "activated"],
  );
  assert.equal(kindOf({ activation: "silu", gated: true, experts: 0 }).form, "");
  assert.equal(kindOf({ activation: "gelu", gated: true, experts: 0 }).form, "gated");
  assert.deepEqual(ffnForms({ parts: { ffn: [plain, routed] } }, 1), ["experts"]);
});

test("of experts those neurons are drawn that compute something, each with its expert's name", () => {
  const [gate, up, weight] = [
    [NaN, NaN, 1, -1, NaN, NaN, 2],
    [NaN, NaN, 2, 3, NaN, NaN, 1],
    [NaN, NaN, 0.5, 0.5, NaN, NaN, 1],
  ].map((one) => array(one));
  const drawn = drawnOf({ gate, up, weight, ffn: routed });
  assert.deepEqual(Array.from(drawn.index), [2, 3, 6]);
  near(drawn.product[0], 0.7310585786);
  near(drawn.product[2], 1.7615941559);
  assert.deepEqual([drawn.of(1), drawn.place(3), drawn.place(0)], [3, 1, -1]);
  assert.equal(
    drawn.quadrants.reduce((sum, { count }) => sum + count, 0),
    3,
  );
  assert.deepEqual(
    [expertOf(routed, 5), expertOf(routed, 6)],
    [
      { expert: 2, own: 1 },
      { expert: null, own: 0 },
    ],
  );
  const text = (key, { neuron, expert }) => `${key} ${neuron} ${expert ?? ""}`;
  assert.deepEqual(
    [neuronName(plain, 3, text), neuronName(routed, 3, text), neuronName(routed, 6, text)],
    ["3", "experts.neuron_of 1 1", "experts.neuron_shared 0 "],
  );
  assert.equal(neuronPlace(routed, 6), "neuron 6 expert shared own 0");
  const whole = drawnOf({ gate: null, up: array([1, -1, 0, 2]), weight: null, ffn: plain });
  assert.deepEqual([whole.index, whole.of(2), whole.place(4)], [null, 2, -1]);
});

test("NaN marks no value: a column shows another, and no change is made of it", () => {
  assert.deepEqual(poolColumns([NaN, 1, -2, NaN], 2), [1, 2]);
  assert.deepEqual(strongestChanges([NaN, 1, -2], 3), [2, 1]);
  assert.deepEqual(remainder([NaN, 1, -2], [2]), { count: 1, sum: 1 });
});

const how = { experts: 4, top_k: 2, normalised: true, scaling: 1, groups: 1, kept_groups: 1, group_best: 1 };
const routing = (scores, balance = null) => ({ scores: array(scores, [1, 4]), balance: balance && array(balance) });

test("the two best scores, divided by their sum", () => {
  const { chosen, weights, sum, groups } = chooseFor(routing([0.1, 0.4, 0.2, 0.3]), how, 0);
  assert.deepEqual([chosen, groups], [[1, 3], []]);
  near(sum, 0.7);
  near(weights[0], 0.4 / 0.7);
});

test("a balance is for the choice alone; of groups the best are open, and weights are scaled", () => {
  const { chosen, weights, order } = chooseFor(
    routing([0.5, 0.4, 0.3, 0.2], [0, 0, 0, 0.25]),
    { ...how, normalised: false, scaling: 2 },
    0,
  );
  assert.deepEqual(
    [chosen, order],
    [
      [0, 3],
      [0, 3, 1, 2],
    ],
  ); // 0.5, and 0.2 + 0.25
  near(weights[1], 0.4);
  const grouped = chooseFor(routing([0.5, 0.1, 0.35, 0.3]), { ...how, groups: 2, group_best: 2 }, 0);
  assert.deepEqual(
    [grouped.chosen, grouped.groups.map(({ kept }) => kept)],
    [
      [2, 3],
      [false, true],
    ],
  ); // 0.65 of two beat 0.6
  near(grouped.groups[0].score, 0.6);
});

test("loads count the tokens of each expert; the map has no value where a token does not go", () => {
  const taken = {
    chosen: { shape: [3, 1], data: Uint16Array.from([2, 0, 2]) },
    weight: array([0.5, 1, 0.25], [3, 1]),
    length: array([7, 8, 9], [3, 1]),
  };
  assert.deepEqual(loads(taken, 3), [
    { tokens: 1, weight: 1 },
    { tokens: 0, weight: 0 },
    { tokens: 2, weight: 0.75 },
  ]);
  assert.deepEqual(Array.from(weightMap(taken, 3)), [NaN, 1, NaN, NaN, NaN, NaN, 0.5, NaN, 0.25]);
  assert.deepEqual(chosenAt(taken, 2), [{ expert: 2, weight: 0.25, length: 9 }]);
  assert.deepEqual(
    [firstWithExperts({ parts: { ffn: [plain, routed] } }), firstWithExperts({ parts: { ffn: [plain] } })],
    [1, null],
  );
});

const swish = (x) => x / (1 + Math.exp(-x));
/** A layer of three neurons at two tokens; its strongest neuron there is the last, then the first. */
const layerOf = (neurons) => ({
  ffn: { activation: "silu", gated: true, neurons: 3, width: 3, experts: 0 },
  neurons: new Map(neurons ? [[1, neurons]] : []),
  top: { neuron: array([0, 1, 2, 0], [2, 2]), gate: array([1, 1, 3, -1]), up: array([1, 1, 4, 2]), weight: null },
});
const gates = { gate: array([-1, 0.5, 3]), up: array([2, 1, 4]), weight: null };
const runOf = (neurons, changes = {}) => {
  const held = layerOf(neurons && { ...neurons, ffn: layerOf().ffn });
  return { trace: { changes, model: { parts: { ffn: [held.ffn] } } }, held, details: {} };
};

test("of a token the strongest neurons are read until all are here, then the selected one", () => {
  const selected = { layer: 0, query: 1, neuron: 1 };
  const early = neuronsReader.read(runOf(null), selected);
  assert.deepEqual([early.at, early.selection.neuron, early.full], ["neuron 2", 2, null]);
  assert.deepEqual(Object.keys(early.values), ["gate", "silu", "up", "product"]);
  near(early.values.product, swish(3) * 4);
  const whole = neuronsReader.read(runOf(gates), selected);
  assert.equal(whole.at, "neuron 1");
  near(whole.values.product, swish(0.5));
  const [head, ...rows] = savedRows(neuronsReader.read(runOf(gates, { neurons: [[0, 2]] }), selected));
  assert.deepEqual(head, ["neuron", "gate", "silu", "up", "product", "off"]);
  assert.deepEqual(
    rows.map(([neuron, gate, , up, , off]) => [neuron, gate, up, off]),
    [
      [0, -1, 2, 0],
      [1, 0.5, 1, 0],
      [2, 3, 4, 1],
    ],
  );
  near(rows[0][4], swish(-1) * 2);
});

test("of experts all neurons are subtracted, without a number those that compute nothing", () => {
  const [gate, up, weight] = [
    [NaN, NaN, 1, -1, NaN, NaN, 2],
    [NaN, NaN, 2, 3, NaN, NaN, 1],
    [NaN, NaN, 0.5, 0.5, NaN, NaN, 1],
  ].map((one) => array(one));
  const top = { neuron: array([2], [1, 1]), gate: array([1]), up: array([2]), weight: array([0.5]) };
  const held = { ffn: routed, top, neurons: new Map([[0, { gate, up, weight, ffn: routed }]]) };
  const read = (neuron) => everyNeuron.read({ held }, { layer: 4, query: 0, neuron });
  assert.equal(read(null).at, "layer 4 token 0 neuron 2 expert 1 own 0");
  near(read(null).values.product, swish(1) * 2 * 0.5);
  assert.ok(Number.isNaN(read(0).values.product));
  const { keys, columns } = read(0).rows.neurons();
  assert.deepEqual(keys.neuron, [0, 1, 2, 3, 4, 5, 6]);
  // named alike whatever the activation, so that a run with another one can be subtracted
  assert.deepEqual(Object.keys(columns), ["gate", "activated", "up", "weight", "product"]);
  near(columns.product[6], swish(2));
});

test("what the strongest neurons write is of the locked token; another selected one is asked for, too", () => {
  const writes = (neuron, norm) => ({
    neuron,
    norm,
    raised: [{ id: 7, piece: "a", by: 0.5 }],
    lowered: [{ id: 8, piece: "b", by: -0.25 }],
  });
  const found = { rows: [writes(2, 6), writes(0, 1)], rest: 0.5, whole: 6.5 };
  const selection = { layer: 0, query: 1, neuron: 1, lockedLayer: 0, lockedQuery: 1, lockedNeuron: 1 };
  const model = { parts: { stack: null } };
  const asked = writesReader.later({ model }, selection, () => found);
  assert.deepEqual([asked.found[1].neuron, asked.extra[1].neuron], [null, 1]);
  assert.equal(writesReader.later({ model }, selection, () => null).extra, undefined);
  assert.deepEqual(
    writesReader.later({ model: { parts: { stack: "encoder" } } }, selection, () => found),
    {},
  );

  const run = runOf(gates);
  run.trace.layers = new Map([[0, run.held]]);
  const early = writesReader.read({ ...run, details: { found: null } }, selection);
  assert.equal(early.at, "layer 0 token 1 neuron 1 quadrants=1,2,0,0");
  assert.deepEqual([early.row, early.written, "writes" in early.values], [null, null, false]);
  const extra = { rows: [writes(1, 0.75)], rest: 0, whole: 6.5 };
  const whole = writesReader.read({ ...run, details: { found, extra } }, selection);
  assert.deepEqual([whole.values.writes, whole.values.raised, whole.written.count], [0.75, 0.5, 2]);
  assert.deepEqual(
    whole.written.rows.map(({ neuron }) => neuron),
    [1, 2, 0],
  );
  const elsewhere = writesReader.read({ ...run, details: { found, extra } }, { ...selection, lockedQuery: 0 });
  assert.deepEqual([elsewhere.row, elsewhere.listed], [null, null]);
  const [head, ...rows] = savedRows(whole);
  assert.deepEqual(head, ["neuron", "quadrant", "gate", "silu", "up", "product"]);
  assert.deepEqual(
    rows.map(([, quadrant]) => quadrant),
    ["gate <= 0, up > 0", "gate > 0, up > 0", "gate > 0, up > 0"],
  );

  const both = everyWrites.read({ ...run, details: { written: found } }, { ...selection, neuron: 2, other: "b" });
  assert.equal(both.values.writes, 6);
  const { quadrants, lengths, pushes } = both.rows;
  assert.deepEqual(quadrants().columns.count, [1, 2, 0, 0]);
  assert.deepEqual(quadrants().keys.quadrant[3], "gate > 0, up <= 0");
  assert.deepEqual(lengths(), { keys: { neuron: [2, 0] }, columns: { length: [6, 1] } });
  assert.deepEqual(pushes().columns.by, [0.5, -0.25, 0.5, -0.25]);
});

test("across tokens a neuron of the map is told of, or another of the token's; measures are of their layer", () => {
  const map = {
    neurons: [2, 0],
    gate: array([1, 3, -2, -1], [2, 2]),
    up: array([1, 4, 1, 2], [2, 2]),
    weight: null,
  };
  const measure = (...values) => array(values, [2, 2]);
  const firing = { top: measure(1, 1, 0.25, 0.5), open: measure(0, 0, 0.5, 1), needed: measure(0, 0, 0.125, 0.375) };
  const run = runOf(gates);
  const trace = { ...run.trace, T: 2, tokens: { pieces: ["a", "b"] }, layers: new Map([[0, run.held]]) };
  const read = (reader, neuron, details = { map, firing }) =>
    reader.read({ trace, details }, { layer: 0, query: 1, neuron, measured: 1 });

  const strongest = read(firingReader, null);
  assert.equal(strongest.at, "layer 0 neuron 2 token 1 measured layer 1");
  near(strongest.values.product, swish(3) * 4);
  const { top, mean_top, mean_needed } = strongest.values;
  assert.deepEqual([top, mean_top, mean_needed], [0.5, 0.375, 0.25]);
  assert.deepEqual(Object.keys(read(firingReader, 0, { map, firing: null }).values), ["gate", "up", "product"]);
  near(read(firingReader, 0).values.product, swish(-1) * 2);
  near(read(firingReader, 1).values.product, swish(0.5)); // which the map has not
  assert.deepEqual(
    [read(mapReader, 1).selection.neuron, read(mapReader, 0).selection.neuron],
    [2, 0], // of which alone both runs have all tokens
  );
  const [head, ...rows] = savedRows(strongest);
  assert.deepEqual(head, ["neuron", "token", "piece", "gate", "up", "product"]);
  assert.deepEqual(
    rows.map((row) => row.slice(0, 5)),
    [
      [2, 0, "a", 1, 1],
      [2, 1, "b", 3, 4],
      [0, 0, "a", -2, 1],
      [0, 1, "b", -1, 2],
    ],
  );
  const { keys, columns } = strongest.rows.means();
  assert.deepEqual([keys.layer[3], keys.measure[3], columns.mean[3]], [1, "top", 0.375]);
});

test("the network's choice of experts is read beside the formula's; a dense layer names one that has some", () => {
  const ffn = { ...how, experts: 4, balanced: false };
  const found = {
    scores: array([0.1, 0.4, 0.2, 0.3, 0.7, 0.1, 0.15, 0.05], [2, 4]),
    balance: null,
    chosen: { shape: [2, 2], data: Uint16Array.from([1, 3, 0, 2]) },
    weight: array([4 / 7, 3 / 7, 0.7 / 0.85, 0.15 / 0.85], [2, 2]),
    length: array([1, 2, 3, 4], [2, 2]),
    shared: null,
    whole: array([5, 6]),
  };
  const trace = { model: { parts: { ffn: [plain, ffn] } }, tokens: { pieces: ["a", "b"] } };
  assert.deepEqual(expertsReader.needs(trace, { layer: 0 }), {});
  assert.deepEqual(expertsReader.needs(trace, { layer: 1 }), { found: ["experts", { layer: 1 }] });
  const dense = expertsReader.read({ trace, details: {} }, { layer: 0, query: 1 });
  assert.deepEqual([dense.at, dense.routed, savedRows(dense).length], ["layer 0 dense first 1", null, 1]);
  const reading = expertsReader.read({ trace, details: { found } }, { layer: 1, query: 0 });
  assert.equal(reading.at, "layer 1 token 0 chosen=1:0.57143,3:0.42857 formula=1:0.57143,3:0.42857 load=1,1,1,1");
  assert.deepEqual(reading.values, { whole: 5 });
  assert.deepEqual([reading.routed.share, reading.routed.unused], [1, 0]);
  const [head, ...rows] = savedRows(reading);
  assert.deepEqual(head.slice(0, 5), ["layer", "token", "piece", "expert", "score"]);
  assert.deepEqual([rows.length, rows[5][3], rows[5].slice(6)], [8, 1, [0, 0]]); // to which token 1 does not go
  assert.deepEqual(rows[6].slice(1, 4).concat(rows[6][7]), [1, "b", 2, 4]);
});

test("of the neurons that add much to an answer, one that raises it most is told of, else the first", () => {
  const row = (neuron, adds, ...raised) => ({ neuron, gate: 2, up: 3, adds, raised: raised.map((id) => ({ id })) });
  const of = (...rows) => {
    const { neuron, rank, names } = answerNeuron({ rows }, 7);
    return [neuron, rank, names];
  };
  assert.deepEqual(of(row(4, 1, 5, 7), row(2, 0.6, 7), row(1, 0.5, 7)), [2, 2, true]);
  assert.deepEqual(of(row(4, 1, 5), row(2, 0.6, 5, 7), row(1, 0.3, 7)), [2, 2, true]);
  assert.deepEqual(of(row(4, 1, 5), row(2, 0.3, 7)), [4, 1, false]); // which adds too little
  assert.equal(answerNeuron({ rows: [{ ...row(4, 1, 5), gate: null }] }, 7), null);
  near(answerNeuron({ rows: [row(4, 1, 5)] }, 7).product, swish(2) * 3);
});
