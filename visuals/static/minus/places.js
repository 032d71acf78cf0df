// A map of places in the network × tokens, subtracted: one diverging scale for both signs, 0 in the middle.

import { createDepthMap } from "../depthmap.js";
import { h, shown } from "../dom.js";
import { centred } from "../draw.js";
import { link, steer } from "../pointing.js";
import { largest, subtract } from "../sides.js";
import { headingOf } from "./heading.js";
import { rowsOf } from "./saved.js";

/** The ticks of a scale from −limit to +limit. @returns {[number, string][]} */
export const signedTicks = (limit) => [[0, `−${shown(limit, 3)}`], [0.5, "0"], [1, `+${shown(limit, 3)}`]];

/**
 * @param {{ title?: string, values: (run, state, glass) => ArrayLike<number>, label: (row: number, b, glass, text) => string,
 *           at: (state, glass, b) => number, pick: (place: { row: number, token: number }, state, b) => object,
 *           keep?: (row: number, state, glass) => void, hover?: (row: number|null, b) => void, scale: string, scaled?: (glass) => string, first?: number, on: (state) => any[], moves?: Object<string, Function> }} what
 * `values` rows × tokens, row 0 at the bottom; `at`: the selected row; `keep` and `hover`: what
 * else a click chooses and the pointer previews; `scale`: texts' name, `scaled`: where it follows a choice; `first`: as a depth map has it
 */
export const places = (what) => (glass, text) => {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": `minus.${what.scale}` });
  const element = h("div", null, ...headingOf(what, text).elements, h("div.gp-scroll", null, canvas));
  const map = createDepthMap(canvas);
  let [run, other] = [null, null]; // B and A
  let under = null;
  canvas.addEventListener("pointerleave", () => { what.hover?.(under = null); }); // before link's own listener, which draws
  link(canvas, glass, (x, y) => {
    under = run && map.find(x, y, run.trace.T);
    what.hover?.(under && under.row, run);
    return under && what.pick(under, state, run);
  });
  canvas.addEventListener("click", () => under && what.keep?.(under.row, state, glass));
  steer(canvas, glass, what.moves ?? { ArrowUp: ({ layer }) => ({ layer: layer + 1 }), ArrowDown: ({ layer }) => ({ layer: layer - 1 }), ArrowLeft: ({ query }) => ({ query: query - 1 }), ArrowRight: ({ query }) => ({ query: query + 1 }) });

  let last = { first: null, second: null };
  let [limit, same] = [0, false]; // a value that only one run has is a difference, too
  function scene(a, b) {
    const [first, second] = [a, b].map((one) => what.values(one, state, glass));
    const values = subtract(second, first);
    limit = largest(values);
    same = limit === 0 && values.every((value, i) => !Number.isNaN(value) || (Number.isNaN(first[i]) && Number.isNaN(second[i])));
    last = { first, second };
    return {
      rows: values.length / b.trace.T,
      values,
      place: (value) => centred(value, limit),
      table: "signed",
      ticks: signedTicks(limit),
      label: (row) => what.label(row, b, glass, text),
      axis: text("tokens"),
      scale: text(what.scaled?.(glass) ?? what.scale),
      left: 128,
      first: what.first,
    };
  }

  function draw(a, b, width, fresh) {
    [run, other] = [b, a];
    const key = [a.trace, b.trace, a.held, b.held, ...Object.values(a.details), ...Object.values(b.details), state.theme, state.language, ...what.on(state, glass)];
    const selected = { row: what.at(state, glass, b), token: state.query };
    map.draw(fresh ? [...key, {}] : key, () => scene(a, b), b.trace.tokens.pieces, width, selected);
  }
  const csv = () => {
    const { T } = run.trace;
    const pieces = (t) => [other, run].map(({ trace }) => trace.tokens.pieces[t]);
    const name = (i) => [what.label(Math.floor(i / T), run, glass, text), i % T, ...pieces(i % T)];
    return rowsOf(["place", "token", "piece_in_A", "piece_in_B"], name, last.first, last.second);
  };
  return { element, draw, csv, same: () => same, called: what.title ?? what.scale };
};

