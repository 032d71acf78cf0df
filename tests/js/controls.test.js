// Controls: buttons of which one is pressed, steppers, sliders, and rows that stand for something.

import assert from "node:assert/strict";
import test from "node:test";

import { linkRows } from "../../visuals/static/controls.js";

/** Something that listens, and rows in it. */
function table() {
  const listeners = new Map();
  const holder = { addEventListener: (type, act) => listeners.set(type, act) };
  const inside = (row, more = {}) => ({ target: { localName: "td", closest: () => row }, ...more });
  return {
    holder,
    raise: (type, row, more) => listeners.get(type)?.(inside(row, more)),
    types: () => [...listeners.keys()],
  };
}

test("a row previews under the pointer, and is selected by a click or by Enter", () => {
  const done = [];
  const acts = Object.fromEntries(
    ["preview", "select", "focus"].map((name) => [name, (found) => done.push(`${name} ${found}`)]),
  );
  const { holder, raise } = table();
  linkRows(holder, { ...acts, endPreview: () => done.push("end") }, ({ place }) => [5, 0][place]);
  raise("pointermove", { place: 1 }, { pointerType: "mouse" });
  raise("pointerover", { place: 0 }, { pointerType: "mouse" }); // of a row that slides under a pointer at rest
  raise("pointermove", { place: 1 }, { pointerType: "touch" }); // which selects, and previews nothing
  raise("keydown", { place: 0 }, { key: "a" });
  raise("keydown", { place: 0 }, { key: "Enter" });
  raise("click", { place: 0 });
  raise("focusin", { place: 0 });
  raise("pointerleave", null);
  assert.deepEqual(done, ["preview 0", "select 5", "select 5", "focus 5", "end"]);
});

test("what is no row, or stands for nothing, does nothing; only what there is an act for is listened to", () => {
  const done = [];
  const { holder, raise, types } = table();
  linkRows(holder, { select: (found) => done.push(found) }, ({ place }) => [7][place]);
  raise("click", null);
  raise("click", { place: 1 });
  assert.deepEqual([done, types()], [[], ["click", "keydown"]]);
});
