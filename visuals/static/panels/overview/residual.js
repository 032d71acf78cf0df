// The residual stream by layer: what attention and FFN add, how long it is beside the stream, and where it points.

import { labelsOf } from "../../characters.js";
import { largest, once } from "../../arrays.js";
import { choices } from "../../controls.js";
import { formula, h, line, root, sample, shown, signed, strong, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { added, writtenOut } from "../../equation.js";
import { frame } from "../../frame.js";
import { createDepthMap } from "../../marks/depth.js";
import { logScale, signedScale } from "../../marks/scales.js";
import { sublayers } from "../../parts.js";
import { ownChoice } from "../../pointed.js";
import { bindPointer, bindArrowKeys, inWidth, widthOf } from "../../pointing.js";
import { additionAt, additionReader, indexOfSublayer, sublayerAt, sublayersIn } from "../../readings/overview.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { createProfile, HUES, lengthText, rangeOf, rowAt } from "./profile.js";

/**
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Model} Model
 *
 * @typedef {import("../../readings/overview.js").Stream} Stream
 *
 * @typedef {import("../../readings/overview.js").Sublayer} Sublayer
 *
 * @typedef {import("../../readings/overview.js").Addition} Addition
 *
 * @typedef {import("../../readings/overview.js").AdditionReading} Reading
 *
 * @typedef {import("../../readings/reading.js").Run} Run with the answer "stream"
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
const part = ownChoice(/** @type {Sublayer["part"]} */ ("attn"));
/**
 * The selected sub-layer; attention in a network that has none such.
 *
 * @param {{ layer: number; trace: Trace }} place
 * @returns {Sublayer}
 */
const selected = ({ layer, trace: { model } }) => ({
  layer,
  part: sublayers(model).includes(part.now()) ? part.now() : "attn",
});
/** @param {{ layer: number; trace: Trace }} place */
const selectedRow = (place) => indexOfSublayer(selected(place), place.trace.model);
/** @param {Glass} glass */
const select = (glass) => ({ ...selected(shownIn(glass)), token: glass.state.query });

/**
 * A sub-layer, in words.
 *
 * @param {Glass} glass
 * @param {Sublayer} sublayer
 */
const nameOf = (glass, { part: one, layer }) => glass.text(`residual.${one}_of`, { layer });

/**
 * One sub-layer up or down the network.
 *
 * @param {1 | -1} by
 * @returns {import("../../pointing.js").Move}
 */
const step = (by) => (place) => {
  const { model } = place.trace;
  const to = sublayerAt(Math.max(0, Math.min(sublayersIn(model) - 1, selectedRow(place) + by)), model);
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
const addedMap = (glass, label, quantity) =>
  createDepthMap(glass, {
    label,
    left: 128,
    values(/** @type {Run} */ { trace: { model, T }, details: { stream } }) {
      const value = QUANTITIES[quantity()];
      return Float64Array.from({ length: sublayersIn(model) * T }, (_, i) =>
        value(additionAt(stream, sublayerAt(Math.floor(i / T), model), i % T)),
      );
    },
    scale: (values) => ({
      ...(quantity() === "cosine" ? signedScale(largest(values), 2) : logScale(values)),
      name: glass.text(`residual.scale_${quantity()}`),
    }),
    change: () => glass.text(`b_minus_a.n_${quantity()}`),
    name: (row, { trace }) => nameOf(glass, sublayerAt(row, trace.model)),
    at: ({ layer }, { trace }) => ({ row: selectedRow({ layer, trace }) }),
    pick: ({ row, token }, _state, { trace }) => ({ layer: sublayerAt(row, trace.model).layer, query: token }),
    keep: ({ row }, { trace }) => part.keep(sublayerAt(row, trace.model).part),
    hover: (place, run) => part.hover(place ? sublayerAt(place.row, run.trace.model).part : null),
    moves: { ArrowUp: step(1), ArrowDown: step(-1) },
  });

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["resid_in", "attn_out", "resid_mid", "ffn_out", "resid_out"],
  difference: {
    reader: additionReader,
    select,
    without: "b_minus_a.without_quantity",
    said: ["norm", "cosine"],
    of: ({ text, glass, named }) => text("of_place", { part: nameOf(glass, select(glass)), ...named }),
    parts: /** @type {const} */ (["norm", "share", "cosine"]).map((name) => ({
      draw: "map",
      create: (glass, label) => addedMap(glass, label, () => name),
      called: `n_${name}`,
      title: `added_${name}`,
    })),
  },
};

/**
 * What all lengths of a run's stream span.
 *
 * @type {(stream: Stream) => ReturnType<typeof rangeOf>}
 */
const spanned = once(({ resid, resid_mid, resid_cross, attn_out, cross_out, ffn_out }) =>
  rangeOf(
    ...[resid, resid_mid, attn_out, resid_cross, cross_out, ffn_out].flatMap((found) => (found ? [found.data] : [])),
  ),
);

/** Whether some of what is added has no angle. @param {Stream} stream */
const lacksAngles = ({ attn_cosine, cross_cosine, ffn_cosine }) =>
  [attn_cosine, cross_cosine, ffn_cosine].some((found) => found?.data.some(Number.isNaN));

/** The legend, and in it the sample of what only some networks have. */
function makeLegend() {
  const swatch = (/** @type {Sublayer["part"]} */ name) => sample("span.gp-swatch", `residual.${name}`, HUES[name]);
  const crossing = swatch("cross");
  const stream = sample("span.gp-stroke", "residual.stream", "residual");
  return { crossing, legend: h("div.gp-samples", null, swatch("attn"), crossing, swatch("ffn"), stream) };
}

/**
 * The law of cosines with the numbers of one addition.
 *
 * @param {import("../../types.d.ts").Say} text
 * @param {Reading} reading
 */
function arithmetic(text, { selection, values: { norm, cosine, before, after } }) {
  const a = () => tinted(HUES[selection.part], selection.part);
  const x = () => tinted("residual", "x");
  const measured = line`${text("measured")} ‖${x()}${sub("after")}‖ = ${lengthText(after)}`;
  if (Number.isNaN(cosine)) {
    const said = writtenOut({ before, norm, both: before + norm }, [["both", ["before", "norm"], (m, n) => m + n]]);
    const sum = [`${said.before} + ${said.norm} = `, strong(said.both)];
    return [line`${text("no_angle")} ‖${x()} + ${a()}‖ = ‖${x()}‖ + ‖${a()}‖ = ${sum}`, measured];
  }
  const [first, second, twice] = [before * before, norm * norm, 2 * before * norm * cosine];
  const said = writtenOut({ first, second, twice, length: Math.sqrt(first + second + twice) }, [
    ["length", ["first", "second", "twice"], (m, n, more) => Math.sqrt(m + n + more)],
  ]);
  return [
    formula(
      "‖",
      x(),
      " + ",
      a(),
      "‖ = ",
      root("‖", x(), "‖² + ‖", a(), "‖² + 2 ‖", x(), "‖ ‖", a(), "‖ cos"),
      " = ",
      root(`${said.first} + ${said.second} ${added(said.twice)}`),
      " = ",
      strong(said.length),
    ),
    measured,
  ];
}

/**
 * The selected token's way through the layers, over which the pointer and the keys lead.
 *
 * @param {Glass} glass
 * @param {import("../../frame.js").Panel} panel
 */
function createWay(glass, panel) {
  const state = shownIn(glass);
  const canvas = h("canvas.gp-canvas", { "data-text-label": "residual.profile" });
  const room = h("div", null, canvas);
  const wide = widthOf(room, glass);
  const drawProfile = createProfile(canvas);
  let drawn = false;
  canvas.addEventListener("pointerleave", () => part.hover(null));
  bindPointer(canvas, glass, (x) => {
    const { model } = state.trace;
    const row = drawn ? rowAt(x, wide(), sublayersIn(model)) : null;
    const sublayer = row === null ? null : sublayerAt(row, model);
    part.hover(sublayer?.part ?? null);
    return sublayer && { layer: sublayer.layer };
  });
  canvas.addEventListener("click", () => part.keep(part.now()));
  bindArrowKeys(canvas, glass, { ArrowLeft: step(-1), ArrowRight: step(1) });

  /**
   * @param {number} width
   * @param {Reading} reading
   */
  function draw(width, { stream, selection }) {
    const { model } = state.trace;
    const added = Array.from({ length: sublayersIn(model) }, (_, i) => {
      const sublayer = sublayerAt(i, model);
      return { ...sublayer, ...additionAt(stream, sublayer, selection.token) };
    });
    const lengths = [...added.map(({ before }) => before), added[added.length - 1].after];
    const words = {
      norms: panel.text("norms"),
      cosines: panel.text("cosines"),
      axis: panel.text("layers"),
      per: sublayers(model).length,
    };
    drawProfile(width, spanned(stream), added, lengths, indexOfSublayer(selection, model), words);
    drawn = true;
  }
  return { room, wide, draw };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function residual(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, "residual", { parts: ["what", "formula", "myth"] });
  const quantity = choices(glass, "residual", "quantity", /** @type {Quantity[]} */ (Object.keys(QUANTITIES)));
  const map = addedMap(glass, "residual.map", quantity.now);
  const mapWide = widthOf(map.element, glass);
  const way = createWay(glass, panel);
  const { legend, crossing } = makeLegend();

  /** @param {Reading | null} reading null before it has come */
  const view = (reading) => html`
    ${legend} ${way.room}
    <div class="gp-formula ov-scroll">${reading && arithmetic(panel.text, reading)}</div>
    <h3 class="gp-subtitle" data-text="residual.all"></h3>
    <div class="gp-options">${quantity.element}</div>
    ${map.element}
    <p
      class="gp-note"
      data-text="residual.clear"
      ?hidden=${!reading || quantity.now() !== "cosine" || !lacksAngles(reading.stream)}
    ></p>
  `;
  render(view(null), panel.body);

  /** @param {Reading} reading */
  function tell(reading) {
    const { selection, values } = reading;
    const { norm, before, cosine } = values;
    const params = {
      part: nameOf(glass, selection),
      token: selection.token,
      piece: visible(labelsOf(state.trace.tokens.pieces)[selection.token]),
      norm: lengthText(norm),
      before: lengthText(before),
      percent: shown((100 * norm) / before, 3),
      cosine: signed(cosine, 4),
    };
    panel.title.textContent = panel.text("title", params);
    panel.show(reading, panel.text("read", params));
  }

  return inWidth(element, way.wide, function draw(width, fresh) {
    if (fresh) part.hover(null);
    const reading = readHere(glass, additionReader, select(glass));
    element.toggleAttribute("data-loading", !reading);
    if (!reading) return undefined;
    crossing.hidden = !reading.stream.cross_out;
    way.draw(width, reading);
    map.draw([{ trace: state.trace, details: { stream: reading.stream } }], mapWide(), fresh);
    return () => {
      render(view(reading), panel.body);
      tell(reading);
    };
  });
}
