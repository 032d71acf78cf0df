import assert from "node:assert/strict";
import { test } from "node:test";
import { atMost, chanceEquals, chanceSaid, shareSaid, shortCount } from "../../visuals/static/counts.js";
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

test("a probability is read in per cent with three digits, next to nothing and nearly all in words", () => {
  const text = (key) => key;
  const said = {
    1: "100%",
    0.999995: "chance.nearly_all_of_it", // what is left is less than 0.001%
    0.99996: "chance.nearly_all",
    0.9994: "99.9%",
    0.954321: "95.4%",
    0.1: "10.0%",
    0.045678: "4.57%",
    0.00726: "0.726%",
    0.000417: "0.0417%",
    0.00001: "0.00100%",
    0.0000099: "chance.hardly_any",
    0: "0%",
  };
  for (const [p, words] of Object.entries(said)) assert.equal(shareSaid(text, Number(p)), words);
  assert.equal(shareSaid(text, NaN), "–");
  assert.deepEqual(
    [0, 1, 0.045678, NaN].map((p) => chanceSaid(text, p)), // no softmax gives 0 or 1
    ["chance.hardly_any", "chance.nearly_all_of_it", "4.57%", "–"],
  );
  assert.deepEqual(
    [0.0042, 1e-7].map((p) => atMost(text, p)),
    ["≤ 0.420%", "chance.hardly_any"],
  );
  const equal = (key, { p } = {}) => (p ? `p = ${p}` : key);
  assert.deepEqual(
    [1, 0.999995, 0.99977, 0.0042, 1e-7].map((p) => chanceEquals(equal, p)),
    [
      "p = 100%",
      "chance.equals_nearly_all_of_it",
      "chance.equals_nearly_all",
      "p = 0.420%",
      "chance.equals_hardly_any",
    ],
  );
});

test("the line under the controls times a text that was read, and of one that was written its last token", () => {
  const store = createStore();
  const device = { children: [{ textContent: "" }, { textContent: "" }], title: "" };
  const words = () => device.children.map(({ textContent }) => textContent).join("");
  const element = { querySelector: (name) => (name === ".page-device" ? device : null) };
  const text = (key, { tokens, time, count } = {}) =>
    ({ "page.milliseconds": `${count} ms`, "page.device": "machine" })[key] ?? `${key} ${tokens} ${time}`;
  createStatusLine(store, { text }, createSettings(store)).attach(element);
  globalThis.document = { body: { dataset: {}, toggleAttribute() {} } };
  store.publish(runMessage([5, 6, 7]));
  assert.equal(words(), "machine · page.read 3 20 ms");
  const steps = [
    { ...stepMessage(0), seconds: 0.03, stop: "stopped" },
    { ...stepMessage(1), stop: "stopped" },
  ];
  store.publish({ ...runMessage([5, 6, 7, 7, 7]), id: "s", n_prompt: 3, steps });
  assert.equal(words(), "machine · page.read_written 5 10 ms");
});
