// The names of q and k in the complex plane: none lies on an arrow or on another name.
import assert from "node:assert/strict";
import { test } from "node:test";

import { placeNames } from "../../visuals/static/panels/position/arrow-names.js";

const PLANE = { x: 165, y: 165, radius: 131 };
const LETTER = 7; // px from the middle of a name to where an arrow would touch it

/** The least distance of a point from an arrow, of many points along it. */
const near = ([x, y], { to: [a, b] }) =>
  Math.min(
    ...Array.from({ length: 200 }, (_, i) =>
      Math.hypot(x - PLANE.x - (i / 199) * a * PLANE.radius, y - PLANE.y + (i / 199) * b * PLANE.radius),
    ),
  );

test("names keep clear of all arrows and of each other, wherever the vectors point", () => {
  for (let at = 0; at < 2 * Math.PI; at += 0.3)
    for (const [apart, turns] of [
      [0, [0.01, 0.002]],
      [0.12, [0.196, 0.0356]],
      [0.5, [0.3, 0.25]],
      [2, [1.5, 4]],
    ]) {
      const arrows = ["q", "k"].flatMap((role, i) => {
        const from = at - i * apart;
        const to = (angle) => [Math.cos(angle), Math.sin(angle)];
        return [
          { to: to(from + turns[i]), role, solid: true, name: `${role}′` },
          { to: to(from), role, solid: false, name: role },
        ];
      });
      const places = placeNames(PLANE, arrows);
      for (const [i, place] of places.entries()) {
        for (const arrow of arrows) assert.ok(near(place, arrow) >= LETTER, `${at} ${turns}: ${arrows[i].name}`);
        for (const other of places.slice(i + 1))
          assert.ok(Math.hypot(place[0] - other[0], place[1] - other[1]) >= 12, `${at} ${turns}: two names`);
      }
    }
});
