// The chapter on RoPE at any number of pairs: no name lies on another, and no method is offered that the model cannot
// have.
import assert from "node:assert/strict";
import { test } from "node:test";

test("the line of the context has its name apart from the axis', at any number of pairs", async () => {
  const words = new Map();
  globalThis.document = { body: { classList: { contains: () => false } } };
  globalThis.getComputedStyle = () => ({ getPropertyValue: () => "#000000, #ffffff" });
  const context = new Proxy(
    {},
    {
      get: (_, name) =>
        name === "measureText"
          ? (text) => ({ width: 7 * text.length })
          : name === "fillText"
            ? (text, x, y) => words.set(text, y)
            : () => {},
      set: () => true,
    },
  );
  const canvas = { style: {}, setAttribute() {}, toggleAttribute() {}, getContext: () => context };
  const { drawPairs } = await import("../../visuals/static/panels/position/score-charts.js");
  for (const half of [1, 2, 4, 16, 64]) {
    const inv_freq = Float64Array.from({ length: half }, (_, i) => 10000 ** (-i / half));
    const terms = new Float64Array(half).fill(1);
    drawPairs(
      canvas,
      700,
      { here: terms, moved: terms },
      { inv_freq, tokens: 40, context: 1024, pair: 0, text: (name) => name },
    );
    assert.ok(
      words.get("context") - words.get("waves") >= 14,
      `${half}: ${words.get("waves")} ${words.get("context")}`,
    );
  }
});

test("a method that the run's model cannot have is not offered", async () => {
  const made = () => ({
    children: [],
    style: {},
    append(...some) {
      this.children.push(...some);
    },
    setAttribute(name, value) {
      this[name] = value;
    },
    addEventListener() {},
  });
  globalThis.document = { createElement: made };
  const { createScalingControls } = await import("../../visuals/static/panels/position/scaling-controls.js");
  const { bar, show } = createScalingControls({});
  const offered = () => bar.children[0].children.filter(({ hidden }) => !hidden).map((button) => button["data-choice"]);
  const methods = ["none", "linear", "yarn", "llama3"].map((name) => ({ name }));
  const set = { limit: 64, selection: { method: "linear", factor: 4, distance: 2 } };
  show({ ...set, methods });
  assert.deepEqual(offered(), ["linear", "yarn", "llama3"]);
  show({ ...set, methods: [...methods, { name: "dynamic" }] });
  assert.deepEqual(offered(), ["linear", "dynamic", "yarn", "llama3"]);
});
