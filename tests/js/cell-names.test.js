// The words at a map's rows and columns: as many as fit, and a chosen one over its neighbours alone.
import assert from "node:assert/strict";
import { test } from "node:test";

const PLACE = { x: 82, y: 72, size: 108 };

/** What is drawn, with where its line is moved to. */
async function drawn(draw) {
  globalThis.document = { body: { classList: { contains: () => false } } };
  globalThis.getComputedStyle = () => ({ getPropertyValue: () => "#000000, #ffffff" });
  const found = { words: [], cleared: [] };
  let at = [0, 0];
  const calls = {
    translate: (...to) => (at = to),
    measureText: (text) => ({ width: 7 * text.length }),
    fillText: (text) => found.words.push([text, ...at]),
    fillRect: () => found.cleared.push(at),
  };
  const context = new Proxy({}, { get: (_, name) => calls[name] ?? (() => {}), set: () => true });
  draw(context, await import("../../visuals/static/marks/cell-names.js"));
  return found;
}

test("a chosen word takes away the words beside it, and nothing past the map's end", async () => {
  const pieces = Array.from("abcdefghijkl"); // 9 px each: every second one is written
  const side = { pieces, step: 9, above: false, room: 66 };
  for (const t of pieces.keys()) {
    const { words, cleared } = await drawn((context, { drawChosenAt }) =>
      drawChosenAt(context, PLACE, side, { t, role: "q" }),
    );
    assert.deepEqual(
      words.map(([word]) => word),
      [pieces[t]],
    );
    assert.ok(cleared.length > 0);
    for (const [, y] of cleared) assert.ok(y < PLACE.y + PLACE.size, `${pieces[t]}: ${y}`);
  }
});

test("rows and columns of a map may be of different texts, each with cells of its own size", async () => {
  const { words } = await drawn((context, { drawSide }) => {
    drawSide(context, PLACE, { pieces: ["·x", "·y"], step: 24, above: false });
    drawSide(context, PLACE, { pieces: ["a", "b", "c", "d"], step: 7, above: true });
  });
  assert.deepEqual(
    words.map(([word]) => word),
    ["x", "y", "a", "c"],
  );
  assert.deepEqual(
    words.slice(0, 2).map(([, , y]) => y),
    [PLACE.y + 12, PLACE.y + 36],
  );
  assert.deepEqual(
    words.slice(2).map(([, x]) => x),
    [PLACE.x + 3.5, PLACE.x + 17.5],
  );
});
