// Vectors of both runs subtracted, one strip each over a common axis; each strip to its own scale, the same for both signs.

import { largest, subtract } from "../compute.js";
import { h, watcher } from "../dom.js";
import { createStrips } from "../marks/strips.js";
import { link, steer } from "../pointing.js";
import { headingOf } from "./heading.js";
import { rowsOf } from "./saved.js";

/**
 * @param {{ title?: string, named?: (state, b) => object, needs?: string[], strips: [string, string][], values: (run, state, glass) => Object<string, ArrayLike<number>>,
 *           chosen: (state, glass, changes, b) => number, pick?: (i: number, state, b) => object|null,
 *           keep?: (i: number) => void, on: (state) => any[] }} what
 * `pick`: the selection an index stands for; else it is the panel's own affair, and a click keeps it
 * `strips`: name, which is texts' n_<name>, and role of each; of several values in a column the largest change is shown
 */
export const strips = (what) => (glass, text) => {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": "minus.strips" });
  const drawn = createStrips(canvas);
  const note = h("p.gp-note");
  const title = headingOf(what, text);
  const element = h("div", null, ...title.elements, canvas, note);
  const anew = watcher();
  let [changes, run, both] = [{}, null, []];
  const lead = what.strips.at(-1)[0];

  let [under, rows] = [null, []];
  canvas.addEventListener("pointerleave", () => { under = null; });
  link(canvas, glass, (x) => {
    under = drawn.find(x);
    return under === null ? null : what.pick?.(under, state, run) ?? {};
  });
  canvas.addEventListener("click", () => under !== null && what.keep?.(under));
  const chosen = () => (what.pick ? null : under) ?? what.chosen(state, glass, changes, run);
  const move = (by) => () => {
    const count = changes[lead]?.length ?? 0;
    if (!count) return null;
    const next = Math.max(0, Math.min(count - 1, chosen() + by));
    under = null;
    what.keep?.(next);
    return what.pick?.(next, state, run) ?? {};
  };
  steer(canvas, glass, { ArrowLeft: move(-1), ArrowRight: move(1) });

  function draw(a, b, width, fresh) {
    run = b;
    title.show(state, b);
    if (anew(a.held, b.held, a.neurons, b.neurons, ...Object.values(a.details), ...Object.values(b.details), a.trace, b.trace, width, state.theme, state.language, ...what.on(state, glass)) || fresh) {
      const [first, second] = (both = [a, b].map((one) => what.values(one, state, glass)));
      changes = Object.fromEntries(what.strips.map(([name]) => [name, subtract(second[name], first[name])]));
      rows = what.strips.map(([name, role]) => {
        const limit = largest(changes[name]);
        return { name: text(`n_${name}`), role, values: changes[name], limit, apart: name !== lead, ...(limit === 0 ? { said: text("same") } : {}) };
      });
    }
    drawn.draw(width, rows, { chosen: chosen() });
    const each = drawn.perColumn(changes[lead].length);
    note.textContent = each > 1 ? text("pooled", { each: each.toFixed(1) }) : "";
  }
  const same = () => Object.values(changes).every((values) => largest(values) === 0);
  function csv() {
    const about = what.named?.(state, run) ?? {};
    const heads = [...Object.keys(about), "vector", "index"];
    const [names] = rowsOf(heads, () => [], [], []);
    const lines = Object.keys(changes).flatMap((name) => rowsOf(heads, (i) => [...Object.values(about), name, i], both[0][name], both[1][name]).slice(1));
    return [names, ...lines];
  }
  return { element, draw, csv, same, called: what.title ?? "vectors", pointed: () => (what.pick ? null : under), needs: what.needs, wide: true };
};
