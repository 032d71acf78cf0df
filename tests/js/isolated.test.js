import assert from "node:assert/strict";
import { test } from "node:test";
import { visible } from "../../visuals/static/draw.js";
import { nameOf } from "../../visuals/static/marks/cell-names.js";
import { named, word } from "../../visuals/static/panels/glance/words.js";

const [BEGIN, END] = ["\u2068", "\u2069"]; // Unicode's isolates, of whichever direction is inside

test("a piece that is written from right to left stands by itself in what is said of it; others as they are", () => {
  const text = (key, { piece }) => `${key} ${piece}`;
  for (const piece of ["ان", "שלום", "ﻻ"]) {
    assert.equal(visible(` ${piece}`), `${BEGIN}·${piece}${END}`);
    assert.equal(word(` ${piece}`), BEGIN + piece + END);
    assert.equal(nameOf(` ${piece}`), BEGIN + piece + END);
    assert.equal(named(text, ["a", ` ${piece}`], 1), `why.token ${BEGIN}${piece}${END}`);
    assert.equal(named(text, [piece, ` ${piece}`], 1), `why.token_at ${BEGIN}${piece}${END}`);
  }
  for (const piece of ["kitchen", "厨房", "é", "«", "12"]) {
    assert.equal(visible(` ${piece}`), `·${piece}`);
    assert.equal(word(` ${piece}`), piece);
    assert.equal(nameOf(` ${piece}`), piece);
  }
});
