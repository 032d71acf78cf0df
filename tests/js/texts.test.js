// @ts-check
// Texts of panels that open on demand: fetched when the first of them is mounted, in each language that is then chosen.

import assert from "node:assert/strict";
import test from "node:test";

import { createTexts } from "../../visuals/static/texts.js";

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
