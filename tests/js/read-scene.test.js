import assert from "node:assert/strict";
import { test } from "node:test";
import { followReader } from "../../visuals/static/story/read-scene.js";

/** What a browser tells an observer, said by the test. */
function stubbed() {
  const observers = [];
  globalThis.innerHeight = 800;
  globalThis.addEventListener = () => {};
  globalThis.IntersectionObserver = class {
    constructor(told) {
      observers.push(told);
    }
    observe() {}
  };
  return observers;
}
const placed = (top) => ({
  top,
  getBoundingClientRect() {
    return { top: this.top, bottom: this.top + 600 };
  },
});

test("a page that is short at first is read from its first scene on, and at its end to the last", () => {
  const observers = stubbed();
  const [column, foot, first, last] = [placed(400), placed(700), placed(420), placed(440)];
  const scenes = [
    { name: "first", element: first },
    { name: "last", element: last },
  ];
  const told = [];
  followReader(
    column,
    foot,
    () => scenes,
    (name) => told.push(name),
    () => {},
  );
  const [lines, ends] = observers;
  ends([{ intersectionRatio: 1 }]); // both scenes are empty, so the page's end is in view
  assert.deepEqual(told, ["first"]);
  [foot.top, last.top] = [2000, 1400];
  ends([{ intersectionRatio: 0 }]);
  assert.equal(told.at(-1), "first");
  [column.top, first.top, last.top, foot.top] = [-1300, -1280, 100, 700]; // the reader has scrolled to the end
  lines([{ isIntersecting: true, target: first }]); // a high line would still be in the scene before
  ends([{ intersectionRatio: 1 }]);
  assert.equal(told.at(-1), "last");
});
