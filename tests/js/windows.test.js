import assert from "node:assert/strict";
import { test } from "node:test";
import { found } from "./rests_help.js";

globalThis.requestAnimationFrame = () => {};
const { savedRows } = await import("../../visuals/static/readings/reading.js");
const { restsInWindow, restsTable, restsWithin, windowAt } = await import("../../visuals/static/readings/rests.js");

const windows = {
  width: 2,
  starts: [0, 3],
  lost: { shape: [2, 4], data: Float32Array.of(5, 0.5, 1, 3, 7, 0.25, 0.01, 0) },
};

test("a window has its own losses and names its own tokens, no sink and not the last, the most needed first", () => {
  const low = restsWithin(found, windows, 0);
  assert.deepEqual([...low.lost.data], [5, 0.5, 1, 3]);
  assert.deepEqual([low.tokens, low.layers, low.form], [[2, 1], [0, 1], "recalled"]);
  const high = restsWithin(found, windows, 1);
  assert.deepEqual([[...high.lost.data].slice(0, 2), high.tokens, high.layers], [[7, 0.25], [1], [3, 4]]);
  assert.deepEqual([...found.lost.data], [9, -1, 2, 8]);
});

test("a window that a link names is shown where there is one, else the middle one", () => {
  assert.deepEqual(
    [undefined, "0", "1", "2", "-1", "0.5", "x"].map((given) => windowAt(windows, given)),
    [1, 0, 1, 1, 1, 1, 1],
  );
});

test("a file holds every token in every window", () => {
  const table = restsTable(found, ["The", " capital", " France", " is"], { windows });
  const rows = savedRows({ rows: { all: () => table } }).slice(1 + 4); // after its names, and the tokens in all layers
  assert.equal(rows.length, 8);
  assert.deepEqual(rows[2].slice(0, 6), ["token", "0-1", "", 2, " France", 1]);
  assert.ok(Math.abs(rows[2][6] - 0.5 * Math.exp(-1)) < 1e-9);
  assert.deepEqual([rows[4][0], rows[4][1]], ["sink", "3-4"]);
});

test("all windows are drawn on one scale", () => {
  assert.equal(restsInWindow(windows, 1, found).most, 1);
  assert.equal(restsInWindow(windows, 1, found), restsInWindow(windows, 1, found));
});
