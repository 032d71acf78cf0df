import assert from "node:assert/strict";
import { test } from "node:test";
import { readFileSync } from "node:fs";
import { changedText, changesOf, headOff, isChanged, neuronsOff, sameText, unused } from "../../visuals/static/off.js";
import { lookUp } from "../../visuals/static/texts.js";

const tables = Object.fromEntries(["en", "zh"].map((code) => [code, JSON.parse(readFileSync(new URL(`../../app/${code}.json`, import.meta.url)))]));
const text = (key, params) => lookUp(tables.en, key, params);
const plain = { changes: {} };
const head = { changes: { heads: [[2, 3]], source: "some run" } };
const at = (layer, one) => ({ layer, head: one, neuron: 5 });

test("what is off is known by its place", () => {
  assert.deepEqual([headOff(head, 2, 3), headOff(head, 2, 4), headOff(head, 3, 3), headOff(plain, 2, 3)], [true, false, false, false]);
  assert.equal(headOff({ changes: { attention: [1] } }, 1, 7), true);
  assert.deepEqual(neuronsOff({ changes: { neurons: [[1, 5], [2, 6]] } }, 1), [5]);
  assert.equal(neuronsOff({ changes: { ffn: [1] } }, 1), null);
  assert.deepEqual([isChanged(head), isChanged(plain), isChanged({ changes: { heads: [], source: "r" } })], [true, false, false]);
});

test("a changed run is named with all that is changed in it, and what that means", () => {
  assert.equal(changedText({ B: plain }, text), "");
  assert.equal(changedText({ A: plain, B: plain }, text), "");
  const words = changedText({ B: head }, text);
  assert.match(words, /head 3 of layer 2 off/);
  assert.match(words, /set to 0 \(zero ablation\)/);
  const both = changedText({ A: plain, B: head }, text);
  assert.match(both, /A: nothing changed in the model\. B: head 3 of layer 2 off/);
  const patched = changedText({ B: { changes: { patches: [[1, 2]] } } }, text);
  assert.match(patched, /activation patching/);
  assert.doesNotMatch(patched, /zero ablation/);
});

test("many changes are counted", () => {
  const many = { changes: { heads: Array.from({ length: 9 }, (_, i) => [0, i]) } };
  assert.match(changesOf(many, text), /head 5 of layer 0 off · 3 more$/);
});

test("a panel says what it computes that nothing uses", () => {
  assert.deepEqual(unused(head, "attention", at(2, 3)), ["off.head_unused", { layer: 2, head: 3 }]);
  assert.equal(unused(head, "attention", at(2, 4)), null);
  assert.equal(unused(head, "rmsnorm", at(2, 3)), null);
  assert.deepEqual(unused({ changes: { ffn: [2] } }, "swiglu", at(2, 3)), ["off.ffn_unused", { layer: 2 }]);
  assert.deepEqual(unused({ changes: { neurons: [[2, 5]] } }, "ffn-token", at(2, 3)), ["off.neuron_unused", { layer: 2, neuron: 5 }]);
});

test("where a switched-off head's weights are the same in both runs, B − A says that B does not use them", () => {
  const said = sameText({ A: plain, B: head }, "head-change", at(2, 3), text);
  assert.match(said, /nothing uses them in B: head 3 of layer 2 off/);
  assert.match(sameText({ A: plain, B: head }, "attention", at(0, 0), text), /^No difference here.*The change is elsewhere\. A: nothing changed in the model\. B: head 3 of layer 2 off/);
  assert.equal(sameText({ A: plain, B: plain }, "attention", at(0, 0), text), text("minus.same"));
});

test("both languages have all of it", () => {
  const zh = (key, params) => lookUp(tables.zh, key, params);
  assert.match(changedText({ A: plain, B: head }, zh), /第 2 层第 3 头已关.*零消融/);
  assert.match(sameText({ A: plain, B: head }, "cell", at(2, 3), zh), /B 没有用到它们：第 2 层第 3 头已关/);
});
