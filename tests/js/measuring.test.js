// Heads asked for in parts: each is shown as it comes, and a reader stops and goes on.

import assert from "node:assert/strict";
import { test } from "node:test";

import { createMeasuring } from "../../visuals/static/panels/glance/measuring.js";

/**
 * A page whose server measures 4 heads a part, of 10; `asked` are the starts that were asked for, `come` has one
 * come.
 */
function made() {
  const details = new Map();
  const asked = [];
  const keyOf = (what, params) => `${what} ${JSON.stringify(params)}`;
  const glass = {
    state: { trace: { id: "run" } },
    repaint() {},
    detail(what, params) {
      const key = keyOf(what, params);
      if (details.has(key)) return details.get(key);
      if (!asked.includes(params.start)) asked.push(params.start);
      return null;
    },
  };
  const come = (params) => {
    const done = Math.min(10, params.start + 4);
    details.set(keyOf("heads", params), { grid: {}, done, total: 10 });
  };
  return { glass, asked, come };
}

test("parts are asked for one after the other until all are there", () => {
  const { glass, asked, come } = made();
  const { follow } = createMeasuring(glass);
  const question = { token: 3 };
  assert.deepEqual(follow(question), { part: null, complete: false, stopped: false });
  for (const [start, done] of [
    [0, 4],
    [4, 8],
    [8, 10],
  ]) {
    come({ ...question, start });
    assert.equal(follow(question).part.done, done);
  }
  assert.deepEqual([asked, follow(question).complete], [[0, 4, 8], true]);
});

test("stopped it asks no further, keeps what came, and goes on where it was", () => {
  const { glass, asked, come } = made();
  const { follow, toggle } = createMeasuring(glass);
  const question = { token: 3 };
  come({ ...question, start: 0 });
  follow(question);
  toggle();
  come({ ...question, start: 4 }); // it was under way
  const { part, stopped } = follow(question);
  assert.deepEqual([part.done, stopped, asked], [4, true, [4]]);
  assert.equal(follow({ token: 2 }).stopped, false); // another question is not stopped with it
  follow(question);
  toggle();
  assert.deepEqual([follow(question).part.done, asked], [8, [4, 0, 8]]);
});
