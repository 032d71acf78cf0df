// @ts-check
// The residual stream by layer: what attention and FFN add, how long it is beside the stream, and where it points.

import { largest, once } from "../../arrays.js";
import { choices } from "../../controls.js";
import { exact, h, root, sample, shown, signed, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createDepthMap } from "../../marks/depth.js";
import { logScale, signedScale } from "../../marks/scales.js";
import { sublayers } from "../../parts.js";
import { ownChoice } from "../../pointed.js";
import { inView, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { shownIn } from "../../run-for.js";
import { createProfile, HUES, lengthText, partAt, placeOf, rangeOf, rowAt, rowOf } from "./profile.js";

/**
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Model} Model
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("./profile.js").Stream} Stream
 *
 * @typedef {import("./profile.js").Sublayer} Sublayer
 *
 * @typedef {import("./profile.js").Addition} Addition
 *
 * @typedef {import("../../marks/runs.js").RunWith<{ stream: Stream }>} Run
 *
 * @typedef {"share" | "norm" | "cosine"} Quantity
 */

/** @type {Record<Quantity, (place: Addition) => number>} What the map shows, by choice. */
const QUANTITIES = {
  share: ({ norm, before }) => norm / before,
  norm: ({ norm }) => norm,
  cosine: ({ cosine }) => cosine,
};

/** Which of a layer's sub-layers is selected: the store knows the layer alone. */
export const part = ownChoice(/** @type {Sublayer["part"]} */ ("attn"));
/**
 * The same in a network that may not have it.
 *
 * @param {Model} model
 */
export const partIn = (model) => (sublayers(model).includes(part.now()) ? part.now() : "attn");
/**
 * The row of the selected sub-layer.
 *
 * @param {{ layer: number; trace: Trace }} place
 */
export const streamRow = ({ layer, trace }) => rowOf({ layer, part: part.now() }, trace.model);
/**
 * A row's sub-layer, in words.
 *
 * @param {Glass} glass
 * @param {number} row
 */
export function partName(glass, row) {
  const { part: one, layer } = partAt(row, shownIn(glass).trace.model);
  return glass.text(`residual.${one}_of`, { layer });
}

/** @param {Model} model */
const rowsIn = (model) => sublayers(model).length * model.n_layers;

/**
 * One sub-layer up or down the network.
 *
 * @param {1 | -1} by
 * @returns {import("../../pointing.js").Move}
 */
const step =
  (by) =>
  ({ layer, trace }) => {
    const { model } = trace;
    const to = partAt(Math.max(0, Math.min(rowsIn(model) - 1, streamRow({ layer, trace }) + by)), model);
    part.keep(to.part);
    part.hover(null);
    return { layer: to.layer };
  };

/**
 * A quantity of every sub-layer and token, row 0 the attention of layer 0.
 *
 * @param {Glass} glass
 * @param {string} label the key of its name
 * @param {() => Quantity} quantity
 */
export const addedMap = (glass, label, quantity) =>
  createDepthMap(glass, {
    label,
    left: 128,
    values(/** @type {Run} */ { trace: { model, T }, details: { stream } }) {
      const value = QUANTITIES[quantity()];
      return Float64Array.from({ length: rowsIn(model) * T }, (_, i) =>
        value(placeOf(stream, partAt(Math.floor(i / T), model), i % T)),
      );
    },
    scale: (values) => ({
      ...(quantity() === "cosine" ? signedScale(largest(values), 2) : logScale(values)),
      name: glass.text(`residual.scale_${quantity()}`),
    }),
    change: () => glass.text(`b_minus_a.n_${quantity()}`),
    name: (row) => partName(glass, row),
    at: ({ layer }, { trace }) => ({ row: streamRow({ layer, trace }) }),
    pick: ({ row, token }, _state, { trace }) => ({ layer: partAt(row, trace.model).layer, query: token }),
    keep: ({ row }, { trace }) => part.keep(partAt(row, trace.model).part),
    hover: (place, run) => part.hover(place ? partAt(place.row, run.trace.model).part : null),
    moves: { ArrowUp: step(1), ArrowDown: step(-1) },
  });

export const about = { tensors: ["resid_in", "attn_out", "resid_mid", "ffn_out", "resid_out"], difference: "depth" };

/**
 * What each part adds at each token; the heads alone before the answer has come.
 *
 * @param {Stream | null} answer
 * @param {Trace} trace
 * @returns {(string | number)[][]}
 */
function tableOf(answer, { T, model, tokens: { pieces } }) {
  const heads = ["layer", "part", "token", "piece", "norm_added", "cosine_to_stream", "norm_before", "norm_after"];
  if (!answer) return [heads];
  const rows = Array.from({ length: rowsIn(model) * T }, (_, i) => {
    const [row, t] = [Math.floor(i / T), i % T];
    const { layer, part: name } = partAt(row, model);
    const { norm, cosine, before, after } = placeOf(answer, partAt(row, model), t);
    return [layer, name, t, pieces[t], norm, cosine, before, after];
  });
  return [heads, ...rows];
}

/**
 * The numbers of a place, for the texts.
 *
 * @param {Glass} glass
 * @param {number} row
 * @param {number} token
 * @param {Addition} place
 */
const readingOf = (glass, row, token, { norm, before, cosine }) => ({
  part: partName(glass, row),
  token,
  piece: visible(shownIn(glass).trace.tokens.pieces[token]),
  norm: lengthText(norm),
  before: lengthText(before),
  percent: shown((100 * norm) / before, 3),
  cosine: signed(cosine, 4),
});

/**
 * What all lengths of an answer span.
 *
 * @param {Stream} answer
 */
const spanned = once((/** @type {Stream} */ { resid, resid_mid, resid_cross, attn_out, cross_out, ffn_out }) =>
  rangeOf(
    ...[resid, resid_mid, attn_out, resid_cross, cross_out, ffn_out].flatMap((found) => (found ? [found.data] : [])),
  ),
);

/** `crossing`: the sample of what only some networks have. */
function makeLegend() {
  const swatch = (/** @type {Sublayer["part"]} */ name) => sample("span.gp-swatch", `residual.${name}`, HUES[name]);
  const crossing = swatch("cross");
  const stream = sample("span.gp-stroke", "residual.stream", "residual");
  return { crossing, legend: h("div.gp-samples", null, swatch("attn"), crossing, swatch("ffn"), stream) };
}

/**
 * The law of cosines with the numbers of one addition.
 *
 * @param {Say} text
 * @param {Sublayer} sublayer
 * @param {Addition} addition
 */
function arithmetic(text, { part }, { norm, cosine, before, after }) {
  const a = () => tinted(HUES[part], part);
  const x = () => tinted("residual", "x");
  const measured = h("p", null, text("measured"), " ‖", x(), sub("after"), `‖ = ${lengthText(after)}`);
  if (Number.isNaN(cosine)) {
    const sum = [`${shown(before, 5)} + ${shown(norm, 5)} = `, h("strong", null, shown(before + norm, 5))];
    return [
      h("p", null, text("no_angle"), " ‖", x(), " + ", a(), "‖ = ‖", x(), "‖ + ‖", a(), "‖ = ", ...sum),
      measured,
    ];
  }
  const squares = before * before + norm * norm + 2 * before * norm * cosine;
  const sign = cosine < 0 ? "−" : "+";
  const twice = shown(Math.abs(2 * before * norm * cosine), 5);
  return [
    h(
      "p",
      null,
      "‖",
      x(),
      " + ",
      a(),
      "‖ = ",
      root("‖", x(), "‖² + ‖", a(), "‖² + 2 ‖", x(), "‖ ‖", a(), "‖ cos"),
      " = ",
      root(`${shown(before * before, 5)} + ${shown(norm * norm, 5)} ${sign} ${twice}`),
      " = ",
      h("strong", null, shown(Math.sqrt(squares), 5)),
    ),
    measured,
  ];
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function residual(element, glass) {
  const state = shownIn(glass);
  const profile = h("canvas.gp-canvas", { "data-text-label": "residual.profile" });
  const room = h("div", null, profile);
  /** @type {Stream | null} */
  let answer = null;
  const rows = () => rowsIn(state.trace.model);
  const at = (/** @type {number} */ row) => partAt(row, state.trace.model);
  const panel = frame(element, glass, "residual", {
    csv: () => tableOf(answer, state.trace),
    parts: ["what", "formula", "myth"],
  });
  const quantity = choices(glass, "residual", "quantity", /** @type {Quantity[]} */ (Object.keys(QUANTITIES)));
  const map = addedMap(glass, "residual.map", quantity.now);
  const { legend, crossing } = makeLegend();
  const sums = h("div.gp-formula.ov-scroll");
  // where the map has cells without an angle
  const angles = h("p.gp-note", { "data-text": "residual.clear", hidden: "" });
  panel.body.append(
    legend,
    room,
    sums,
    h("h3.gp-subtitle", { "data-text": "residual.all" }),
    h("div.gp-options", null, quantity.element),
    map.element,
    angles,
  );
  const drawProfile = createProfile(profile);
  const wide = widthOf(room, glass);
  const mapWide = widthOf(map.element, glass);
  profile.addEventListener("pointerleave", () => part.hover(null));
  bindPointer(profile, glass, (x) => {
    const row = answer && rowAt(x, wide(), rows());
    const sublayer = row === null ? null : at(row);
    part.hover(sublayer?.part ?? null);
    return sublayer && { layer: sublayer.layer };
  });
  profile.addEventListener("click", () => part.keep(part.now()));
  bindArrowKeys(profile, glass, { ArrowLeft: step(-1), ArrowRight: step(1) });

  /**
   * @param {Stream} found
   * @param {{ row: number; token: number }} selected
   */
  function drawToken(found, { row, token }) {
    const every = Array.from({ length: rows() }, (_, i) => ({ ...at(i), ...placeOf(found, at(i), token) }));
    const stream = [...every.map(({ before }) => before), every[every.length - 1].after];
    const words = {
      norms: panel.text("norms"),
      cosines: panel.text("cosines"),
      axis: panel.text("layers"),
      per: sublayers(state.trace.model).length,
    };
    drawProfile(wide(), spanned(found), every, stream, row, words);
  }

  /**
   * @param {Stream} found
   * @param {{ row: number; token: number }} selected
   */
  function tell(found, { row, token }) {
    const one = at(row);
    const place = placeOf(found, one, token);
    sums.replaceChildren(...arithmetic(panel.text, one, place));
    const params = readingOf(glass, row, token, place);
    panel.title.textContent = panel.text("title", params);
    const [norm, cosine] = [exact(place.norm), exact(place.cosine)];
    const stream = `before=${exact(place.before)} after=${exact(place.after)}`;
    panel.tell(
      `layer ${one.layer} ${one.part} token ${token} norm=${norm} cosine=${cosine} ${stream}`,
      panel.text("read", params),
    );
  }

  return inView(element, function draw(fresh) {
    const { trace, query } = state;
    answer = glass.detail("stream");
    element.toggleAttribute("data-loading", !answer);
    const widths = [wide(), mapWide()];
    if (!answer || widths.includes(0)) return;
    if (fresh) part.hover(null);
    crossing.hidden = !answer.cross_out;
    const selected = { row: streamRow(state), token: query };
    drawToken(answer, selected);
    map.draw([{ trace, details: { stream: answer } }], widths[1], fresh);
    angles.hidden =
      quantity.now() !== "cosine" ||
      ![answer.attn_cosine, answer.cross_cosine, answer.ffn_cosine].some((found) => found?.data.some(Number.isNaN));
    tell(answer, selected);
  });
}
