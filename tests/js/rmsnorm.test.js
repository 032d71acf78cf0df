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

test("the rows' names are whole and apart, at any number of layers", async () => {
  const words = [];
  globalThis.document = { createElement: () => canvas(words), body: { classList: { contains: () => false } } };
  globalThis.getComputedStyle = () => ({ getPropertyValue: () => "#000000, #ffffff" });
  globalThis.ImageData = class {
    constructor(width, height) {
      this.data = new Uint8ClampedArray(4 * width * height);
    }
  };
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
    const glass = {
      state: { trace, layer: 0, query: 0, theme: "light" },
      settings: { get: () => ({}) },
      text: (name, { layer } = {}) => (name === "rmsnorm.layer" ? `layer ${layer}` : name),
    };
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
