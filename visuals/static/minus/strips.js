// Vectors of both runs subtracted, one strip each over a common axis; each strip to its own scale, the same for both signs.

import { poolColumns } from "../compute.js";
import { h, shown, watcher } from "../dom.js";
import { cells, centred, cross, enlarge, fit, ink, write } from "../draw.js";
import { link, steer } from "../pointing.js";
import { largest, subtract } from "../sides.js";
import { headingOf } from "./heading.js";
import { rowsOf } from "./saved.js";

const [LABEL, STRIP, GAP] = [22, 26, 8];

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
  const scene = document.createElement("canvas");
  const note = h("p.gp-note");
  const title = headingOf(what, text);
  const element = h("div", null, ...title.elements, canvas, note);
  const anew = watcher();
  let [changes, columns, wide, run, both] = [{}, [], 0, null, []];
  const tall = what.strips.length * (LABEL + STRIP + GAP);
  const lead = what.strips.at(-1)[0];

  let under = null;
  canvas.addEventListener("pointerleave", () => { under = null; });
  link(canvas, glass, (x) => {
    under = columns[Math.max(0, Math.min(columns.length - 1, Math.floor((x / wide) * columns.length)))] ?? null;
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

  function drawStrip(context, top, values, role, name) {
    const { colour, signed } = ink();
    const limit = largest(values);
    const shownOnes = name === lead ? columns : poolColumns(values, Math.floor(wide));
    const image = cells(shownOnes.map((i) => values[i]), shownOnes.length, 1, signed, (value) => centred(value, limit));
    write(context, text(`n_${name}`), 0, top + 16, { weight: 600, colour: colour(role) });
    write(context, limit === 0 ? text("same") : `±${shown(limit, 3)}`, wide, top + 16, { align: "right", colour: colour("muted") });
    enlarge(context, image, 0, top + LABEL, wide, STRIP);
    context.strokeStyle = colour("line");
    context.lineWidth = 1;
    context.strokeRect(0.5, top + LABEL + 0.5, wide - 1, STRIP - 1);
  }

  function draw(a, b, width, fresh) {
    run = b;
    title.show(state, b);
    if (anew(a.held, b.held, a.neurons, b.neurons, ...Object.values(a.details), ...Object.values(b.details), a.trace, b.trace, width, state.theme, state.language, ...what.on(state, glass)) || fresh) {
      wide = width;
      const [first, second] = (both = [a, b].map((one) => what.values(one, state, glass)));
      changes = Object.fromEntries(what.strips.map(([name]) => [name, subtract(second[name], first[name])]));
      columns = poolColumns(changes[lead], Math.floor(width));
      const context = fit(scene, width, tall);
      what.strips.forEach(([name, role], i) => drawStrip(context, i * (LABEL + STRIP + GAP), changes[name], role, name));
      const each = changes[lead].length / columns.length;
      note.textContent = each > 1 ? text("pooled", { each: each.toFixed(1) }) : "";
    }
    const context = fit(canvas, width, tall);
    context.drawImage(scene, 0, 0, width, tall);
    const mark = chosen();
    const column = columns.reduce((best, i, place) => (i <= mark ? place : best), 0);
    what.strips.forEach((_, i) => cross(context, ((column + 0.5) * width) / columns.length - 3, i * (LABEL + STRIP + GAP) + LABEL, 6, STRIP));
  }
  const same = () => Object.values(changes).every((values) => largest(values) === 0);
  function csv() {
    const about = what.named?.(state, run) ?? {};
    const heads = [...Object.keys(about), "vector", "index"];
    const [names] = rowsOf(heads, () => [], [], []);
    const rows = Object.keys(changes).flatMap((name) => rowsOf(heads, (i) => [...Object.values(about), name, i], both[0][name], both[1][name]).slice(1));
    return [names, ...rows];
  }
  return { element, draw, csv, same, called: what.title ?? "vectors", pointed: () => (what.pick ? null : under), needs: what.needs, wide: true };
};
