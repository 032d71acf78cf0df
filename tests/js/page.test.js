import assert from "node:assert/strict";
import { test } from "node:test";
import { readLink, writeLink } from "../../visuals/static/link.js";
import { shortCount } from "../../visuals/static/page.js";
import { lookUp } from "../../visuals/static/texts.js";

test("a link brings back what it was made of", () => {
  const view = {
    chapter: "kv", prompt: "猫在沙发上 & <b>=#", language: "zh", model: "a/b", generated: [3, 14, 159],
    selection: { layer: 2, head: 1, query: 5, key: 0, pair: 3, neuron: 17 },
    settings: { kv: { model: "Llama-3 8B", tokens: "4096" } },
  };
  assert.deepEqual(readLink(writeLink(view)), view);
});

test("a link leaves out what is not chosen", () => {
  const hash = writeLink({ prompt: "x", selection: { layer: 0, neuron: null } });
  assert.deepEqual(readLink(hash).selection, { layer: 0 });
  assert.deepEqual(readLink(""), { chapter: undefined, prompt: undefined, language: undefined, model: undefined, generated: [], selection: {}, settings: {} });
});

test("nonsense in a link is ignored", () => {
  const link = readLink("#layer=two&head=-1&token=1e9&more=1.x.3.99999999&key=4");
  assert.deepEqual(link.selection, { key: 4 });
  assert.deepEqual(link.generated, [1, 3]);
});

test("texts are looked up and filled in", () => {
  const table = { page: { hello: "Hello {name}, {name}! {other}" } };
  assert.equal(lookUp(table, "page.hello", { name: "<b>" }), "Hello <b>, <b>! {other}");
  assert.equal(lookUp(table, "page.missing"), "page.missing");
  assert.equal(lookUp(undefined, "page.hello"), "page.hello");
});

test("counts are short", () => {
  const english = [[950, "950"], [6_590_720, "6.6 M"], [134_515_008, "135 M"], [1_235_814_400, "1.24 B"], [8_030_261_248, "8 B"], [70e9, "70 B"]];
  for (const [count, said] of english) assert.equal(shortCount(count), said);
  const chinese = [[950, "950"], [6_590_720, "659 万"], [134_515_008, "1.35 亿"], [8_030_261_248, "80 亿"]];
  for (const [count, said] of chinese) assert.equal(shortCount(count, "zh"), said);
});
