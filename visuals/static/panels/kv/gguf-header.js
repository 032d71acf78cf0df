// The tensor infos of a GGUF file, read in the browser (ggml/docs/gguf.md): its metadata is passed over, its numbers
// are not read.

import { HeaderError } from "./header-error.js";

/** Names of ggml's types by their numbers (ggml.h, enum ggml_type). */
const TYPES = new Map(
  /** @type {[number, string][]} */ ([
    ...["F32", "F16", "Q4_0", "Q4_1"].map((name, i) => [i, name]),
    ...["Q5_0", "Q5_1", "Q8_0", "Q8_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "Q8_K"].map((name, i) => [6 + i, name]),
    ...["IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS"].map((name, i) => [16 + i, name]),
    ...["I8", "I16", "I32", "I64", "F64", "IQ1_M", "BF16"].map((name, i) => [24 + i, name]),
    ...["TQ1_0", "TQ2_0"].map((name, i) => [34 + i, name]),
    ...["MXFP4", "NVFP4", "Q1_0"].map((name, i) => [39 + i, name]),
  ]),
);
/** Bytes of a value of metadata by its type; text is 8 and a list is 9. */
const SIZES = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];
const [TEXT, LIST] = [8, 9];
const FIRST_READ = 1 << 20;
const MOST_READ = 1 << 28; // a header with a vocabulary has some megabytes

/** Reads on from where it is; a RangeError says that more bytes are needed. */
class Cursor {
  /** @param {ArrayBuffer} bytes */
  constructor(bytes) {
    this.view = new DataView(bytes);
    this.at = 0;
  }

  /** @param {number} count of bytes */
  skip(count) {
    if (this.at + count > this.view.byteLength) throw new RangeError("cut short");
    this.at += count;
    return this.at - count;
  }

  u32() {
    return this.view.getUint32(this.skip(4), true);
  }

  u64() {
    return Number(this.view.getBigUint64(this.skip(8), true));
  }

  text() {
    const length = this.u64();
    const start = this.skip(length);
    return new TextDecoder().decode(new Uint8Array(this.view.buffer, start, length));
  }

  /** @param {number} type of a value of metadata, which is passed over */
  value(type) {
    if (type === TEXT) this.skip(this.u64());
    else if (type === LIST) {
      const [kind, count] = [this.u32(), this.u64()];
      if (kind === TEXT || kind === LIST) for (let i = 0; i < count; i += 1) this.value(kind);
      else this.skip(count * sizeOf(kind));
    } else this.skip(sizeOf(type));
  }
}

/** @param {number} type */
function sizeOf(type) {
  if (!SIZES[type]) throw new HeaderError("gguf_value", { type });
  return SIZES[type];
}

/**
 * Every tensor's name, format and shape, the last dimension first, as the file has it.
 *
 * @param {ArrayBuffer} bytes of the file, from its start
 * @returns {import("./weight-files.js").Tensor[]}
 */
export function tensorsIn(bytes) {
  const cursor = new Cursor(bytes);
  cursor.skip(4);
  const version = cursor.u32();
  if (version !== 2 && version !== 3) throw new HeaderError("gguf_version", { version });
  const [tensors, keys] = [cursor.u64(), cursor.u64()];
  for (let i = 0; i < keys; i += 1) {
    cursor.text();
    cursor.value(cursor.u32());
  }
  const found = [];
  for (let i = 0; i < tensors; i += 1) {
    const name = cursor.text();
    const shape = Array.from({ length: cursor.u32() }, () => cursor.u64());
    const type = cursor.u32();
    cursor.u64();
    const dtype = TYPES.get(type);
    if (dtype === undefined) throw new HeaderError("gguf_type", { name, type });
    found.push({ name, dtype, shape });
  }
  return found;
}

/**
 * The tensors of a GGUF file: as much of it is read as its header needs.
 *
 * @param {File} file
 */
export async function readGguf(file) {
  for (let size = FIRST_READ; ; size *= 4) {
    try {
      return tensorsIn(await file.slice(0, size).arrayBuffer());
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      if (size >= file.size || size >= MOST_READ) throw new HeaderError("short", { name: file.name });
    }
  }
}
