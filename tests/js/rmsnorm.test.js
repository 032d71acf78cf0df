// The map of the RMS values at any depth: no name of a row is cut or lies on another.
import assert from "node:assert/strict";
import { test } from "node:test";

import { llamaParts } from "./parts_help.js";

const LINE = 14; // height of the names, written around their middle
const canvas = (words) => ({
  style: {},
  append() {},
  setAttribute() {},
  addEventListener() {},
  getContext: () =>
    new Proxy(
      {},
      {
        get: (_, name) =>
          name === "measureText"
            ? (text) => ({ width: 7 * text.length })
            : name === "fillText"
              ? (text, x, y) => words.push([text, y])
              : () => {},
        set: () => true,
      },
    ),
});

/** Browser's parts that a map draws on; gives what is written on it, and what is made. */
function browser() {
  const [words, made] = [[], []];
  const createElement = () => {
    made.push(canvas(words));
    return made[made.length - 1];
  };
  globalThis.document = { createElement, body: { classList: { contains: () => false } } };
  globalThis.getComputedStyle = () => ({ getPropertyValue: () => "#000000, #ffffff" });
  globalThis.ImageData = class {
    constructor(width, height) {
      this.data = new Uint8ClampedArray(4 * width * height);
    }
  };
  return { words, made };
}

const glassOf = (trace, text) => ({
  state: { trace, layer: 0, query: 0, theme: "light" },
  settings: { get: () => ({}) },
  text,
});

test("the rows' names are whole and apart, at any number of layers", async () => {
  const { words } = browser();
  const { createMap } = await import("../../visuals/static/panels/norm/rmsnorm-map.js");
  for (const layers of [1, 2, 3, 8, 12, 20, 30, 40, 61, 80, 126]) {
    words.length = 0;
    const values = { data: new Float32Array(2 * layers).fill(1) };
    const trace = {
      model: { n_layers: layers, parts: llamaParts([1]) },
      T: 2,
      tokens: { pieces: ["a", "b"] },
      rms: { attn: values, ffn: values, final: values },
    };
    const glass = glassOf(trace, (name, { layer } = {}) => (name === "rmsnorm.layer" ? `layer ${layer}` : name));
    createMap(glass, "rmsnorm.map").draw([{ trace }], 600, true);
    const names = words
      .filter(([text]) => text === "rmsnorm.final" || text.startsWith("layer "))
      .map(([, y]) => y)
      .sort((a, b) => a - b);
    assert.ok(names.length >= 2, String(layers));
    assert.ok(names[0] >= LINE / 2, `${layers}: ${names[0]}`);
    names.slice(1).forEach((y, i) => assert.ok(y - names[i] >= LINE, `${layers}: ${names}`));
  }
});

test("a sink's spike is left out of scales with a sign, and in that of logarithms", async () => {
  const { words, made } = browser();
  const { createMap } = await import("../../visuals/static/panels/norm/rmsnorm-map.js");
  const array = (...data) => ({ shape: [1, data.length], data: Float32Array.from(data) });
  const figures = (attn, ffn, final) => ({ attn: array(...attn), ffn: array(...ffn), final: array(...final) });
  const run = (rms) => ({
    trace: {
      model: { n_layers: 1, parts: { ...llamaParts([1]), norm_kind: "layer" } },
      T: 3,
      tokens: { pieces: ["a", "b", "c"] },
      mean: figures([-900, 0.5, -2], [-800, 1, 1.5], [-700, 0.25, 1]),
      rms,
      sinks: [0],
    },
  });
  const one = run(figures([900, 4, 5], [800, 6, 7], [700, 8, 9]));
  const other = run(figures([100, 4.5, 5], [800, 6, 7], [700, 8, 6]));
  const drawn = (shown, runs) => {
    words.length = made.length = 0;
    const glass = glassOf(one.trace, (name, values = {}) => `${name} ${Object.values(values).join(" ")}`.trim());
    createMap(glass, "rmsnorm.map", shown).draw(runs, 600, true);
    const notes = made.map(({ textContent }) => textContent).filter((text) => text?.startsWith("marks.apart"));
    return { ticks: words.map(([text]) => text).filter((text) => /^[−+]?[\d.]+$/u.test(text)), notes };
  };
  const mean = drawn(() => "mean", [one]);
  assert.ok(mean.ticks.includes("−2.00") && mean.ticks.includes("+2.00"), String(mean.ticks));
  assert.equal(mean.notes.length, 1);
  assert.match(mean.notes[0], /0 a −900/u);
  const divisor = drawn(() => "divisor", [one]);
  assert.ok(divisor.ticks.includes("900"), String(divisor.ticks));
  assert.deepEqual(divisor.notes, []);
  const change = drawn(undefined, [one, other]);
  assert.ok(change.ticks.includes("+3.00"), String(change.ticks));
  assert.match(change.notes[0], /0 a −800/u);
});
