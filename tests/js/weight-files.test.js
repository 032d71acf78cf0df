// The header of a .safetensors file, whatever its length is.

import assert from "node:assert/strict";
import { File } from "node:buffer";
import { test } from "node:test";
import { readFiles } from "../../visuals/static/panels/kv/weight-files.js";

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
