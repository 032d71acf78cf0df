// What is drawn later: at most 80 ms while answers arrive, and once the reader rests while they move something.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createWait, heedMoves } from "../../visuals/static/late.js";

/**
 * A wait under a clock of the test's own, and what it did at which ms.
 *
 * @param {import("node:test").TestContext} t
 */
function clocked(t) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const done = [];
  const wait = createWait(() => {
    done.push(now);
    assert.equal(wait.stop(), true); // it was waited for, and now no longer is
  });
  const after = (ms) => {
    for (let i = 0; i < ms; i++) {
      now += 1;
      t.mock.timers.tick(1);
    }
  };
  return { wait, done, after };
}

test("answers that arrive every 40 ms put nothing off", (t) => {
  const { wait, done, after } = clocked(t);
  for (let i = 0; i < 10; i++) {
    wait.ask();
    after(40);
  }
  assert.deepEqual(done, [80, 160, 240, 320, 400]);
  after(200);
  assert.deepEqual(done.length, 5); // nothing was asked since
});

test("while the pointer, a slider or a key moves on, it waits until they rest", (t) => {
  const page = new EventTarget();
  heedMoves(page);
  const { wait, done, after } = clocked(t);
  for (const kind of ["pointermove", "input", "keydown"]) {
    for (let i = 0; i < 10; i++) {
      page.dispatchEvent(new Event(kind));
      wait.ask();
      after(40);
    }
  }
  assert.deepEqual(done, []);
  after(40);
  assert.deepEqual(done, [29 * 40 + 80]);
});

test("what is stopped is not done", (t) => {
  const { wait, done, after } = clocked(t);
  assert.equal(wait.stop(), false);
  wait.ask();
  after(79);
  assert.equal(wait.stop(), true);
  after(200);
  assert.deepEqual(done, []);
});
