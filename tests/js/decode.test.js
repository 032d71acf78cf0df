import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeArray, decodeLayer, decodeRun, decodeStep, halfToNumber } from "../../visuals/static/decode.js";
import { layerMessage, pack, runMessage, stepMessage } from "./payload_help.js";

test("arrays of every type come back with their shape", () => {
  assert.deepEqual(decodeArray(pack([1.5, -2, 3, 4], [2, 2])), { shape: [2, 2], data: Float32Array.of(1.5, -2, 3, 4) });
  assert.deepEqual([...decodeArray(pack([0, 65535], [2], "u2")).data], [0, 65535]);
  assert.deepEqual([...decodeArray(pack([-5], [1], "i4")).data], [-5]);
  assert.deepEqual([...decodeArray(pack([255], [1], "u1")).data], [255]);
  assert.deepEqual([...decodeArray(pack([], [0, 4])).data], []);
});

test("what Python packs is what is read", () => {
  const packed = { dtype: "u2", shape: [1, 3], data: "AQACAAMA" }; // also in tests/visuals/test_payload.py
  assert.deepEqual([...decodeArray(packed).data], [1, 2, 3]);
});

test("half precision", () => {
  const cases = [
    [0x0000, 0],
    [0x3c00, 1],
    [0xc000, -2],
    [0x7bff, 65504],
    [0x0001, 2 ** -24],
    [0x7c00, Infinity],
    [0x3555, 0.333251953125],
  ];
  for (const [half, value] of cases) assert.equal(halfToNumber(half), value);
  assert.ok(Number.isNaN(halfToNumber(0x7e00)));
  assert.deepEqual([...decodeArray(pack([0x3c00, 0xc000], [2], "f2")).data], [1, -2]);
});

test("a wrong size and an unknown type are errors", () => {
  assert.throws(() => decodeArray({ ...pack([1, 2]), shape: [3] }), /holds 2 values, expected 3/);
  assert.throws(() => decodeArray({ dtype: "f8", shape: [0], data: "" }), /unknown dtype f8/);
});

test("a run, its layer and its steps", () => {
  const run = decodeRun(runMessage([5, 6, 7], { n_prompt: 2, steps: [{ ...stepMessage(0), next: null }] }));
  assert.equal(run.T, 3);
  assert.equal(run.nPrompt, 2);
  assert.equal(run.steps[0].next, null);
  assert.deepEqual(run.sinks, []);
  assert.deepEqual(decodeRun(runMessage([5, 6, 7], { sinks: [0, 2] })).sinks, [0, 2]);
  assert.deepEqual(run.layers.get(0).q.shape, [4, 3, 4]);
  assert.deepEqual([...run.layers.get(0).neurons.keys()], [2]);
  assert.equal(decodeStep(stepMessage(3)).cacheBytes, 128);
  assert.equal(decodeStep(stepMessage(3)).next.logZ, 2.5);
  assert.equal(decodeLayer(layerMessage(2), run.model).index, 2);
});
