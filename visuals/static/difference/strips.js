// Vectors of both runs subtracted, one strip each over a common axis; each strip to its own scale, the same for both
// signs.

import { largest, subtract } from "../arrays.js";
import { h } from "../dom.js";
import { createStrips } from "../marks/strips.js";
import { bindPointer, bindArrowKeys } from "../pointing.js";
import { memo, reactive } from "../reads.js";
import { shownIn } from "../run-for.js";
import { headingOf } from "./heading.js";
import { rowsOf } from "./saved.js";

/**
 * @typedef {import("./face.js").State} State
 *
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {Record<string, ArrayLike<number>>} Vectors by name
 *
 * @typedef {[name: string, role: string, saved?: string]} Named texts' n_<name>, and what a saved table calls it
 *   where that is another name
 */

/**
 * @template {import("./face.js").Run} Of
 * @typedef {object} OwnStrips
 * @property {string[]} [needs] as of face.js's Part
 * @property {Named[] | ((run: Of) => Named[])} strips
 * @property {(run: Of) => Record<string, unknown>} [words] parameters of their names
 * @property {(run: Of, state: State, glass: Glass, b: Of) => Vectors} values
 * @property {(state: State, glass: Glass, changes: Record<string, Float64Array>, b: Of) => number | null} chosen
 * @property {(i: number, state: State, b: Of) => Partial<import("../selection.js").Selection> | null} [pick] the
 *   selection an index stands for; else it is the panel's own affair, and a click keeps it
 * @property {(i: number) => void} [keep]
 */
/**
 * @template {import("./face.js").Run} Of
 * @typedef {OwnStrips<Of> & import("./heading.js").Titled<Of>} StripsView
 */

/**
 * Of several values in a column the largest change is shown.
 *
 * @template {import("./face.js").Run} Of
 * @param {StripsView<Of>} what
 * @returns {(glass: Glass, text: import("../types.d.ts").Say) => import("./face.js").Part<Of>}
 */
export const strips = (what) => (glass, text) => {
  const state = shownIn(glass);
  const canvas = h("canvas.gp-canvas", { "data-text-label": "b_minus_a.strips" });
  const drawn = createStrips(canvas);
  const note = h("p.gp-note");
  const title = headingOf(what, text);
  const element = h("div", null, ...title.elements, canvas, note);
  const view = reactive(/** @type {{ under: number | null }} */ ({ under: null }));
  /** @type {Of | null} B, once it is drawn */
  let run = null;
  /** @type {Vectors[]} of A and B */
  let both = [];
  /** @type {Record<string, Float64Array>} */
  let changes = {};
  /** @type {import("../marks/strips.js").Strip[]} */
  let rows = [];
  /** @type {Record<string, string>} */
  let called = {};
  let lead = "";

  canvas.addEventListener("pointerleave", () => {
    view.under = null;
  });
  bindPointer(canvas, glass, (x) => {
    view.under = drawn.find(x);
    return view.under === null || !run ? null : (what.pick?.(view.under, state, run) ?? {});
  });
  canvas.addEventListener("click", () => view.under !== null && what.keep?.(view.under));
  /** @param {Of} b */
  const chosenIn = (b) => (what.pick ? null : view.under) ?? what.chosen(state, glass, changes, b);
  const move = (/** @type {number} */ by) => () => {
    const count = changes[lead]?.length ?? 0;
    if (!count || !run) return null;
    const next = Math.max(0, Math.min(count - 1, (chosenIn(run) ?? 0) + by));
    view.under = null;
    what.keep?.(next);
    return what.pick?.(next, state, run) ?? {};
  };
  bindArrowKeys(canvas, glass, { ArrowLeft: move(-1), ArrowRight: move(1) });

  const read = memo((/** @type {Of} */ a, /** @type {Of} */ b) => {
    const named = typeof what.strips === "function" ? what.strips(b) : what.strips;
    [lead] = named[named.length - 1];
    called = Object.fromEntries(named.map(([name, , saved = name]) => [name, saved]));
    const [first, second] = (both = [a, b].map((one) => what.values(one, state, glass, b)));
    changes = Object.fromEntries(named.map(([name]) => [name, subtract(second[name], first[name])]));
    rows = named.map(([name, role]) => {
      const limit = largest(changes[name]);
      return {
        name: text(`n_${name}`, what.words?.(b)),
        role,
        values: changes[name],
        limit,
        apart: name !== lead,
        ...(limit === 0 ? { said: text("same") } : {}),
      };
    });
  });
  /** @type {import("./face.js").Part<Of>["draw"]} */
  function draw(a, b, width) {
    run = b;
    title.show(state, b);
    read(a, b);
    drawn.draw(width, rows, { chosen: chosenIn(b) });
    const each = drawn.perColumn(changes[lead].length);
    note.textContent = each > 1 ? text("pooled", { each }) : "";
  }
  const same = () => Object.values(changes).every((values) => largest(values) === 0);
  function csv() {
    const about = (run && what.named?.(state, run)) ?? {};
    const heads = [...Object.keys(about), "vector", "index"];
    const [names] = rowsOf(heads, () => [], [], []);
    const lines = Object.keys(changes).flatMap((name) =>
      rowsOf(heads, (i) => [...Object.values(about), called[name], i], both[0][name], both[1][name]).slice(1),
    );
    return [names, ...lines];
  }
  return {
    element,
    draw,
    csv,
    same,
    called: what.title ?? "vectors",
    pointed: () => (what.pick ? null : view.under),
    needs: what.needs,
    wide: true,
  };
};
