// The axes of small charts, on a pen that writes down what it is told.

import assert from "node:assert/strict";
import test from "node:test";

const WIDE = 8; // px of a letter
const style = { getPropertyValue: () => "#000000, #ffffff" };
Object.assign(globalThis, {
  document: { body: { classList: { contains: () => false } } },
  getComputedStyle: () => style,
});
const { axes, chartIn } = await import("../../visuals/static/plot.js");

test("a label at the end of an axis stays on its canvas", () => {
  /** @type {Record<string, [left: number, right: number]>} */
  const written = {};
  const measureText = (/** @type {string} */ text) => ({ width: WIDE * text.length });
  const pen = /** @type {any} */ ({
    canvas: { width: 412 },
    measureText,
    fillText(/** @type {string} */ text, /** @type {number} */ x) {
      const { width } = measureText(text);
      const left = pen.textAlign === "center" ? x - width / 2 : x;
      written[text] = [left, left + width];
    },
    ...Object.fromEntries(["beginPath", "moveTo", "lineTo", "stroke"].map((name) => [name, () => {}])),
  });
  const chart = chartIn([412, 200], [60, 8, 30, 46], { low: 0, high: 110 }, { low: 0, high: 1 });
  axes(pen, chart, { xTicks: [0, 55, 110], yTicks: [] });
  assert.deepEqual(written["110"], [412 - 3 * WIDE, 412]);
  assert.deepEqual(written["55"], [60.5 + 172 - WIDE, 60.5 + 172 + WIDE]); // at its tick
});
