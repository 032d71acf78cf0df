// @ts-check
// Texts of panels that open on demand: fetched when the first of them is mounted, in each language that is then chosen.

import assert from "node:assert/strict";
import test from "node:test";

import { createTexts, lookUp } from "../../visuals/static/texts.js";

test("the second table comes with the first section that it has, and with each language after that", async () => {
  /** @type {Record<string, object>} */
  const files = {
    "en.json": { page: { title: "Title" } },
    "zh.json": { page: { title: "标题" } },
    "en.more.json": { sinks: { title: "Sinks" } },
    "zh.more.json": { sinks: { title: "汇" } },
  };
  /** @type {string[]} */
  const asked = [];
  let isAway = false;
  /** @type {any} */
  const fetched = async (/** @type {string} */ address) => {
    asked.push(address);
    if (isAway) throw new TypeError("fetch failed");
    return { json: async () => files[address] };
  };
  const before = globalThis.fetch;
  globalThis.fetch = fetched;
  try {
    const texts = createTexts({ en: "en.json", zh: "zh.json" }, { en: "en.more.json", zh: "zh.more.json" });
    await texts.load("en");
    await texts.need("page");
    assert.deepEqual(asked, ["en.json"]);
    isAway = true;
    await assert.rejects(texts.need("sinks"));
    isAway = false;
    await Promise.all([texts.need("sinks"), texts.need("sinks")]);
    assert.deepEqual(asked, ["en.json", "en.more.json", "en.more.json"]); // once more, after it did not come
    assert.equal(texts.text("sinks.title"), "Sinks");
    await texts.load("zh");
    assert.equal(texts.text("sinks.title"), "汇");
    assert.equal(texts.text("page.title"), "标题");
  } finally {
    globalThis.fetch = before;
  }
});

test("a number that a sentence names has three digits; a reader's own words keep theirs", () => {
  const table = { a: { says: "{it}", read: "{it}" } };
  const said = {
    "−0.12345": "−0.123",
    "99.823%": "99.8%",
    "2.7182 nats": "2.72 nats",
    "0.4331 + 2.732i": "0.433 + 2.73i",
  };
  for (const [it, expected] of Object.entries(said)) assert.equal(lookUp(table, "a.says", { it }), expected);
  for (const it of ["pi is 3.14159", "version 1.2345 of it", "arXiv 2305.19466", "eps is 0.0000123; expected 0.00001"])
    assert.equal(lookUp(table, "a.says", { it }), it);
  assert.equal(lookUp(table, "a.read", { it: "−0.12345" }), "−0.12345");
});

test("after a name that ends with a wide bracket no space is put", () => {
  const table = { a: { title: "{model} 是怎样训练出来的", missing: "{other} 是" } };
  const told = { "Llama-3 8B": "Llama-3 8B 是怎样训练出来的", "LLaMA（自带）": "LLaMA（自带）是怎样训练出来的" };
  for (const [model, expected] of Object.entries(told)) assert.equal(lookUp(table, "a.title", { model }), expected);
  assert.equal(lookUp(table, "a.missing", {}), "{other} 是");
});

test("where a finger points, a text says what a finger does", () => {
  const table = { a: { hint: "{touch|Tap|Point at} a cell{touch||, click to keep it}." } };
  assert.equal(lookUp(table, "a.hint"), "Point at a cell, click to keep it.");
  assert.equal(lookUp(table, "a.hint", { touch: 1 }), "Tap a cell.");
});

test("a Chinese text has no space between what is filled in and Chinese signs or full-width marks", () => {
  const table = { a: { says: "“{piece}”的 {name}，共 {count} 个（{name}）", plain: "{piece} {name}" } };
  const said = (/** @type {Record<string, unknown>} */ params) => lookUp(table, "a.says", params);
  assert.equal(said({ piece: "在", name: "注意力", count: 3 }), "“在”的注意力，共 3 个（注意力）");
  assert.equal(said({ piece: "在", name: "FFN", count: "15 万亿以上" }), "“在”的 FFN，共 15 万亿以上个（FFN）");
  assert.equal(said({ piece: "猫 狗", name: "（无）", count: 1 }), "“猫 狗”的（无），共 1 个（（无））"); // a reader's own
  assert.equal(lookUp(table, "a.plain", { piece: "在", name: "厨房" }), "在 厨房"); // no text in Chinese
});

test("no space stands between Chinese words, however a place between them is filled in", () => {
  const table = { a: { says: "给它 {p} 的概率", more: "有{p} GPU" } };
  assert.equal(lookUp(table, "a.says", { p: "99.9% 以上" }), "给它 99.9% 以上的概率");
  assert.equal(lookUp(table, "a.says", { p: "5%" }), "给它 5% 的概率");
  assert.equal(lookUp(table, "a.more", { p: "两块" }), "有两块 GPU");
});
