import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createFinder } from "../../visuals/static/glossary/forms.js";
import { sorted } from "../../visuals/static/glossary/list.js";
import { TERMS } from "../../visuals/static/glossary/terms.js";

globalThis.ResizeObserver = class {};
const { sentenceOf, strangeAt } = await import("../../visuals/static/panels/glance/outside.js");
/** @param {string} name */
const tableIn = (name) => JSON.parse(readFileSync(new URL(`../../app/${name}.json`, import.meta.url), "utf-8"));
const tables = Object.fromEntries(
  ["en", "zh"].map((code) => [code, { ...tableIn(code), ...tableIn(`${code}.on-demand`) }]),
);
const finderOf = (code) =>
  createFinder(Object.fromEntries(TERMS.map(({ name }) => [name, tables[code].glossary[`${name}_forms`]])));
const words = (find, text) => find(text).map(({ name, start, end }) => [name, text.slice(start, end)]);

test("a term is found by its forms, the longest first, as a whole word, and not in what a reader wrote", () => {
  const find = createFinder({ head: "head|heads", kv: "K/V head|K/V heads", gate: "gate|gates" });
  assert.deepEqual(words(find, "Heads share 2 K/V heads; head_dim, W_head and headless are no heads."), [
    ["head", "Heads"],
    ["kv", "K/V heads"],
    ["head", "heads"],
  ]);
  assert.deepEqual(words(find, "from “head” to “gate”, and the gate"), [["gate", "gate"]]);
  assert.deepEqual(find("nothing here"), []);
});

test("in a form with brackets only these are the term, and the rest has to stand around them", () => {
  const find = createFinder({ value: "keys and [values]|[value] vector", up: "gate × [up]" });
  assert.deepEqual(words(find, "The value of x; keys and values, its value vector, gate × up, up"), [
    ["value", "values"],
    ["value", "value"],
    ["up", "up"],
  ]);
  assert.deepEqual(words(createFinder({ head: "每个[头]" }), "开头，每个头"), [["head", "头"]]);
});

test("jobs of heads that are named by no word of their own are found where a title names them", () => {
  for (const [code, { heads }] of Object.entries(tables))
    for (const job of ["same_entity", "answer_to_place"]) {
      const title = heads.job.replace("{label}", heads[`kind_${job}`]).replace("{score}", "0.83");
      assert.deepEqual(words(finderOf(code), title), [[job, heads[`kind_${job}`]]]);
    }
});

test("every term is found in its own name, or in another term's meaning, in both languages", () => {
  for (const code of ["en", "zh"]) {
    const find = finderOf(code);
    const all = Object.entries(tables[code]).flatMap(([section, texts]) =>
      section === "glossary" ? [] : Object.values(texts),
    );
    const found = new Set(all.flatMap((text) => find(text).map(({ name }) => name)));
    assert.deepEqual(
      TERMS.map(({ name }) => name).filter(
        (name) => !found.has(name) && !["unembedding", "attribution", "node"].includes(name),
      ),
      [],
      code,
    );
  }
});

test("the list is in the alphabet's order", () => {
  const names = sorted((key) => tables.en.glossary[key.slice(9)], "en").map(({ title }) => title);
  assert.equal(names.length, TERMS.length);
  assert.deepEqual(names.slice(0, 3), ["ablation", "absolute position", "activation"]);
});

test("what is strange in a prompt is told by its share of the words", () => {
  assert.equal(sentenceOf({ places: [[0, 2]], words: 13 }), "some");
  assert.equal(sentenceOf({ places: [[0, 2]], words: 1 }), "one");
  assert.equal(
    sentenceOf({
      places: [
        [0, 2],
        [3, 4],
      ],
      words: 5,
    }),
    "many",
  );
  const known = { places: [], words: 5, odd: false, misplaced: false };
  assert.equal(sentenceOf({ ...known, odd: true, misplaced: true }), "odd");
  assert.equal(sentenceOf({ ...known, misplaced: true }), "misplaced");
  assert.equal(sentenceOf(known), "doubt");
  assert.deepEqual(
    [0, 1, 2, 3].map((t) => strangeAt([[1, 3]], t)),
    [0, 1, 2, 0],
  );
});
