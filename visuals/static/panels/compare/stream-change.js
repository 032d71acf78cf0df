// How far the residual stream of run B lies from that of run A: layers × tokens.

import { exact, h, shown } from "../../dom.js";
import { createDepthMap } from "../../depthmap.js";
import { frame } from "../../frame.js";
import { inView, link, widthOf } from "../../pointing.js";
import { nameOf } from "./names.js";

/** ‖B − A‖ / ‖A‖ of each place, rows × tokens. @param {{ apart: object, first: object }} found */
export const relative = ({ apart, first }) => Float64Array.from(apart.data, (value, i) => value / first.data[i]);

// The distance from 1 to the next number of each format, and how many of them the colours reach at the least.
const STEP = { float32: 2 ** -23, float16: 2 ** -10, bfloat16: 2 ** -7 };
const STEPS = 128;

/** The ratio of full colour: the largest, but so much at the least that rounding draws as nothing. @param {ArrayLike<number>} values */
export const mostOf = (values, dtype) => Array.from(values).reduce((most, value) => Math.max(most, value), STEPS * (STEP[dtype] ?? STEP.float32));

/** @param {HTMLElement} element @param {object} glass */
export default function streamChange(element, glass) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": "stream-change.map" });
  let found = null;
  const csv = () => {
    if (!found) return [];
    const [rows, tokens] = found.apart.shape;
    const lines = Array.from({ length: rows * tokens }, (_, i) => [
      Math.floor(i / tokens), i % tokens, found.apart.data[i], found.first.data[i], found.values[i],
    ]);
    return [["before_layer", "token", "norm_of_difference", "norm_of_A", "ratio"], ...lines];
  };
  const panel = frame(element, glass, "stream-change", { csv });
  const empty = h("p.gp-note");
  const scroll = h("div.gp-scroll", null, canvas);
  const cut = h("p.gp-note");
  panel.body.append(empty, cut, scroll);
  const map = createDepthMap(canvas);
  const wide = widthOf(canvas.parentElement, glass);
  link(canvas, glass, (x, y) => {
    const place = found && map.find(x, y, found.apart.shape[1]);
    return place && { layer: Math.min(place.row, state.trace.model.n_layers - 1), query: place.token };
  });

  /** The answer about the two runs, with the ratio of each place. */
  function fetched(sides) {
    const answer = glass.detail("difference", { other: sides.A.id }, sides.B);
    if (answer && answer.apart !== found?.apart) found = { ...answer, values: relative(answer), key: `${sides.A.id} ${sides.B.id}` };
    return found?.key === `${sides.A.id} ${sides.B.id}` ? found : null;
  }

  return inView(element, function draw() {
    const sides = glass.sides();
    panel.title.textContent = panel.text("title");
    const comparable = sides && sides.A.model.name === sides.B.model.name;
    const known = comparable ? fetched(sides) : null;
    const same = known !== null && known.apart.data.every((x) => x === 0);
    empty.hidden = known !== null && !same;
    scroll.hidden = !known || same;
    cut.hidden = !known || sides.A.T === sides.B.T;
    if (same) empty.textContent = glass.text("minus.same");
    else empty.textContent = sides && !comparable ? panel.text("models") : panel.text(sides ? "waiting" : "empty");
    if (!known) return panel.tell("", "");
    const [rows, tokens] = known.apart.shape;
    const most = mostOf(known.values, sides.B.model.dtype);
    const place = { row: Math.min(state.layer, rows - 1), token: Math.min(state.query, tokens - 1) };
    cut.textContent = panel.text("cut", { a: sides.A.T, b: sides.B.T, tokens });
    const [first, pieces] = [sides.A, sides.B].map((trace) => trace.tokens.pieces.slice(0, tokens));
    const differs = first.map((piece, t) => piece !== pieces[t]);
    const both = differs.includes(true);
    const width = wide();
    if (!same && width > 0) map.draw([known, state.theme, state.language], () => ({
      rows,
      values: known.values,
      place: (value) => value / most,
      table: "magnitude",
      label: (row) => (row === rows - 1 ? panel.text("last") : panel.text("row", { layer: row })),
      ticks: [[0, "0"], [1, shown(most, 3)]],
      axis: panel.text(both ? "axis_both" : "axis"),
      scale: "‖B − A‖ / ‖A‖",
      second: both ? pieces.map((piece, t) => (differs[t] ? piece : "")) : null,
    }), first, width, place);
    const at = place.row * tokens + place.token;
    const [apart, length, ratio] = [known.apart.data[at], known.first.data[at], known.values[at]];
    panel.tell(
      `layer ${place.row} token ${place.token} apart=${exact(apart)} first=${exact(length)} ratio=${exact(ratio)}`,
      panel.text("read", {
        layer: place.row, token: place.token, piece: nameOf(first[place.token], pieces[place.token]),
        apart: shown(apart, 5), first: shown(length, 5), ratio: shown(ratio, 5),
      }),
    );
  });
}
