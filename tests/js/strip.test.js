// The token strip as one row: the token that is looked at is seen, and none is cut before it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { rowPlace } from "../../visuals/static/panels/token/scrolled.js";

/** Chips of these widths, 4 px apart, from 4 px on. */
function rowOf(widths) {
  let left = 4;
  return widths.map((width) => {
    const place = { left, right: left + width };
    left += width + 4;
    return place;
  });
}

test("wherever a row was scrolled to, the token is whole and so is the first one that is seen", () => {
  for (const widths of [[30, 50, 40, 70, 30, 60, 90, 45], Array(40).fill(37), [200, 10, 10, 200]]) {
    const places = rowOf(widths);
    const end = places.at(-1).right + 4;
    for (const width of [210, 260, 300, end - 20, end, end + 50]) {
      for (let from = 0; from <= Math.max(0, end - width); from += 7) {
        places.forEach(({ left, right }, t) => {
          const { to, after } = rowPlace(places, t, width, from);
          const where = JSON.stringify({ widths, width, from, t, to, after });
          assert.ok(left >= to && right <= to + width, where);
          assert.ok(
            places.some((one) => one.left - 4 === to),
            where,
          );
          assert.ok(to <= Math.max(0, end + after - width), where); // the browser scrolls no further
        });
      }
    }
  }
});

test("a row that fits is not scrolled, and has no room after it", () => {
  const places = rowOf([30, 30, 30]);
  assert.deepEqual(rowPlace(places, 2, places.at(-1).right + 4, 0), { to: 0, after: 0 });
});
