// B − A: what is subtracted, when it can be, and which runs are fetched for it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { largest, subtract } from "../../visuals/static/arrays.js";
import { attention, scores } from "../../visuals/static/compute.js";
import { createFetching } from "../../visuals/static/fetching.js";
import { makeMap, readApart, readHead } from "../../visuals/static/marks/attention-values.js";
import { joined, rowsOf, selectedRows } from "../../visuals/static/difference/saved.js";
import { mostChanged, number, remainder, strongestChanges } from "../../visuals/static/difference/table.js";
import { hindrance } from "../../visuals/static/hindrance.js";
import { createStore } from "../../visuals/static/store.js";
import { layerMessage, layersMessage, runMessage } from "./payload_help.js";
import { llamaParts } from "./parts_help.js";
import { settled } from "./settled_help.js";

globalThis.requestAnimationFrame = () => 1;

test("B minus A, value by value, in double precision; unequal lengths are refused", () => {
  assert.deepEqual([...subtract(Float32Array.of(1, 2.5), [0.5, 3])], [0.5, -0.5]);
  assert.throws(() => subtract([1, 2], [1]), RangeError);
});

test("the largest magnitude passes over what is not a value", () => {
  assert.equal(largest([NaN, -3, 2]), 3);
  assert.equal(largest([]), 0);
});

test("runs are subtracted where model, mask and length agree", () => {
  const run = (name, T, prefix = null) => ({ model: { name, parts: { prefix } }, T });
  assert.equal(hindrance({ A: run("m", 4), B: run("m", 4) }), null);
  assert.equal(hindrance({ A: run("m", 4), B: run("m", 5) }), "lengths");
  assert.equal(hindrance({ A: run("n", 4), B: run("m", 4) }), "models");
  assert.equal(hindrance({ A: run("m", 4, 0), B: run("m", 4, 4) }), "masks");
  const exchanged = { ...run("m", 4), changes: { parts: ["norm:layer_norm"] } };
  assert.equal(hindrance({ A: run("m", 4), B: exchanged }), "parts");
  assert.equal(hindrance({ A: exchanged, B: exchanged }), null);
  const parts = (/** @type {string[]} */ ...names) => ({ ...run("m", 4), changes: { parts: names } });
  assert.equal(hindrance({ A: run("m", 4), B: parts("activation:relu", "top_k:1") }), null); // the same tensors
  assert.equal(hindrance({ A: exchanged, B: parts("activation:relu", "norm:layer_norm") }), null);
  assert.equal(hindrance({ A: exchanged, B: parts("activation:relu", "position:alibi") }), "parts");
});

test("the largest changes come first, and what is not listed is summed up", () => {
  const change = Float64Array.of(0.5, -2, 0, 2, 1);
  assert.deepEqual(strongestChanges(change, 3), [1, 3, 4]);
  assert.equal(mostChanged(change), 1);
  assert.deepEqual(remainder(change, [1, 3]), { count: 3, sum: 1.5 });
  assert.deepEqual(remainder(change, [0, 1, 2, 3, 4]), { count: 0, sum: 0 });
});

test("counts stay whole numbers", () => {
  assert.deepEqual([number(-26, 5), number(0.5, 3), number(0, 3)], ["−26", "0.500", "0"]);
});

const MODEL = { n_heads: 2, n_kv_heads: 1, head_dim: 4, parts: llamaParts([1, 0.1]) };
/** Some layer of T tokens, another one for each seed. */
const layer = (T, seed) => {
  const fill = (heads, salt) => ({
    shape: [heads, T, 4],
    data: Float32Array.from({ length: heads * T * 4 }, (_, i) => Math.sin(seed + salt + i * i)),
  });
  return { q: fill(2, 0), k: fill(1, 7) };
};

for (const view of ["weights", "scores", "weighted"]) {
  test(`a head's map of ${view} is the difference of the two runs' rows`, () => {
    const [a, b] = [layer(20, 1), layer(20, 2)];
    const norms = [3, 5].map((x) => Float64Array.from({ length: 20 }, (_, i) => x + i));
    const map = makeMap(
      [a, b].map((held, run) => readHead(held, MODEL, 1, view, norms[run])),
      1,
    );
    while (!map.work(performance.now() + 1));
    let limit = 0;
    for (let query = 0; query < 20; query++) {
      const [first, second] = [a, b].map((held, run) => {
        const values = (view === "scores" ? scores : attention)(held, MODEL, 1, query);
        return view === "weighted" ? values.map((x, key) => x * norms[run][key]) : values;
      });
      for (let key = 0; key < 20; key++) {
        const cell = map.values[query * 20 + key];
        if (key > query) assert.ok(Number.isNaN(cell));
        else assert.ok(Math.abs(cell - (second[key] - first[key])) < 1e-6);
        if (key <= query) limit = Math.max(limit, Math.abs(second[key] - first[key]));
      }
    }
    assert.ok(Math.abs(map.limit - limit) < 1e-12);
  });
}

test("a map's rows name the cell that each dot shows, with A, B and the change", () => {
  const [a, b] = [layer(8, 3), layer(8, 4)];
  const map = makeMap(
    [a, b].map((held) => readHead(held, MODEL, 0)),
    4,
  );
  while (!map.work(performance.now() + 1));
  const rows = map.rows();
  assert.equal(rows.length, 3); // of 2 × 2 dots the mask hides one
  for (const [query, key, inA, inB, change] of rows) {
    const [first, second] = [a, b].map((held) => attention(held, MODEL, 0, query)[key]);
    for (const [told, wanted] of [
      [inA, first],
      [inB, second],
      [change, second - first],
    ])
      assert.ok(Math.abs(told - wanted) < 1e-6);
    const dot = map.values[Math.floor(query / 4) * 2 + Math.floor(key / 4)];
    assert.equal(Math.fround(change), dot);
  }
});

test("a panel's parts stand under one row of names", () => {
  const vectors = rowsOf(["vector", "index"], (i) => ["q", i], [1, 2], [4, 1]);
  const selected = selectedRows("token 3", { p: 0.25, only_in_A: 1 }, { p: 0.5 }, { apart: 7 });
  assert.deepEqual(
    joined([
      ["selected", selected],
      ["strips", vectors],
    ]),
    [
      ["part", "at", "name", "vector", "index", "A", "B", "B_minus_A"],
      ["selected", "token 3", "apart", "", "", "", "", 7],
      ["selected", "token 3", "p", "", "", 0.25, 0.5, 0.25],
      ["strips", "", "", "q", 0, 1, 4, 3],
      ["strips", "", "", "q", 1, 2, 1, -1],
    ],
  );
});

test("two heads of two layers are subtracted in each run, then the runs", () => {
  const [a, b] = [1, 2].map((seed) => [layer(9, seed), layer(9, 10 * seed)]);
  const map = makeMap(
    [a, b].map(([one, other]) => readApart(readHead(one, MODEL, 1), readHead(other, MODEL, 0))),
    1,
  );
  while (!map.work(performance.now() + 1));
  for (let query = 0; query < 9; query++) {
    const [first, second] = [a, b].map(([one, other]) =>
      subtract(attention(one, MODEL, 1, query), attention(other, MODEL, 0, query)),
    );
    for (let key = 0; key <= query; key++)
      assert.ok(Math.abs(map.values[query * 9 + key] - (second[key] - first[key])) < 1e-6);
  }
  assert.ok(map.limit > 0);
});

test("a dot of several cells shows the largest change among them, not the change of the largest", () => {
  const [a, b] = [layer(8, 3), layer(8, 4)];
  const map = makeMap(
    [a, b].map((held) => readHead(held, MODEL, 0)),
    4,
  );
  while (!map.work(performance.now() + 1));
  const every = [];
  for (let query = 4; query < 8; query++) {
    const change = subtract(attention(b, MODEL, 0, query), attention(a, MODEL, 0, query));
    every.push(...change.slice(0, 4));
  }
  const most = every.reduce((x, y) => (Math.abs(y) > Math.abs(x) ? y : x));
  assert.ok(Math.abs(map.values[2] - most) < 1e-6);
  assert.throws(
    () =>
      makeMap(
        [layer(7, 1), b].map((held) => readHead(held, MODEL, 0)),
        1,
      ),
    RangeError,
  );
});

function connected(answers = {}) {
  const asked = [];
  const store = createStore();
  const note = (name, usual) => async (request) => {
    asked.push([name, request]);
    return (answers[name] ?? usual)(request);
  };
  const server = {
    layers: note("layers", ({ layers, token }) => layersMessage(layers, token)),
    neurons: note("neurons", ({ layer: index, token }) => layerMessage(index, 3, token ?? 0).neurons),
    detail: note("detail", () => ({ kind: "detail", data: { x: 1 } })),
    rerun: note("rerun", () => runMessage([5, 6, 7], { id: "renewed" })),
  };
  return { store, asked, fetching: createFetching(store, server) };
}

test("the difference needs two runs, shows B's positions, and ends with run A", async () => {
  const { store } = connected();
  const { state } = store;
  store.publish(runMessage([5, 6, 7], { id: "a" }));
  store.showSide("B-A");
  assert.equal(state.side, "B");
  store.keep(state.trace);
  store.showSide("B-A");
  assert.equal(state.side, "B");
  store.publish(runMessage([5, 6, 8], { id: "b" }));
  store.showSide("B-A");
  assert.deepEqual([state.side, state.trace.id], ["B-A", "b"]);
  store.publish(runMessage([5, 6, 9], { id: "c" }));
  assert.deepEqual([state.side, state.trace.id], ["B-A", "c"]);
  store.showSide("A");
  assert.equal(state.trace.id, "a");
  store.showSide("B-A");
  store.keep(null);
  assert.deepEqual([state.side, state.trace.id, store.sides()], ["B", "c", null]);
});

test("with the difference both runs' layers are fetched, before it one run's", async () => {
  const { store, asked } = connected();
  const { state } = store;
  store.publish(runMessage([5, 6, 7], { id: "a" }));
  store.keep(state.trace);
  store.publish(runMessage([5, 6, 8], { id: "b" }));
  await settled();
  assert.deepEqual(new Set(asked.map(([, { run }]) => run)), new Set(["b"]));
  store.showSide("B-A");
  await settled();
  assert.deepEqual([state.kept.layers.size, state.trace.layers.size], [4, 4]);
});

test("an answer about run A is kept with run A", async () => {
  const { store, asked, fetching } = connected();
  const { state } = store;
  store.publish(runMessage([5, 6, 7], { id: "a" }));
  store.keep(state.trace);
  store.publish(runMessage([5, 6, 8], { id: "b" }));
  store.showSide("B-A");
  assert.equal(fetching.detail("stream", {}, state.kept), null);
  await settled();
  assert.deepEqual(fetching.detail("stream", {}, state.kept), { x: 1 });
  assert.deepEqual(
    asked.filter(([name]) => name === "detail").map(([, { run }]) => run),
    ["a"],
  );
});

test("a run A that the server has let go of is run again, and asked about under its new name", async () => {
  const expired = ({ run }) => run === "a" && { kind: "message", code: "run_expired", params: {} };
  const { store, fetching } = connected({
    detail: (request) => expired(request) || { kind: "detail", data: { x: 2 } },
  });
  const { state } = store;
  store.publish(runMessage([5, 6, 7], { id: "a" }));
  store.keep(state.trace);
  store.publish(runMessage([5, 6, 8], { id: "b" }));
  store.showSide("B-A");
  fetching.detail("stream", {}, state.kept);
  await settled();
  assert.deepEqual([state.kept.id, state.trace.id, state.side], ["renewed", "b", "B-A"]);
  fetching.detail("stream", {}, state.kept);
  await settled();
  assert.deepEqual(fetching.detail("stream", {}, state.kept), { x: 2 });
});
