import assert from "node:assert/strict";
import { test } from "node:test";
import { shortCount } from "../../visuals/static/counts.js";
import { lookUp } from "../../visuals/static/texts.js";

test("texts are looked up and filled in", () => {
  const table = { page: { hello: "Hello {name}, {name}! {other}" } };
  assert.equal(lookUp(table, "page.hello", { name: "<b>" }), "Hello <b>, <b>! {other}");
  assert.equal(lookUp(table, "page.missing"), "page.missing");
  assert.equal(lookUp(undefined, "page.hello"), "page.hello");
});

test("of two words the first is for one", () => {
  const table = { page: { read: "{count} {count|token|tokens}, {other|a|b}" } };
  assert.equal(lookUp(table, "page.read", { count: 1 }), "1 token, {other|a|b}");
  assert.deepEqual(
    [0, 2, "1,024"].map((count) => lookUp(table, "page.read", { count, other: "1" })),
    ["0 tokens, a", "2 tokens, a", "1,024 tokens, a"],
  );
});

test("counts are short", () => {
  const english = [
    [950, "950"],
    [6_590_720, "6.6 M"],
    [134_515_008, "135 M"],
    [1_235_814_400, "1.24 B"],
    [8_030_261_248, "8 B"],
    [70e9, "70 B"],
  ];
  for (const [count, said] of english) assert.equal(shortCount(count), said);
  const chinese = [
    [950, "950"],
    [6_590_720, "659 万"],
    [134_515_008, "1.35 亿"],
    [8_030_261_248, "80 亿"],
  ];
  for (const [count, said] of chinese) assert.equal(shortCount(count, "zh"), said);
});
