import assert from "node:assert/strict";
import { test } from "node:test";
import { chanceSaid, chancesSaid, shareSaid, shortCount } from "../../visuals/static/counts.js";
import { createSettings } from "../../visuals/static/settings.js";
import { createStatusLine } from "../../visuals/static/status-line.js";
import { createStore } from "../../visuals/static/store.js";
import { lookUp } from "../../visuals/static/texts.js";
import { runMessage, stepMessage } from "./payload_help.js";

globalThis.requestAnimationFrame = () => {};

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

test("a probability is read in per cent with three digits, a small one as one in so many, a share in per cent", () => {
  const text = (key, { count } = {}) => (count ? `${key} ${count}` : key);
  const said = {
    0.954321: "95.4%",
    0.1: "10%",
    0.045678: "4.57%",
    0.01: "1%",
    0.00999: "chance.one_in 100",
    0.0003137: "chance.one_in 3,200",
    1e-7: "chance.never",
    0: "chance.never",
    0.99996: "chance.nearly_all",
    1: "100%",
  };
  for (const [p, words] of Object.entries(said)) assert.equal(chanceSaid(text, Number(p), "en"), words);
  const inALine = (...all) => chancesSaid(text, all, "en");
  assert.deepEqual(inALine(0.954321, 0.00999, 0.0003137), ["95.4%", "0.999%", "0.0314%"]); // all in one way
  assert.deepEqual(inALine(0.5, 0.0000023, 1e-7), ["50%", "0.0002%", "chance.never_percent"]);
  assert.deepEqual(inALine(0.00999, 0.0003137), ["chance.one_in 100", "chance.one_in 3,200"]);
  assert.deepEqual(
    [0.25, 0.00456, 0, 0.9999].map((x) => shareSaid(text, x)),
    ["25%", "0.456%", "0%", "chance.nearly_all"],
  );
});

test("the line under the controls times a text that was read, and of one that was written its last token", () => {
  const store = createStore();
  const device = { textContent: "", title: "" };
  const element = { querySelector: (name) => (name === ".page-device" ? device : null) };
  const text = (key, { tokens, time, read, count } = {}) =>
    key === "page.milliseconds" ? `${count} ms` : (read ?? `${key} ${tokens} ${time}`);
  createStatusLine(store, { text }, createSettings(store)).attach(element);
  globalThis.document = { body: { dataset: {}, toggleAttribute() {} } };
  store.publish(runMessage([5, 6, 7]));
  assert.equal(device.textContent, "page.read 3 20 ms");
  const steps = [
    { ...stepMessage(0), seconds: 0.03, stop: "stopped" },
    { ...stepMessage(1), stop: "stopped" },
  ];
  store.publish({ ...runMessage([5, 6, 7, 7, 7]), id: "s", n_prompt: 3, steps });
  assert.equal(device.textContent, "page.read_written 5 10 ms");
});
