// The residual stream by layer: what attention and FFN add, how long it is beside the stream, and where it points.

import { createChoices } from "../../choices.js";
import { createDepthMap } from "../../depthmap.js";
import { exact, h, root, shown, signed, sub, tinted } from "../../dom.js";
import { centred, visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { inView, link, steer, widthOf } from "../../pointing.js";
import { largest } from "../../sides.js";
import { same, watched } from "../../reads.js";
import { createProfile, HUES, lengthText, partAt, placeOf, rangeOf, rowAt, rowOf } from "./profile.js";

/** What the map shows, by choice: a value from the numbers of a place. */
const QUANTITIES = {
  share: ({ norm, before }) => Math.log10(norm / before),
  norm: ({ norm }) => Math.log10(norm),
  cosine: ({ cosine }) => cosine,
};

/** How the map colours its values. @returns {{ place, table, ticks }} */
function colouring(values, quantity) {
  if (quantity === "cosine") {
    const limit = largest(values);
    return { place: (x) => centred(x, limit), table: "signed", ticks: [[0, shown(-limit, 2)], [0.5, "0"], [1, `+${shown(limit, 2)}`]] };
  }
  const finite = values.filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const span = high - low || 1;
  const middle = (low + high) / 2;
  return { place: (x) => (x - low) / span, table: "magnitude", ticks: [[0, shown(10 ** low, 2)], [0.5, shown(10 ** middle, 2)], [1, shown(10 ** high, 2)]] };
}

/** @param {HTMLElement} element @param {object} glass */
export default function residual(element, glass) {
  const { state } = glass;
  const [profile, canvas] = [h("canvas.gp-canvas", { "data-text-label": "residual.profile" }), h("canvas.gp-canvas", { "data-text-label": "residual.map" })];
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
  const quantity = createChoices(glass, "residual", "quantity", Object.keys(QUANTITIES));
  const sample = (mark, hue, name) => h("span.gp-sample", null, h(mark, { style: `background: var(--glass-${hue}); border-color: var(--glass-${hue})` }), h("span", { "data-text": `residual.${name}` }));
  const legend = h("div.gp-samples", null, sample("span.gp-swatch", HUES.attn, "attn"), sample("span.gp-swatch", HUES.ffn, "ffn"), sample("span.gp-stroke", "residual", "stream"));
  const sums = h("div.gp-formula.ov-scroll");
  const angles = h("p.gp-note", { "data-text": "residual.clear", hidden: "" }); // where the map has cells without an angle
  panel.body.append(legend, h("div", null, profile), sums, h("h3.gp-subtitle", { "data-text": "residual.all" }), h("div.gp-options", null, quantity.element), h("div.gp-scroll", null, canvas), angles);
  const map = createDepthMap(canvas);
  const drawProfile = createProfile(profile);
  const wide = widthOf(profile.parentElement, glass);
  const mapWide = widthOf(canvas.parentElement, glass);
  const view = watched({ part: "attn", hovered: null });

  function wire(target, find) {
    const changeTo = ({ row, token }) => ({ layer: partAt(row).layer, ...(token === undefined ? {} : { query: token }) });
    link(target, glass, (x, y) => {
      view.hovered = same(view.hovered, answer && find(x, y));
      return view.hovered && changeTo(view.hovered);
    });
    target.addEventListener("pointerleave", () => {
      view.hovered = null;
    });
    target.addEventListener("click", () => {
      if (!view.hovered) return;
      view.part = partAt(view.hovered.row).part;
      glass.select(changeTo(view.hovered));
    });
  }
  const step = (by) => ({ layer }) => {
    const row = Math.max(0, Math.min(rows() - 1, rowOf({ part: view.part, layer }) + by));
    Object.assign(view, { part: partAt(row).part, hovered: null });
    return { layer: partAt(row).layer };
  };
  wire(profile, (x) => {
    const row = rowAt(x, wide(), rows());
    return row === null ? null : { row };
  });
  steer(profile, glass, { ArrowLeft: step(-1), ArrowRight: step(1) });
  wire(canvas, (x, y) => map.find(x, y, state.trace.T));
  steer(canvas, glass, { ArrowUp: step(1), ArrowDown: step(-1) });

  const nameOf = (row) => panel.text(`${partAt(row).part}_of`, { layer: partAt(row).layer });

  function drawMap(selected) {
    const make = () => {
      const { T } = state.trace;
      const values = Float64Array.from({ length: rows() * T }, (_, i) => QUANTITIES[quantity.now()](placeOf(answer, partAt(Math.floor(i / T)), i % T)));
      angles.hidden = !values.some(Number.isNaN);
      return { rows: rows(), values, ...colouring(values, quantity.now()), label: nameOf, axis: panel.text("axis"), scale: panel.text(`scale_${quantity.now()}`), left: 128 };
    };
    map.draw([answer, state.theme, state.language, quantity.now()], make, state.trace.tokens.pieces, mapWide(), selected);
  }

  function drawToken({ row, token }) {
    const every = Array.from({ length: rows() }, (_, i) => ({ ...partAt(i), ...placeOf(answer, partAt(i), token) }));
    const stream = [...every.map(({ before }) => before), every.at(-1).after];
    const words = { norms: panel.text("norms"), cosines: panel.text("cosines"), axis: panel.text("layers") };
    drawProfile([answer, state.theme, state.language], wide(), range, every, stream, row, words);
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
    const params = { part: nameOf(row), token, piece: visible(state.trace.tokens.pieces[token]), norm: lengthText(place.norm), before: lengthText(place.before), percent: shown((100 * place.norm) / place.before, 3), cosine: signed(place.cosine, 4) };
    panel.title.textContent = panel.text("title", params);
    panel.tell(`layer ${at.layer} ${at.part} token ${token} norm=${exact(place.norm)} cosine=${exact(place.cosine)} before=${exact(place.before)} after=${exact(place.after)}`, panel.text("read", params));
  }

  return inView(element, function draw(fresh) {
    const { layer, query } = state;
    const came = glass.detail("stream");
    if (came && came !== answer) range = rangeOf(came.resid.data, came.resid_mid.data, came.attn_out.data, came.ffn_out.data);
    answer = came;
    element.toggleAttribute("data-loading", !answer);
    const widths = [wide(), mapWide()];
    if (!answer || widths.includes(0)) return;
    if (fresh) view.hovered = null;
    const selected = { row: rowOf({ part: view.part, layer }), token: query, ...view.hovered };
    drawToken(selected);
    drawMap(selected);
    tell(selected);
  });
}
