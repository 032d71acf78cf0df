// The residual stream by layer: what attention and FFN add, how long it is beside the stream, and where it points.

import { largest } from "../../compute.js";
import { choices } from "../../controls.js";
import { exact, h, root, sample, shown, signed, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createDepthMap } from "../../marks/depth.js";
import { logScale, signedScale } from "../../marks/scales.js";
import { noChoice } from "../../parts.js";
import { ownChoice } from "../../pointed.js";
import { inView, link, steer, widthOf } from "../../pointing.js";
import { createProfile, HUES, lengthText, partAt, placeOf, rangeOf, rowAt, rowOf } from "./profile.js";

/** What the map shows, by choice: a value from the numbers of a place. */
const QUANTITIES = { share: ({ norm, before }) => norm / before, norm: ({ norm }) => norm, cosine: ({ cosine }) => cosine };

/** Which of a layer's two sub-layers is selected: the store knows the layer alone. */
export const part = ownChoice("attn");
export const streamRow = ({ layer }) => rowOf({ layer, part: part.now() });
export const partName = (glass, row) => glass.text(`residual.${partAt(row).part}_of`, { layer: partAt(row).layer });

/** One sub-layer up or down the network. */
const step = (by) => ({ layer, trace }) => {
  const row = Math.max(0, Math.min(2 * trace.model.n_layers - 1, streamRow({ layer }) + by));
  part.keep(partAt(row).part);
  part.hover(null);
  return { layer: partAt(row).layer };
};

/** A quantity of every sub-layer and token, row 0 the attention of layer 0. @param {string} label the key of its name @param {() => string} quantity */
export const addedMap = (glass, label, quantity) =>
  createDepthMap(glass, {
    label,
    left: 128,
    values({ trace: { model, T }, details: { stream } }) {
      const value = QUANTITIES[quantity()];
      return Float64Array.from({ length: 2 * model.n_layers * T }, (_, i) => value(placeOf(stream, partAt(Math.floor(i / T)), i % T)));
    },
    scale: (values) => ({ ...(quantity() === "cosine" ? signedScale(largest(values), 2) : logScale(values)), name: glass.text(`residual.scale_${quantity()}`) }),
    change: () => glass.text(`minus.n_${quantity()}`),
    name: (row) => partName(glass, row),
    at: (state) => ({ row: streamRow(state) }),
    pick: ({ row, token }) => ({ layer: partAt(row).layer, query: token }),
    keep: ({ row }) => part.keep(partAt(row).part),
    hover: (place) => part.hover(place && partAt(place.row).part),
    moves: { ArrowUp: step(1), ArrowDown: step(-1) },
  });

export const about = { tensors: ["resid_in", "attn_out", "resid_mid", "ffn_out", "resid_out"], minus: "depth", absent: noChoice };

/** @param {HTMLElement} element @param {object} glass */
export default function residual(element, glass) {
  const { state } = glass;
  const profile = h("canvas.gp-canvas", { "data-text-label": "residual.profile" });
  let answer = null;
  let range = null;
  const rows = () => 2 * state.trace.model.n_layers;
  const table = () => [
    ["layer", "part", "token", "piece", "norm_added", "cosine_to_stream", "norm_before", "norm_after"],
    ...Array.from({ length: answer ? rows() * state.trace.T : 0 }, (_, i) => {
      const [row, t] = [Math.floor(i / state.trace.T), i % state.trace.T];
      const { norm, cosine, before, after } = placeOf(answer, partAt(row), t);
      return [partAt(row).layer, partAt(row).part, t, state.trace.tokens.pieces[t], norm, cosine, before, after];
    }),
  ];
  const panel = frame(element, glass, "residual", { csv: table, parts: ["what", "formula", "myth"] });
  const quantity = choices(glass, "residual", "quantity", Object.keys(QUANTITIES));
  const map = addedMap(glass, "residual.map", quantity.now);
  const legend = h("div.gp-samples", null, sample("span.gp-swatch", "residual.attn", HUES.attn), sample("span.gp-swatch", "residual.ffn", HUES.ffn), sample("span.gp-stroke", "residual.stream", "residual"));
  const sums = h("div.gp-formula.ov-scroll");
  const angles = h("p.gp-note", { "data-text": "residual.clear", hidden: "" }); // where the map has cells without an angle
  panel.body.append(legend, h("div", null, profile), sums, h("h3.gp-subtitle", { "data-text": "residual.all" }), h("div.gp-options", null, quantity.element), map.element, angles);
  const drawProfile = createProfile(profile);
  const wide = widthOf(profile.parentElement, glass);
  const mapWide = widthOf(map.element, glass);
  profile.addEventListener("pointerleave", () => part.hover(null));
  link(profile, glass, (x) => {
    const row = answer && rowAt(x, wide(), rows());
    part.hover(row === null ? null : partAt(row).part);
    return row === null ? null : { layer: partAt(row).layer };
  });
  profile.addEventListener("click", () => part.keep(part.now()));
  steer(profile, glass, { ArrowLeft: step(-1), ArrowRight: step(1) });

  function drawToken({ row, token }) {
    const every = Array.from({ length: rows() }, (_, i) => ({ ...partAt(i), ...placeOf(answer, partAt(i), token) }));
    const stream = [...every.map(({ before }) => before), every.at(-1).after];
    const words = { norms: panel.text("norms"), cosines: panel.text("cosines"), axis: panel.text("layers") };
    drawProfile(wide(), range, every, stream, row, words);
  }

  /** The law of cosines with the numbers of one addition. */
  function arithmetic({ part }, { norm, cosine, before, after }) {
    const a = () => tinted(HUES[part], part === "attn" ? "attn" : "ffn");
    const x = () => tinted("residual", "x");
    const measured = h("p", null, panel.text("measured"), " ‖", x(), sub("after"), `‖ = ${lengthText(after)}`);
    if (Number.isNaN(cosine)) {
      const sum = [`${shown(before, 5)} + ${shown(norm, 5)} = `, h("strong", null, shown(before + norm, 5))];
      return [h("p", null, panel.text("no_angle"), " ‖", x(), " + ", a(), "‖ = ‖", x(), "‖ + ‖", a(), "‖ = ", ...sum), measured];
    }
    const squares = before * before + norm * norm + 2 * before * norm * cosine;
    return [
      h("p", null, "‖", x(), " + ", a(), "‖ = ", root("‖", x(), "‖² + ‖", a(), "‖² + 2 ‖", x(), "‖ ‖", a(), "‖ cos"), " = ",
        root(`${shown(before * before, 5)} + ${shown(norm * norm, 5)} ${cosine < 0 ? "−" : "+"} ${shown(Math.abs(2 * before * norm * cosine), 5)}`), " = ", h("strong", null, shown(Math.sqrt(squares), 5))),
      measured,
    ];
  }

  function tell({ row, token }) {
    const at = partAt(row);
    const place = placeOf(answer, at, token);
    sums.replaceChildren(...arithmetic(at, place));
    const params = { part: partName(glass, row), token, piece: visible(state.trace.tokens.pieces[token]), norm: lengthText(place.norm), before: lengthText(place.before), percent: shown((100 * place.norm) / place.before, 3), cosine: signed(place.cosine, 4) };
    panel.title.textContent = panel.text("title", params);
    panel.tell(`layer ${at.layer} ${at.part} token ${token} norm=${exact(place.norm)} cosine=${exact(place.cosine)} before=${exact(place.before)} after=${exact(place.after)}`, panel.text("read", params));
  }

  return inView(element, function draw(fresh) {
    const { trace, query } = state;
    const came = glass.detail("stream");
    if (came && came !== answer) range = rangeOf(came.resid.data, ...(came.resid_mid ? [came.resid_mid.data] : []), came.attn_out.data, came.ffn_out.data);
    answer = came;
    element.toggleAttribute("data-loading", !answer);
    const widths = [wide(), mapWide()];
    if (!answer || widths.includes(0)) return;
    if (fresh) part.hover(null);
    const selected = { row: streamRow(state), token: query };
    drawToken(selected);
    map.draw([{ trace, details: { stream: answer } }], widths[1], fresh);
    angles.hidden = quantity.now() !== "cosine" || ![answer.attn_cosine, answer.ffn_cosine].some(({ data }) => data.some(Number.isNaN));
    tell(selected);
  });
}
