// A lesson as the part of an address after "#": its JSON, compressed by the browser, in base64 as addresses write it.

import { checkLesson, MOST, Refused } from "./lesson.js";

/** Longer addresses are cut or refused by programs that people send links with. */
export const LONGEST_LINK = 8000;
const FIELD = "lesson";
const FORM = "deflate-raw";

/**
 * All that a stream gives, as long as that is not over `most` bytes.
 *
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} stream
 * @returns {Promise<Uint8Array>}
 */
async function whole(stream, most = Infinity) {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const parts = [];
  let size = 0;
  for (const reader = stream.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      reader.cancel().catch(() => {});
      throw new Refused("size", { size, most });
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/**
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {CompressionStream | DecompressionStream} transform
 * @param {number} [most]
 */
const through = (bytes, transform, most) => whole(new Blob([bytes]).stream().pipeThrough(transform), most);

/**
 * @param {import("./lesson.js").Lesson} lesson
 * @returns {Promise<string>} such as "#lang=en&lesson=q1YqLkvO…"
 */
export async function packLesson(lesson) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(lesson)), new CompressionStream(FORM));
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const packed = btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `#lang=${lesson.language}&${FIELD}=${packed}`;
}

/**
 * The lesson of an address.
 *
 * @param {string} hash
 * @param {import("./lesson.js").Known} known
 * @returns {Promise<import("./lesson.js").Lesson>} Throws Refused.
 */
export async function unpackLesson(hash, known) {
  const packed = new URLSearchParams(hash.replace(/^#/, "")).get(FIELD) ?? "";
  let words;
  try {
    const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (letter) =>
      letter.charCodeAt(0),
    );
    words = new TextDecoder("utf-8", { fatal: true }).decode(
      await through(bytes, new DecompressionStream(FORM), MOST.bytes),
    );
    return checkLesson(JSON.parse(words), known);
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused("link", {}); // cut short, or changed on its way
  }
}
