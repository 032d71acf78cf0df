import assert from "node:assert/strict";
import { test } from "node:test";
import { createStore } from "../../visuals/static/store.js";
import { runMessage } from "./payload_help.js";

globalThis.requestAnimationFrame = () => {};
globalThis.ResizeObserver = class {};
const panels = "../../visuals/static/panels";
const { arrivalOf, causalMapReader, homesOf } = await import("../../visuals/static/readings/causal-map.js");
const { savedRows } = await import("../../visuals/static/readings/reading.js");
const { whyReader } = await import("../../visuals/static/readings/why.js");
const { columnsOf, rowsOf } = await import(`${panels}/glance/circuit-grid.js`);
const { circuitReader, controlsReader, sentNodes, stacksOf } = await import("../../visuals/static/readings/circuit.js");
const { nameOfPart, ranked } = await import(`${panels}/glance/ranking.js`);
const { firstForm } = await import(`${panels}/glance/reasons.js`);
const { verdict } = await import("../../visuals/static/readings/verdict.js");
const { createTerms } = await import(`${panels}/glance/terms.js`);
const { apart, askedWhy, filled, positionAt, readersOff, whichOf } = await import(`${panels}/glance/words.js`);

test("a run that says where to start is shown from there, after another too; a link's own choice goes first", () => {
  const store = createStore();
  store.publish({ ...runMessage([5, 6, 7]), start: { layer: 0, head: 1, query: 2, key: 0 } });
  assert.deepEqual([store.state.head, store.state.query, store.state.key], [1, 2, 0]);
  store.publish({ ...runMessage([5, 6, 7, 8]), id: "second" });
  assert.deepEqual([store.state.head, store.state.query, store.state.key], [1, 3, 2]);
  store.pin({ head: 0 });
  store.publish({ ...runMessage([9, 8, 7, 6, 5]), id: "third", start: { layer: 0, head: 1, query: 4, key: 1 } });
  assert.deepEqual([store.state.head, store.state.query, store.state.key], [0, 4, 1]);
});

test("of two candidates with one word the second is told by its blank", () => {
  const text = (_name, { word }) => `${word}!`;
  assert.deepEqual(apart(text, [" red", " ball", "red", "\n"]), ["red", "ball", "red!", "⏎"]);
  assert.deepEqual(apart(text, ["red", " red"]), ["red", "·red"]);
});

test("of a token that ends the text it is asked why the text ends, not why it is a sign that nobody reads", () => {
  const text = (name, { piece } = {}) => [name, piece].filter(Boolean).join(" ");
  const model = { eos_ids: [2] };
  assert.equal(askedWhy(text, model, { id: 2, piece: "<|end|>" }), "why.ask_end");
  assert.equal(askedWhy(text, model, { id: 3, piece: " red" }), "why.ask red");
  assert.equal(askedWhy(text, model, null), "why.ask …");
});

test("heads that read the answer are said to decide only where little of it is left without them", () => {
  const look = { heads: [{}], without: 0.03 };
  assert.equal(verdict({ probability: 0.99, look }), "falls");
  assert.equal(verdict({ probability: 0.99, look: { ...look, without: 0.9 } }), "stays");
  assert.equal(verdict({ probability: 0.99, look: { heads: [], without: 0.99 } }), "nobody");
  assert.equal(verdict({ probability: 0.0004, look: { ...look, without: 0.14 } }), "rises");
  // as the numbers beside it read
  assert.equal(verdict({ probability: 0.99, look: { ...look, without: 0.98999 } }), "same");
});

test("a head that costs less than counts as needed is said to be hardly missed, whatever the others cost", () => {
  assert.equal(firstForm(0.0041), "group_first_hardly");
  assert.equal(firstForm(-0.3), "group_first_hardly");
  assert.equal(firstForm(0.05), "group_first_alone");
  assert.equal(firstForm(null), "group_first");
});

test("the list names as many of an encoder's heads as of what writes, then neurons, what is missed most first", () => {
  const kinds = ["encoder_neuron", "head", "encoder_head", "neuron", "cross"];
  const parts = Array.from({ length: 50 }, (_, i) => ({ kind: kinds[i % 5], loss: 50 - i }));
  const named = ranked(parts);
  assert.deepEqual(
    named.map(({ kind }) => kind.replace("encoder_", "").replace("cross", "head")),
    [...Array(12).fill("head"), ...Array(4).fill("neuron")],
  );
  assert.deepEqual(
    [
      named.filter(({ kind }) => kind === "encoder_head").length,
      named.filter(({ kind }) => kind === "encoder_neuron").length,
    ],
    [6, 2],
  );
  assert.deepEqual(ranked(parts.filter(({ kind }) => kind === "head" || kind === "neuron")).length, 10);
});

test("the heads that read the answer are switched off as what they are", () => {
  const heads = [
    { layer: 2, head: 3, weight: 0.9 },
    { layer: 0, head: 1, weight: 0.6 },
  ];
  assert.deepEqual(readersOff({ kind: "head", heads }), {
    heads: [
      [2, 3],
      [0, 1],
    ],
  });
  assert.deepEqual(readersOff({ kind: "cross", heads }), {
    cross: [
      [2, 3],
      [0, 1],
    ],
  });
});

test("a circuit's columns are the tokens that hold a node, those that differ, and the last", () => {
  const nodes = [{ token: 4 }, { token: 2 }, { token: 4 }];
  const trace = { tokens: { pieces: Array(9) }, model: { n_layers: 3 } };
  const [part, ...rest] = stacksOf({ nodes, differ: [1], other_pieces: Array(8) }, trace);
  assert.deepEqual([rest.length, part.stack, part.layers, columnsOf(part)], [0, null, 3, [1, 2, 4, 7]]);
});

test("a circuit of two texts stands in two stacks, the one that answers above, with columns of what it wrote", () => {
  const nodes = [
    { stack: "encoder", token: 4 },
    { stack: "decoder", token: 0 },
  ];
  const trace = {
    tokens: { pieces: ["<s>", "a", "b"] },
    model: { n_layers: 3 },
    encoder: { tokens: { pieces: Array(6) }, model: { n_layers: 2 } },
  };
  const [decoder, encoder] = stacksOf({ nodes, differ: [1, 4], other_pieces: Array(6), written: 2 }, trace);
  assert.deepEqual(
    [decoder.stack, decoder.layers, decoder.pieces, columnsOf(decoder)],
    ["decoder", 3, ["<s>", "a"], [0, 1]],
  );
  assert.deepEqual(
    [encoder.stack, encoder.layers, encoder.nodes, columnsOf(encoder)],
    ["encoder", 2, [nodes[0]], [1, 4]],
  );
});

test("an answer is read as far as it has come: the word, what it rests on, what is left without its heads", () => {
  const next = {
    ...{ ids: [7, 8], pieces: [" a", " b"], logits: { data: [Math.log(3), 0] } },
    ...{ logZ: Math.log(4), vocabSize: 2, tail: 0 },
  };
  const trace = { T: 2, nPrompt: 2, tokens: { ids: [1, 2], pieces: ["x", "y"] }, steps: [], next };
  const asked = { token: null, others: 1, open: false };
  const closed = whyReader.read({ trace, details: {} }, asked);
  assert.deepEqual([closed.at, closed.own.probability], ["after 1 answer 7 ' a'", 0.75]);
  assert.deepEqual(savedRows(closed).slice(0, 2), [
    ["id", "piece", "probability"],
    [7, " a", 0.75],
  ]);
  const rests = { lost: { shape: [2], data: [0.5, 9] }, form: "habit", tokens: [0], sinks: [], probability: 0.75 };
  const look = { kind: "head", key: 0, heads: [{}, {}], without: 0.25 };
  const open = whyReader.read({ trace, details: { rests, why: { look, parts: [] } } }, { ...asked, open: true });
  assert.equal(open.at, "after 1 answer 7 ' a' form habit rests 0 sinks  key 0 heads 2");
  assert.deepEqual(open.values, { probability: 0.75, without: 0.25 });
  assert.deepEqual(savedRows(open)[1].slice(0, 6), ["token", "", "", 0, "x", 0.5]);
  const part = { kind: "head", layer: 1, index: 2, without: 0.5, loss: 0.4, key: null, weight: null };
  const parts = whyReader.read({ trace, details: { why: { look, parts: [part] } } }, { ...asked, open: true });
  assert.deepEqual(savedRows(parts)[1].slice(0, 6), ["head", 1, 2, "", 0.5, 0.4]);
});

test("of a circuit is read its share; of its controls that of as many others, and the mean with other words", () => {
  const node = { stack: null, kind: "head", layer: 2, head: 1, token: 3, score: -0.5 };
  const nodes = [node, { ...node, kind: "ffn", head: null, score: 0.25 }];
  const found = { recovered: 0.9, without: -0.2, curve: [], nodes, differ: [], other_pieces: ["a"] };
  const trace = { tokens: { pieces: ["a"] }, model: { n_layers: 3 }, encoder: null };
  const asked = { token: 4, text: "b", nodes: null };
  assert.deepEqual(circuitReader.needs(trace, asked), { found: ["circuit", asked] });
  const read = circuitReader.read({ trace, details: { found } }, asked);
  assert.deepEqual(read.values, { recovered: 0.9, without: -0.2 });
  assert.deepEqual([read.at, read.largest], ["after 4 parts 2", 0.5]);
  assert.deepEqual(savedRows(read)[1], ["", "head", 2, 1, 3, -0.5]);
  const about = { token: 4, text: "b", nodes: sentNodes(read.circuit) };
  assert.deepEqual(about.nodes, [
    [2, 1, 3],
    [2, null, 3],
  ]);
  assert.deepEqual(controlsReader.needs(trace, about), { found: ["circuit_controls", about] });
  const controls = { by_change: 0.4, by_chance: [0.1, -0.3, 0.2], held_out: [{ share: 0.5 }, { share: 1 }] };
  const of = (found) => controlsReader.read({ trace, details: { found } }, about);
  assert.deepEqual(of(controls).values, { by_change: 0.4, by_lot: -0.3, held_out: 0.75 });
  assert.equal("held_out" in of({ ...controls, held_out: [] }).values, false);
});

test("a circuit's rows name the layers that are left out", () => {
  const nodes = [{ layer: 6 }, { layer: 2 }, { layer: 6 }];
  const row = (from, to, empty) => ({ from, to, empty });
  assert.deepEqual(rowsOf({ nodes }, 8), [
    row(7, 7, true),
    row(6, 6, false),
    row(3, 5, true),
    row(2, 2, false),
    row(0, 1, true),
  ]);
});

test("a word that stands in a text several times is told by its number, and parts of words do not count", () => {
  const text = "Tom is in. Tomato. 😀 Tom is in the";
  assert.deepEqual([whichOf(text, "Tom", 0), whichOf(text, "Tom", 21), whichOf(text, "the", 31)], [1, 2, 0]);
  assert.deepEqual([whichOf("汤姆在厨房里。汤姆在", "汤姆", 7), whichOf("( [ (", "(", 4)], [2, 2]);
});

test("a word that stands in a text several times is told with its token's position", () => {
  const pieces = [
    "Tom",
    " is",
    " in",
    ".",
    " \u27e8F0\u27e9",
    "\u27e89F\u27e9\u27e898\u27e9",
    "\u27e880\u27e9",
    " Tom",
    " is",
    " on",
  ];
  const text = "Tom is in. 😀 Tom is";
  assert.deepEqual([positionAt(pieces, text, 0), positionAt(pieces, text, 4), positionAt(pieces, text, 13)], [0, 1, 7]);
  assert.equal(positionAt(pieces, "Ben is in.", 4), null); // another text
});

test("at each depth the answer lives where most is lost", () => {
  assert.deepEqual(homesOf({ shape: [2, 3], data: Float32Array.of(1, 0.1, 0.9, 1, 0.8, 0) }), [1, 2]);
});

test("what the answer needs is in the decoder from the depth on at which half of it is lost", () => {
  const found = arrivalOf({ shape: [4, 2], data: Float32Array.of(1, 1, 1, 0.75, 0.25, 1, 1, 0) });
  assert.deepEqual(found, { depth: 2, before: 0.25, after: 0.75 });
});

test("elements stand in the place of a sentence's names, and unknown names stay", () => {
  assert.deepEqual(filled("a {b} c {d}", { b: "B" }).join(""), "a B c {d}");
  const element = (name) =>
    Object.assign(new EventTarget(), {
      name,
      clicks: 0,
      click() {
        this.clicks += 1;
      },
      cloneNode: () => element("copy"),
    });
  const word = element("first"); // one that is named twice is shown twice, and does the same in both places
  const [, first, , copy] = filled("{b}, {b}", { b: word });
  assert.deepEqual([first.name, copy.name], ["first", "copy"]);
  copy.dispatchEvent(new Event("click"));
  assert.equal(word.clicks, 1);
});

test("a sum has a line for all other terms only where there are some", () => {
  globalThis.document = {
    createElement: () => ({
      children: [],
      setAttribute() {},
      removeAttribute() {},
      classList: { contains: () => true },
      append(...some) {
        this.children.push(...some);
      },
      replaceChildren(...some) {
        this.children = some;
      },
    }),
  };
  const asked = [];
  const glass = { text: (name, { count } = {}) => asked.push([name, count]) && name };
  const { draw } = createTerms(glass, "score-terms");
  const terms = [3, -1, 2].map((value) => ({ value, words: "" }));
  draw(terms, 4, 3, 6);
  assert.deepEqual(asked, [["score-terms.sum", undefined]]);
  draw(terms, 4, 1502, 2);
  assert.deepEqual(asked.slice(1), [
    ["score-terms.others", "1,500"],
    ["score-terms.sum", undefined],
  ]);
});

test("a neuron that is missed is named as the chapter on the feed-forward does: by its expert", () => {
  const ffn = [
    { experts: 0, width: 24 },
    { experts: 8, width: 64 },
  ];
  const text = (name, params = {}) => [name, ...Object.values(params)].join(" ");
  const named = (layer, index) => nameOfPart({ kind: "neuron", layer, index }, { model: { parts: { ffn } } }, text);
  assert.deepEqual(
    [named(0, 5), named(1, 402), named(1, 515)],
    ["why.part_neuron 0 5", "why.part_neuron 1 experts.neuron_of 18 6", "why.part_neuron 1 experts.neuron_shared 3"],
  );
  assert.equal(nameOfPart({ kind: "head", layer: 1, index: 3 }, {}, text), "why.part_head 1 3");
});

test("the maps of where the answer lives are read at a place of each, and saved as one table", () => {
  const left = { shape: [2, 2], data: Float32Array.of(1, 0.5, 0.25, 0) };
  const source_left = { shape: [2, 3], data: Float32Array.of(1, 0.25, 1, 1, 1, 0) };
  const at = { token: 1, text: "b", part: "stream", layer: 1, query: 9, source: null };
  const read = (found, more = {}) => causalMapReader.read({ details: { found } }, { ...at, ...more });
  const one = read({ left, source_left: null });
  assert.deepEqual([one.at, one.values, one.source], ["depth 1 token 1", { left: 0 }, null]);
  assert.deepEqual(savedRows(one).slice(0, 3), [
    ["depth", "token", "share_left"],
    [0, 0, 1],
    [0, 1, 0.5],
  ]);
  const two = read({ left, source_left });
  assert.equal(two.at, "depth 1 token 1 source depth 0 token 1"); // where the word was changed
  assert.deepEqual(two.values, { left: 0, source_left: 0.25 });
  assert.equal(read({ left, source_left }, { source: { row: 5, token: 2 } }).values.source_left, 0);
  assert.deepEqual(savedRows(two).at(-1), ["encoder", 1, 2, 0]);
  assert.equal(savedRows(two).length, 1 + 4 + 6);
  assert.deepEqual(causalMapReader.needs(null, { ...at, part: "ffn" }).found, [
    "causal_map",
    { token: 1, text: "b", patched: "ffn" },
  ]);
});
