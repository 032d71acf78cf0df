// What tensors a model's own files hold, read here from their headers: of a file of any size a few megabytes at most,
// and none of it leaves the browser but names, formats and shapes.

import { readGguf } from "./gguf-header.js";
import { HeaderError } from "./header-error.js";
import { asBytes } from "./question.js";

/**
 * @typedef {object} Tensor
 * @property {string} name
 * @property {string} dtype as safetensors or GGUF writes it
 * @property {number[]} shape
 *
 * @typedef {object} Group tensors of one format and shape, whose names differ in their numbers alone
 * @property {string} name with "#" for each number
 * @property {string} dtype
 * @property {number[]} shape
 * @property {number} count
 *
 * @typedef {object} Held what is sent to the server
 * @property {Group[]} tensors
 * @property {number} [total_size] of an index, or of an engine's log
 * @property {Logged} [logged] where it is of a log; this is not sent
 *
 * @typedef {object} Logged of llama.cpp's lines on a file, or of a log that was compared
 * @property {string} size as printed
 * @property {string[]} types such as "q4_K × 441"
 * @property {string} [engine] whose log was compared
 *
 * @typedef {{ tensors: Tensor[]; total?: number; logged?: Logged }} Read
 */

const LONGEST_HEADER = 100_000_000; // bytes; safetensors' own limit
/** A line of gguf-dump: " 1: 1769472 | 576, 3072, 1, 1 | Q8_0 | blk.0.ffn_down.weight". */
const DUMPED = /^\s*\d+:\s*\d+\s*\|\s*([\d,\s]+?)\s*\|\s*(\w+)\s*\|\s*(\S+)\s*$/;

/** llama.cpp's lines on a file: its size, and how many tensors of each type it has. */
const SIZE = /(?:file|model) size\s*=\s*([\d.]+)\s*([KMGT]iB)/;
const TYPES = /- type\s+(\w+):\s*(\d+) tensors/g;

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * @param {unknown} value
 * @returns {value is number[]}
 */
const isShape = (value) => Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);

/**
 * A tensor as a header has it.
 *
 * @param {string} name
 * @param {unknown} given
 * @param {"dtype" | "type"} key under which its format stands
 * @returns {Tensor}
 */
function tensorOf(name, given, key) {
  if (!isObject(given)) throw new HeaderError("no_tensor", { name });
  const { [key]: dtype, shape } = given;
  if (typeof dtype !== "string") throw new HeaderError("no_dtype", { name, field: key });
  if (!isShape(shape)) throw new HeaderError("no_shape", { name });
  return { name, dtype, shape };
}

/**
 * The total_size of an index, and its tensors' names.
 *
 * @param {Record<string, unknown>} index
 * @returns {Read}
 */
function readIndex({ metadata }) {
  const total = isObject(metadata) ? metadata.total_size : undefined;
  if (!Number.isSafeInteger(total) || Number(total) < 1) throw new HeaderError("no_total");
  return { tensors: [], total: Number(total) };
}

/**
 * What llama.cpp prints of a file: its size, and of each type the number of tensors, which have no sizes there.
 *
 * @param {string} text
 * @returns {Read | null} null where it is no such log
 */
function readLog(text) {
  const types = [...text.matchAll(TYPES)].map(([, type, count]) => `${type} × ${count}`);
  const [whole, number, unit] = text.match(SIZE) ?? [];
  if (!whole) {
    if (types.length) throw new HeaderError("types_alone", { types: types.join(", ") });
    return null;
  }
  const size = `${number} ${unit}`;
  return { tensors: [], total: Number(asBytes(size)), logged: { size, types } };
}

/** A text in quotes, or a comma before a closing brace or bracket. */
const TEXT_OR_SPARE_COMMA = /"(?:\\.|[^"\\])*"|,(?=\s*([}\]]))/g;

/**
 * The object that a text holds; of a comma too many, which is what a cut at the end of a list leaves, its place is
 * said, as it is of a config's.
 *
 * @param {string} text that begins with a brace
 */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    for (const { 1: end, index } of text.matchAll(TEXT_OR_SPARE_COMMA)) {
      if (!end) continue;
      const lines = text.slice(0, index + 1).split("\n");
      const place = { line: lines.length, column: lines[lines.length - 1].length };
      throw new HeaderError(end === "}" ? "comma_object" : "comma_array", place);
    }
    throw new HeaderError("no_json", { problem: error instanceof Error ? error.message : "" });
  }
}

/**
 * A header, an index, what gguf-dump prints, or llama.cpp's lines on a file, as text.
 *
 * @param {string} text
 * @returns {Read}
 */
export function readText(text) {
  if (!text.trim()) throw new HeaderError("empty");
  if (!text.trimStart().startsWith("{")) {
    const logged = readLog(text);
    if (logged) return logged;
    const lines = text.split("\n").flatMap((line) => line.match(DUMPED) ?? []);
    const tensors = [];
    for (let i = 0; i < lines.length; i += 4)
      tensors.push({ name: lines[i + 3], dtype: lines[i + 2], shape: lines[i + 1].split(",").map(Number) });
    if (!tensors.length) throw new HeaderError("no_header");
    return { tensors };
  }
  const given = parsed(text);
  if (isObject(given.weight_map)) return readIndex(given);
  const [entries, key] = isObject(given.tensors) ? [given.tensors, "type"] : [given, "dtype"];
  const named = Object.entries(entries).filter(([name]) => name !== "__metadata__");
  if (!named.length) throw new HeaderError("no_header");
  return { tensors: named.map(([name, one]) => tensorOf(name, one, /** @type {"dtype" | "type"} */ (key))) };
}

/**
 * The header of a file on the reader's disk: nothing else of it is read.
 *
 * @param {File} file
 * @returns {Promise<Read>}
 */
async function readFile(file) {
  const start = new DataView(await file.slice(0, 8).arrayBuffer());
  if (start.byteLength < 8) throw new HeaderError("short", { name: file.name });
  if (start.getUint32(0) === 0x47475546) return { tensors: await readGguf(file) };
  // "{", and no number: of a length the last byte is 0, whatever the first is
  if (start.getUint8(0) === 0x7b && start.getUint8(7) !== 0) return readText(await file.text());
  const length = Number(start.getBigUint64(0, true));
  if (length > Math.min(LONGEST_HEADER, file.size - 8)) throw new HeaderError("no_file", { name: file.name });
  const { tensors } = readText(await file.slice(8, 8 + length).text());
  const end = 8 + length;
  if (file.size === end) throw new HeaderError("short", { name: file.name });
  return { tensors };
}

/**
 * Tensors of one format and shape together, their names with "#" for each number.
 *
 * @param {Tensor[]} tensors
 * @returns {Group[]}
 */
export function grouped(tensors) {
  /** @type {Map<string, Group>} */
  const found = new Map();
  const seen = new Set();
  for (const { name, dtype, shape } of tensors) {
    if (seen.has(name)) throw new HeaderError("twice", { name });
    seen.add(name);
    const pattern = name.replace(/\d+/g, "#");
    const key = JSON.stringify([pattern, dtype, shape]);
    const group = found.get(key) ?? { name: pattern, dtype, shape, count: 0 };
    found.set(key, { ...group, count: group.count + 1 });
  }
  return [...found.values()];
}

/**
 * What is sent of what was read: an index alone, or the tensors of all files.
 *
 * @param {Read[]} read
 * @returns {Held}
 */
export function heldBy(read) {
  const index = read.find(({ total }) => total !== undefined);
  if (index && read.length === 1)
    return { tensors: [], total_size: index.total, ...(index.logged && { logged: index.logged }) };
  return { tensors: grouped(read.flatMap(({ tensors }) => tensors)) };
}

/**
 * What several files hold together.
 *
 * @param {File[]} files
 */
export const readFiles = async (files) => heldBy(await Promise.all(files.map(readFile)));
