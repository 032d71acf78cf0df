// The parts of what is shown for B − A, each in a place of its own, in which a line stands where nothing differs.

import { h } from "../dom.js";
import { sameText } from "../off.js";
import { createFirstApart } from "./first-apart.js";

/**
 * @typedef {import("./face.js").Part} Part
 *
 * @typedef {import("./face.js").Run} Run
 */

/**
 * Whether all that a part needs of both runs has come.
 *
 * @param {Part} part
 * @param {Run[]} runs A and B
 */
const ready = (part, runs) => (part.needs ?? []).every((name) => runs.every(({ details }) => details[name]));

/**
 * @param {Part[]} parts
 * @param {import("../types.d.ts").Glass} glass
 * @param {import("../frame.js").About["unused"]} unused as in frame.js's About
 */
export function createParts(parts, glass, unused) {
  const lines = parts.map(() => h("p.gp-note", { hidden: "" }));
  const places = parts.map((part, i) =>
    h(part.wide ? "div.mn-part.is-wide" : "div.mn-part", null, part.element, lines[i]),
  );
  places[0].classList.add("is-first");
  const first = createFirstApart(glass);
  lines[0].after(first.element);

  /**
   * Those that runs A and B have something of, and all of it.
   *
   * @param {Run[]} runs
   */
  const drawable = (runs) => parts.filter((part) => !part.absent?.(runs[1]) && ready(part, runs));

  /**
   * @param {Run[]} runs A and B
   * @param {number} width
   * @param {boolean} fresh
   */
  function draw(runs, width, fresh) {
    const [a, b] = runs;
    for (const part of drawable(runs)) part.draw(a, b, width, fresh);
  }

  /**
   * Says where nothing differs, once for the whole panel or in the place of a part, and which part is still to
   * come.
   *
   * @param {Run[]} runs A and B
   * @returns {boolean} whether nothing differs in any part
   */
  function markSame(runs) {
    const coming = parts.map((part) => !ready(part, runs));
    const gone = parts.map((part) => Boolean(part.absent?.(runs[1])));
    gone.forEach((away, i) => {
      places[i].hidden = away;
    });
    const same = parts.map((part, i) => gone[i] || (!coming[i] && part.same()));
    const all = same.every(Boolean);
    first.draw(all ? { A: runs[0].trace, B: runs[1].trace } : null);
    parts.forEach((part, i) => {
      part.element.classList.toggle("mn-same", same[i] || coming[i]);
      part.element.hidden = all;
      lines[i].hidden = all ? i > 0 : !same[i] && !coming[i];
      lines[i].textContent = coming[i]
        ? glass.text("sides.waiting")
        : sameText({ A: runs[0].trace, B: runs[1].trace }, unused, glass.state, glass.text);
    });
    return all;
  }

  /**
   * What the pointer is at in the first part that is pointed at; null where none is.
   *
   * @param {Run} b
   * @returns {number | null}
   */
  const pointed = (b) =>
    parts.map((part) => (part.absent?.(b) ? null : (part.pointed?.() ?? null))).find((at) => at !== null) ?? null;

  /**
   * What a CSV has of each, under its name.
   *
   * @param {Run[]} runs A and B
   * @returns {[string, import("./saved.js").Rows][]}
   */
  const rows = (runs) => drawable(runs).flatMap(({ called = "", csv }) => (csv ? [[called, csv()]] : []));

  return { places, draw, markSame, pointed, rows };
}
