// Maps of several heads, B − A, to one scale: every head of a layer, or of all layers as thumbnails.

import { h, watcher } from "../dom.js";
import { cells, centred, cross, enlarge, fit, hatch, ink, pixelRatio, scaleBar, write } from "../draw.js";
import { drawOff, headOff } from "../off.js";
import { OVER_CELLS, link, steer } from "../pointing.js";
import { changeOf } from "./head-maps.js";
import { signedTicks } from "./places.js";

const BUDGET = 4; // ms of computing a frame
const LEGEND = 40;

/**
 * @typedef {{ layer: number, head: number, x: number, y: number }} Box
 * @param {{ layout: (width: number, model, state) => { boxes: Box[], size: number, height: number },
 *           captions?: boolean, cells?: boolean, moves?: Object<string, Function> }} what
 * `captions`: names over the boxes, else heads before the rows and layers over the columns; `cells`: pointing at a box selects its query and key, else the head alone
 */
export const headMaps = (what) => (glass, text) => {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": "minus.maps" });
  const scene = document.createElement("canvas");
  const note = h("p.gp-note");
  const element = h("div", null, h("div.gp-scroll", null, canvas), note);
  const anew = watcher();
  let [made, layout, runs, scheduled] = [new Map(), null, null, false];
  let [limit, complete] = [0, false];

  function find(x, y) {
    const box = layout?.boxes.find((one) => x >= one.x && x < one.x + layout.size && y >= one.y && y < one.y + layout.size);
    if (!box) return null;
    const { layer, head } = box;
    if (!what.cells) return runs.every(({ trace }) => trace.layers.has(layer)) ? { layer, head } : null;
    const [key, query] = [x - box.x, y - box.y].map((place) => Math.floor((place / layout.size) * state.trace.T));
    return { head, query, key: Math.min(key, query) };
  }
  link(canvas, glass, find);
  steer(canvas, glass, what.moves ?? OVER_CELLS);

  /** Goes on when the browser has nothing better to do. */
  function schedule() {
    if (scheduled) return;
    scheduled = true;
    (globalThis.requestIdleCallback ?? setTimeout)(() => {
      scheduled = false;
      glass.repaint();
    });
  }

  /** The boxes' maps that both runs' layers allow, made for a few ms; whether all of them are done. */
  function work(a, b, block) {
    const end = performance.now() + BUDGET;
    let all = true;
    for (const { layer, head } of layout.boxes) {
      const [first, second] = [a, b].map(({ trace }) => trace.layers.get(layer));
      if (!first || !second) continue;
      const name = `${layer} ${head}`;
      if (!made.has(name)) made.set(name, changeOf(first, second, b.trace.model, head, "weights", block));
      const map = made.get(name);
      if (!map.done) all = map.work(end) && all;
    }
    return all;
  }

  function drawScene(width, tokens) {
    const context = fit(scene, width, layout.height + LEGEND);
    const { colour, signed } = ink();
    const left = Math.min(...layout.boxes.map(({ x }) => x));
    for (const { layer, head, x, y } of layout.boxes) {
      const map = made.get(`${layer} ${head}`);
      if (what.captions || x === left) write(context, text("head", { head }), what.captions ? x : 0, what.captions ? y - 6 : y + layout.size / 2, { base: what.captions ? "alphabetic" : "middle" });
      if (!what.captions && head === 0) write(context, String(layer), x + layout.size / 2, y - 6, { align: "center", colour: colour("muted") });
      if (!map?.done) {
        context.fillStyle = colour("raised"); // not computed yet
        context.fillRect(x, y, layout.size, layout.size);
        continue;
      }
      hatch(context, x, y, layout.size, layout.size);
      const covered = (map.side * map.block * layout.size) / tokens; // the last dots may reach past the text
      context.save();
      context.beginPath();
      context.rect(x, y, layout.size, layout.size);
      context.clip();
      enlarge(context, cells(map.values, map.side, map.side, signed, (value) => centred(value, limit)), x, y, covered, covered);
      context.restore();
      if (runs.some(({ trace }) => headOff(trace, layer, head))) drawOff(context, x, y, layout.size, layout.size, glass.text("off.word"));
    }
    scaleBar(context, 1, layout.height + 4, Math.min(320, width - 8), signed, signedTicks(limit));
  }

  function drawMarks(context, tokens) {
    const { accent, edge } = { accent: ink().colour("accent"), edge: ink().colour("cross-edge") };
    const box = layout.boxes.find(({ layer, head }) => layer === state.layer && head === state.head);
    if (!box) return;
    for (const [colour, line] of [[edge, 4], [accent, 2]]) {
      context.strokeStyle = colour;
      context.lineWidth = line;
      context.strokeRect(box.x - 1, box.y - 1, layout.size + 2, layout.size + 2);
    }
    const cell = layout.size / tokens;
    if (what.cells) cross(context, box.x + state.key * cell, box.y + state.query * cell, Math.max(3, cell), Math.max(3, cell));
  }

  let last = "";
  function draw(a, b, width, fresh) {
    runs = [a, b];
    const { T, model } = b.trace;
    layout = what.layout(width, model, state);
    const block = Math.max(1, Math.ceil(T / (layout.size * pixelRatio())));
    if (anew(a.trace, b.trace, block, what.cells && b.held, what.cells && a.held)) [made, last] = [new Map(), ""];
    if (!work(a, b, block)) schedule();
    const done = [...made.values()].filter((map) => map.done);
    limit = done.reduce((most, map) => Math.max(most, map.limit), 0);
    const name = [done.length, width, state.theme, state.language, limit, block, layout.size].join();
    if (name !== last || fresh) drawScene(width, T);
    last = name;
    const missing = layout.boxes.length - done.length;
    complete = missing === 0;
    note.textContent = [block > 1 ? text("block", { block }) : "", missing ? text("coming", { count: missing }) : ""].filter(Boolean).join(" ");
    const context = fit(canvas, width, layout.height + LEGEND);
    context.drawImage(scene, 0, 0, width, layout.height + LEGEND);
    drawMarks(context, T);
  }
  /** Dot by dot, of the maps that are drawn. */
  const csv = () => [
    ["layer", "head", "query", "key", "A", "B", "B_minus_A"],
    ...layout.boxes.flatMap(({ layer, head }) => {
      const map = made.get(`${layer} ${head}`);
      return map?.done ? map.rows().map((row) => [layer, head, ...row]) : [];
    }),
  ];
  return { element, draw, csv, same: () => complete && limit === 0, called: "maps" };
};
