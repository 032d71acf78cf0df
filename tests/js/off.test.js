import assert from "node:assert/strict";
import { test } from "node:test";
import { readFileSync } from "node:fs";
import {
  changedText,
  changesOf,
  crossOff,
  ffnsOff,
  forAnotherText,
  headOff,
  isChanged,
  nameRow,
  neuronOff,
  neuronsOff,
  sameChanges,
  sameText,
  takenBack,
  unused,
} from "../../visuals/static/off.js";
import { unusedRows } from "../../visuals/static/panels/ffn/neuron-map.js";
import { lookUp } from "../../visuals/static/texts.js";

const tables = Object.fromEntries(
  ["en", "zh"].map((code) => [code, JSON.parse(readFileSync(new URL(`../../app/${code}.json`, import.meta.url)))]),
);
const text = (key, params) => lookUp(tables.en, key, params);
const plain = { changes: {} };
const head = { changes: { heads: [[2, 3]], source: "some run" } };
const at = (layer, one) => ({ layer, head: one, neuron: 5 });

test("what is off is known by its place", () => {
  assert.deepEqual(
    [headOff(head, 2, 3), headOff(head, 2, 4), headOff(head, 3, 3), headOff(plain, 2, 3)],
    [true, false, false, false],
  );
  assert.equal(headOff({ changes: { attention: [1] } }, 1, 7), true);
  assert.deepEqual(
    neuronsOff(
      {
        changes: {
          neurons: [
            [1, 5],
            [2, 6],
          ],
        },
      },
      1,
    ),
    [5],
  );
  assert.equal(neuronsOff({ changes: { ffn: [1] } }, 1), null);
  assert.deepEqual(
    [isChanged(head), isChanged(plain), isChanged({ changes: { heads: [], source: "r" } })],
    [true, false, false],
  );
});

test("what taking the changes back does is said of these changes", () => {
  const back = (changes) => takenBack({ changes });
  assert.deepEqual([back({ heads: [[2, 3]] }), back({ ffn: [1], neurons: [[0, 1]] })], ["on", "on"]);
  assert.equal(back({ prefix: [4] }), "mask");
  for (const both of [
    { prefix: [4], heads: [[2, 3]] },
    { patches: [[1, 2]], source: "r" },
    { patches: [[1, 2]], ffn: [0], source: "r" },
  ])
    assert.equal(back(both), "all");
  for (const code of ["en", "zh"])
    for (const name of ["on", "mask", "all"]) assert.ok(tables[code].why[`back_${name}`]);
});

test("a head that looks at a source is another than the head of that number", () => {
  const run = { changes: { cross: [[2, 3]] } };
  assert.deepEqual(
    [crossOff(run, 2, 3), crossOff(run, 2, 4), headOff(run, 2, 3), crossOff(head, 2, 3)],
    [true, false, false, false],
  );
  assert.deepEqual(unused(run, "cross", at(2, 3)), ["off.cross_unused", { layer: 2, head: 3 }]);
  assert.equal(unused(run, "head", at(2, 3)), null);
  assert.match(changedText({ B: run }, text), /cross-attention head 3 of layer 2 off/);
});

test("a head of an encoder is off in the encoder's own run, and named as its in the whole", () => {
  const whole = { changes: { encoder_heads: [[2, 3]] } };
  // the encoder's run has it under "heads"
  assert.deepEqual([headOff(whole, 2, 3), headOff(head, 2, 3), isChanged(whole)], [false, true, true]);
  assert.match(changedText({ B: whole }, text), /head 3 of the encoder's layer 2 off.*zero ablation/);
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
  assert.deepEqual(unused(head, "head", at(2, 3)), ["off.head_unused", { layer: 2, head: 3 }]);
  assert.equal(unused(head, "head", at(2, 4)), null);
  assert.equal(unused(head, undefined, at(2, 3)), null);
  assert.deepEqual(unused({ changes: { ffn: [2] } }, "neuron", at(2, 3)), ["off.ffn_unused", { layer: 2 }]);
  const neuron = (ffn) => ({ changes: { neurons: [[2, 5]] }, model: { parts: { ffn: [{}, {}, ffn] } } });
  assert.deepEqual(unused(neuron({}), "neuron", at(2, 3), text), ["off.neuron_unused", { layer: 2, neuron: "5" }]);
  const experts = neuron({ experts: 4, width: 3 });
  assert.deepEqual(unused(experts, "neuron", at(2, 3), text), [
    "off.neuron_unused",
    { layer: 2, neuron: "2 of expert 1" },
  ]);
  assert.equal(changesOf(experts, text), "neuron 2 of expert 1 of layer 2 off");
});

test("where a switched-off head's weights are the same in both runs, B − A says that B does not use them", () => {
  const said = sameText({ A: plain, B: head }, "head", at(2, 3), text);
  assert.match(said, /nothing uses them in B: head 3 of layer 2 off/);
  assert.match(
    sameText({ A: plain, B: head }, "head", at(0, 0), text),
    /^No difference here.*The change is elsewhere\. A: nothing changed in the model\. B: head 3 of layer 2 off/,
  );
  assert.equal(sameText({ A: plain, B: plain }, "head", at(0, 0), text), text("b_minus_a.same"));
});

test("both languages have all of it", () => {
  const zh = (key, params) => lookUp(tables.zh, key, params);
  assert.match(changedText({ A: plain, B: head }, zh), /第 2 层的 3 号头已关.*零消融/);
  assert.match(sameText({ A: plain, B: head }, "head", at(2, 3), zh), /B 没有用到它们：第 2 层的 3 号头已关/);
});

test("a neuron is off itself, or with its layer's FFN, in every SwiGLU panel", () => {
  const run = {
    changes: {
      neurons: [
        [1, 5],
        [1, 9],
      ],
      ffn: [2],
    },
  };
  assert.deepEqual(
    [
      [1, 5],
      [1, 6],
      [2, 6],
      [0, 5],
    ].map(([layer, neuron]) => neuronOff(run, layer, neuron)),
    [true, false, true, false],
  );
  assert.equal(neuronOff(plain, 2, 6), false);
  assert.deepEqual([ffnsOff(run), ffnsOff(plain)], [[2], []]);
  assert.deepEqual(unusedRows([9, 3, 5, 7], neuronsOff(run, 1)), [
    [0, 1],
    [2, 1],
  ]);
  assert.deepEqual(unusedRows([9, 3, 5, 7], neuronsOff(run, 2)), [[0, 4]]);
  assert.deepEqual(unusedRows([9, 3], neuronsOff(plain, 1)), []);
});

/** What a list is told of its rows, without a page: names of cells and whether a row is drawn as off. */
function rowOf(name, off, language) {
  const element = () => ({
    children: [],
    classes: new Set(),
    append(...all) {
      this.children.push(...all);
    },
    setAttribute() {},
    replaceChildren(...all) {
      this.children = all;
    },
  });
  globalThis.document = { createElement: element };
  const [line, cell] = [element(), element()];
  line.classList = { toggle: (one, on) => line.classes[on ? "add" : "delete"](one) };
  nameRow(line, cell, name, off, (key) => lookUp(tables[language], key));
  const words = ({ children }) => children.map((child) => (typeof child === "string" ? child : words(child))).join("");
  return [words(cell), line.classes.has("is-off")];
}

test("the row of a switched-off neuron says so in both languages", () => {
  assert.deepEqual(rowOf("17", true, "en"), ["17 switched off", true]);
  assert.deepEqual(rowOf("17", true, "zh"), ["17 已关闭", true]);
  assert.deepEqual(rowOf("17", false, "zh"), ["17", false]);
});

test("with another text all that is changed stays but the stream of another run", () => {
  const changes = { heads: [[2, 3]], prefix: [4], parts: ["norm:none"], patches: [[1, 2]], source: "A" };
  assert.deepEqual(forAnotherText(changes), { heads: [[2, 3]], prefix: [4], parts: ["norm:none"] });
  assert.equal(changes.source, "A");
});

test("the same is changed whatever the kinds' order, and the name of the run that a stream is from", () => {
  const [a, b] = [
    { ffn: [1], heads: [[2, 3]] },
    { heads: [[2, 3]], ffn: [1], attention: [], source: "A" },
  ];
  assert.equal(sameChanges({ changes: a }, { changes: b }), true);
  assert.equal(sameChanges({ changes: a }, { changes: { heads: [[2, 3]] } }), false);
  assert.equal(sameChanges(plain, {}), true);
});
