// @ts-check
// Sentences in one line: a space between them, but none after a full-width mark.

import assert from "node:assert/strict";
import { test } from "node:test";

import { oneLine } from "../../visuals/static/one-line.js";

test("a full stop is followed by a space, a full-width one by none", () => {
  assert.equal(oneLine(["One.", "", "Two.", "Three"]), "One. Two. Three");
  assert.equal(oneLine(["", "第一句。", "第二句（括号）", "第三句"]), "第一句。第二句（括号）第三句");
  assert.equal(oneLine(["参数", "bf16"]), "参数 bf16");
  assert.equal(oneLine(["", ""]), "");
});
