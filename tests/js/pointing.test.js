// @ts-check
// A finger on a canvas whose marks are smaller than it: one that has rested slides from mark to mark.

import assert from "node:assert/strict";
import test from "node:test";

import { bindPointer } from "../../visuals/static/pointing.js";

/** A canvas of cells of 10 px, and what is done there. */
function begin() {
  /** @type {string[]} */
  const done = [];
  const canvas = Object.assign(new EventTarget(), {
    style: {},
    offsetWidth: 100,
    getBoundingClientRect: () => ({ left: 0, top: 0, width: 100 }),
  });
  const glass = {
    state: { trace: {} },
    preview: (/** @type {{ key: number }} */ { key }) => done.push(`preview ${key}`),
    endPreview: () => done.push("end"),
    select: (/** @type {{ key: number }} */ { key }) => done.push(`select ${key}`),
  };
  const find = (/** @type {number} */ x) => (x < 100 ? { key: Math.floor(x / 10) } : null);
  bindPointer(/** @type {any} */ (canvas), /** @type {any} */ (glass), find);
  const touch = (/** @type {string} */ type, /** @type {number} */ x) => {
    const event = Object.assign(new Event(type, { cancelable: true }), {
      clientX: x,
      clientY: 0,
      pointerType: "touch",
    });
    canvas.dispatchEvent(event);
    return event.defaultPrevented;
  };
  return { done, touch };
}

test("a finger that has rested previews what it slides over, locks where it is lifted, and scrolls nothing", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.document = /** @type {any} */ ({ fullscreenElement: null });
  const { done, touch } = begin();
  touch("pointerdown", 35);
  assert.deepEqual(done, []);
  t.mock.timers.tick(400);
  touch("pointermove", 45);
  assert.equal(touch("touchmove", 45), true);
  touch("pointerup", 55);
  assert.deepEqual(done, ["preview 3", "preview 4", "end", "select 5"]);
});

test("one that moves on at once scrolls the page", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.document = /** @type {any} */ ({ fullscreenElement: null });
  const { done, touch } = begin();
  touch("pointerdown", 35);
  assert.equal(touch("touchmove", 45), false);
  touch("pointercancel", 45);
  t.mock.timers.tick(400);
  touch("pointermove", 55);
  assert.deepEqual(done, []);
});

test("the click that a browser makes of a short slide, where it began, changes nothing; the next tap counts", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.document = /** @type {any} */ ({ fullscreenElement: null });
  const { done, touch } = begin();
  touch("pointerdown", 35);
  t.mock.timers.tick(400);
  touch("pointerup", 45);
  touch("click", 35);
  assert.deepEqual(done, ["preview 3", "end", "select 4"]);
  touch("pointerdown", 75);
  touch("pointerup", 75);
  touch("click", 75);
  assert.deepEqual(done.slice(3), ["select 7"]);
});

test("a finger that is lifted beside the marks keeps the last one that it was over", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.document = /** @type {any} */ ({ fullscreenElement: null });
  const { done, touch } = begin();
  touch("pointerdown", 35);
  t.mock.timers.tick(400);
  touch("pointermove", 95);
  touch("pointermove", 105);
  touch("pointerup", 105);
  assert.equal(done.at(-1), "select 9");
});
