// The header of a .safetensors file, whatever its length is.

import assert from "node:assert/strict";
import { File } from "node:buffer";
import { test } from "node:test";
import { heldBy, readFiles, readText } from "../../visuals/static/panels/kv/weight-files.js";

/** A file of one tensor of two numbers whose header has so many bytes. */
function fileOf(length) {
  const header = JSON.stringify({ w: { dtype: "F32", shape: [2], data_offsets: [0, 8] } }).padEnd(length);
  const start = new DataView(new ArrayBuffer(8));
  start.setBigUint64(0, BigInt(length), true);
  return new File([start, header, new Uint8Array(8)], "model.safetensors");
}

test("a header whose length begins as JSON does is no JSON", async () => {
  for (const length of [120, 0x7b, 0x7b7b]) {
    const held = await readFiles([fileOf(length)]);
    assert.deepEqual(held, { tensors: [{ name: "w", dtype: "F32", shape: [2], count: 1 }] });
  }
});

test("a file of JSON is an index", async () => {
  const index = JSON.stringify({ metadata: { total_size: 8 }, weight_map: { w: "model.safetensors" } });
  assert.deepEqual(await readFiles([new File([index], "index.json")]), { tensors: [], total_size: 8 });
});

test("a comma too many is said with its place, whatever stands in texts", () => {
  const refused = (text, reason, line, column) =>
    assert.throws(() => readText(text), { reason, params: { line, column } });
  refused('{ "a,}": { "dtype": "F32", "shape": [2] },\n}', "comma_object", 1, 42);
  refused('{\n "a\\",]": { "dtype": "F32",\n "shape": [2, ] } }', "comma_array", 3, 13);
  assert.throws(() => readText('{ "a,}": '), { reason: "no_json" });
});

test("llama.cpp's lines on a file give its size, and name its types, which have no sizes", () => {
  const types = "llama_model_loader: - type  f32:  161 tensors\nllama_model_loader: - type q4_K:  441 tensors\n";
  const held = heldBy([readText(`${types}print_info: file size   = 39.59 GiB (4.82 BPW)`)]);
  const logged = { size: "39.59 GiB", types: ["f32 × 161", "q4_K × 441"] };
  assert.deepEqual(held, { tensors: [], total_size: Math.round(39.59 * 2 ** 30), logged });
  assert.throws(() => readText(types), { reason: "types_alone", params: { types: "f32 × 161, q4_K × 441" } });
});
