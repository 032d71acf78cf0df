// Vectors of both runs subtracted, one strip each over a common axis; each strip to its own scale, the same for both
// signs.

import { largest, subtract } from "../arrays.js";
import { h } from "../dom.js";
import { createStrips } from "../marks/strips.js";
import { bindPointer, bindArrowKeys } from "../pointing.js";
import { memo, reactive } from "../reads.js";
import { headingOf } from "./heading.js";
import { rowsOf } from "./saved.js";

/**
 * @param {{
 *   title?: string;
 *   named?: (state, b) => object;
 *   needs?: string[];
 *   strips: [string, string, string?][] | ((run) => [string, string, string?][]);
 *   words?: (run) => object;
 *   values: (run, state, glass, b) => Object<string, ArrayLike<number>>;
 *   chosen: (state, glass, changes, b) => number;
 *   pick?: (i: number, state, b) => object | null;
 *   keep?: (i: number) => void;
 * }} what
 *   `pick`: the selection an index stands for; else it is the panel's own affair, and a click keeps it `strips`:
 *   name, which is texts' n_<name> (with the parameters `words`), and role of each, and what a saved table calls it
 *   where that is another name; of several values in a column the largest change is shown
 */
export const strips = (what) => (glass, text) => {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": "b_minus_a.strips" });
  const drawn = createStrips(canvas);
  const note = h("p.gp-note");
  const title = headingOf(what, text);
  const element = h("div", null, ...title.elements, canvas, note);
  const view = reactive({ under: null });
  let [changes, run, both, rows, lead, called] = [{}, null, [], [], "", {}];

  canvas.addEventListener("pointerleave", () => {
    view.under = null;
  });
  bindPointer(canvas, glass, (x) => {
    view.under = drawn.find(x);
    return view.under === null ? null : (what.pick?.(view.under, state, run) ?? {});
  });
  canvas.addEventListener("click", () => view.under !== null && what.keep?.(view.under));
  const chosen = () => (what.pick ? null : view.under) ?? what.chosen(state, glass, changes, run);
  const move = (by) => () => {
    const count = changes[lead]?.length ?? 0;
    if (!count) return null;
    const next = Math.max(0, Math.min(count - 1, chosen() + by));
    view.under = null;
    what.keep?.(next);
    return what.pick?.(next, state, run) ?? {};
  };
  bindArrowKeys(canvas, glass, { ArrowLeft: move(-1), ArrowRight: move(1) });

  const read = memo((a, b) => {
    const named = typeof what.strips === "function" ? what.strips(b) : what.strips;
    [lead] = named.at(-1);
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
  function draw(a, b, width) {
    run = b;
    title.show(state, b);
    read(a, b);
    drawn.draw(width, rows, { chosen: chosen() });
    const each = drawn.perColumn(changes[lead].length);
    note.textContent = each > 1 ? text("pooled", { each: each.toFixed(1) }) : "";
  }
  const same = () => Object.values(changes).every((values) => largest(values) === 0);
  function csv() {
    const about = what.named?.(state, run) ?? {};
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
