// The residual stream by layer: what attention and FFN add, how long it is beside the stream, and where it points.

import { largest } from "../../arrays.js";
import { choices } from "../../controls.js";
import { exact, h, root, sample, shown, signed, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createDepthMap } from "../../marks/depth.js";
import { logScale, signedScale } from "../../marks/scales.js";
import { sublayers } from "../../parts.js";
import { ownChoice } from "../../pointed.js";
import { inView, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { createProfile, HUES, lengthText, partAt, placeOf, rangeOf, rowAt, rowOf } from "./profile.js";

/** What the map shows, by choice: a value from the numbers of a place. */
const QUANTITIES = {
  share: ({ norm, before }) => norm / before,
  norm: ({ norm }) => norm,
  cosine: ({ cosine }) => cosine,
};

/** Which of a layer's sub-layers is selected: the store knows the layer alone. */
export const part = ownChoice(/** @type {ReturnType<typeof partAt>["part"]} */ ("attn"));
/** The same in a network that may not have it. */
export const partIn = (model) => (sublayers(model).includes(part.now()) ? part.now() : "attn");
export const streamRow = ({ layer, trace }) => rowOf({ layer, part: part.now() }, trace.model);
export function partName(glass, row) {
  const { part: one, layer } = partAt(row, glass.state.trace.model);
  return glass.text(`residual.${one}_of`, { layer });
}

const rowsIn = (model) => sublayers(model).length * model.n_layers;

/** One sub-layer up or down the network. */
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
 * @param {string} label the key of its name
 * @param {() => string} quantity
 */
export const addedMap = (glass, label, quantity) =>
  createDepthMap(glass, {
    label,
    left: 128,
    values({ trace: { model, T }, details: { stream } }) {
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
    at: (state) => ({ row: streamRow(state) }),
    pick: ({ row, token }, _state, { trace }) => ({ layer: partAt(row, trace.model).layer, query: token }),
    keep: ({ row }, { trace }) => part.keep(partAt(row, trace.model).part),
    hover: (place, run) => part.hover(place ? partAt(place.row, run.trace.model).part : null),
    moves: { ArrowUp: step(1), ArrowDown: step(-1) },
  });

export const about = { tensors: ["resid_in", "attn_out", "resid_mid", "ffn_out", "resid_out"], difference: "depth" };

/**
 * What each part adds at each token; the heads alone before the answer has come.
 *
 * @returns {(string | number)[][]}
 */
function tableOf(answer, { T, model, tokens: { pieces } }) {
  const rows = Array.from({ length: answer ? rowsIn(model) * T : 0 }, (_, i) => {
    const [row, t] = [Math.floor(i / T), i % T];
    const { layer, part: name } = partAt(row, model);
    const { norm, cosine, before, after } = placeOf(answer, partAt(row, model), t);
    return [layer, name, t, pieces[t], norm, cosine, before, after];
  });
  const heads = ["layer", "part", "token", "piece", "norm_added", "cosine_to_stream", "norm_before", "norm_after"];
  return [heads, ...rows];
}

/** The numbers of a place, for the texts. */
const readingOf = (glass, row, token, { norm, before, cosine }) => ({
  part: partName(glass, row),
  token,
  piece: visible(glass.state.trace.tokens.pieces[token]),
  norm: lengthText(norm),
  before: lengthText(before),
  percent: shown((100 * norm) / before, 3),
  cosine: signed(cosine, 4),
});

/** What all lengths of an answer span. */
const rangeIn = (answer) =>
  rangeOf(
    answer.resid.data,
    ...(answer.resid_mid ? [answer.resid_mid.data] : []),
    answer.attn_out.data,
    ...(answer.cross_out ? [answer.resid_cross.data, answer.cross_out.data] : []),
    answer.ffn_out.data,
  );

/** `crossing`: the sample of what only some networks have. */
function makeLegend() {
  const swatch = (name) => sample("span.gp-swatch", `residual.${name}`, HUES[name]);
  const crossing = swatch("cross");
  const stream = sample("span.gp-stroke", "residual.stream", "residual");
  return { crossing, legend: h("div.gp-samples", null, swatch("attn"), crossing, swatch("ffn"), stream) };
}

/** The law of cosines with the numbers of one addition. */
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
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function residual(element, glass) {
  const { state } = glass;
  const profile = h("canvas.gp-canvas", { "data-text-label": "residual.profile" });
  let answer = null;
  let range = null;
  const rows = () => rowsIn(state.trace.model);
  const at = (row) => partAt(row, state.trace.model);
  const panel = frame(element, glass, "residual", {
    csv: () => tableOf(answer, state.trace),
    parts: ["what", "formula", "myth"],
  });
  const quantity = choices(glass, "residual", "quantity", Object.keys(QUANTITIES));
  const map = addedMap(glass, "residual.map", quantity.now);
  const { legend, crossing } = makeLegend();
  const sums = h("div.gp-formula.ov-scroll");
  // where the map has cells without an angle
  const angles = h("p.gp-note", { "data-text": "residual.clear", hidden: "" });
  panel.body.append(
    legend,
    h("div", null, profile),
    sums,
    h("h3.gp-subtitle", { "data-text": "residual.all" }),
    h("div.gp-options", null, quantity.element),
    map.element,
    angles,
  );
  const drawProfile = createProfile(profile);
  const wide = widthOf(profile.parentElement, glass);
  const mapWide = widthOf(map.element, glass);
  profile.addEventListener("pointerleave", () => part.hover(null));
  bindPointer(profile, glass, (x) => {
    const row = answer && rowAt(x, wide(), rows());
    part.hover(row === null ? null : at(row).part);
    return row === null ? null : { layer: at(row).layer };
  });
  profile.addEventListener("click", () => part.keep(part.now()));
  bindArrowKeys(profile, glass, { ArrowLeft: step(-1), ArrowRight: step(1) });

  function drawToken({ row, token }) {
    const every = Array.from({ length: rows() }, (_, i) => ({ ...at(i), ...placeOf(answer, at(i), token) }));
    const stream = [...every.map(({ before }) => before), every.at(-1).after];
    const words = {
      norms: panel.text("norms"),
      cosines: panel.text("cosines"),
      axis: panel.text("layers"),
      per: sublayers(state.trace.model).length,
    };
    drawProfile(wide(), range, every, stream, row, words);
  }

  function tell({ row, token }) {
    const one = at(row);
    const place = placeOf(answer, one, token);
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
    const came = glass.detail("stream");
    if (came && came !== answer) range = rangeIn(came);
    answer = came;
    element.toggleAttribute("data-loading", !answer);
    const widths = [wide(), mapWide()];
    if (!answer || widths.includes(0)) return;
    if (fresh) part.hover(null);
    crossing.hidden = !answer.cross_out;
    const selected = { row: streamRow(state), token: query };
    drawToken(selected);
    map.draw([{ trace, details: { stream: answer } }], widths[1], fresh);
    angles.hidden =
      quantity.now() !== "cosine" ||
      ![answer.attn_cosine, answer.cross_cosine, answer.ffn_cosine].some((found) => found?.data.some(Number.isNaN));
    tell(selected);
  });
}
