// Who wrote the chosen logit: what embedding, attention and FFN of every layer add to it, and that they sum to it.

import { labelsOf } from "../../characters.js";
import { largest } from "../../arrays.js";
import { formula, fraction, h, line, sample, shown, signed, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { withSign, writtenOut } from "../../equation.js";
import { frame } from "../../frame.js";
import { momentAt, wordsOf } from "../../chosen-step.js";
import { createDepthMap } from "../../marks/depth.js";
import { signedScale } from "../../marks/scales.js";
import { centres, noChoice, normForms } from "../../parts.js";
import { ownChoice } from "../../pointed.js";
import { inView, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { decimalsToAddUp } from "../../readings/adding-up.js";
import { contributionReader, kindsOf, partAt, rowOf, sharesOf } from "../../readings/contributions.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { barAt, createBars, HUES } from "./bars.js";
import { choices } from "../../controls.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../readings/contributions.js").Kind} Kind
 *
 * @typedef {import("../../readings/contributions.js").ContributionReading} ContributionReading
 *
 * @typedef {import("../../readings/reading.js").Run} MapRun with the answer "contributions"
 */

/** Who writes, of the selected layer's sub-layers and the embedding. */
const writer = ownChoice(/** @type {Kind} */ ("ffn"));
/**
 * The row of the part that is selected.
 *
 * @param {{ layer: number; trace: Trace }} at
 */
const writerRow = ({ layer, trace }) => rowOf({ kind: writer.now(), layer }, kindsOf(trace.model));
/**
 * What the panel's reader is asked about.
 *
 * @param {Glass} glass
 * @returns {import("../../readings/contributions.js").ContributionSelection}
 */
function select(glass) {
  const { layer, query } = shownIn(glass);
  return { kind: writer.now(), layer, token: query, versus: glass.settings.get("contributions").versus === "second" };
}
/** Whose logit is taken apart. @param {Glass} glass */
const versusOf = (glass) => choices(glass, "contributions", "versus", ["alone", "second"]);

/**
 * @param {Glass} glass
 * @param {number} row
 */
function partName(glass, row) {
  const { kind, layer } = partAt(row, kindsOf(shownIn(glass).trace.model));
  return kind === "embedding"
    ? glass.text("contributions.embedding")
    : glass.text(`contributions.${kind}_of`, { layer });
}

/**
 * The selection of the store for a row, which the panel completes by the kind of part.
 *
 * @param {{ row: number; token?: number }} place
 * @param {Trace} trace
 * @returns {Partial<import("../../selection.js").Selection>}
 */
function changeTo({ row, token }, trace) {
  const { layer } = partAt(row, kindsOf(trace.model));
  return { ...(layer === null ? {} : { layer }), ...(token === undefined ? {} : { query: token }) };
}
/** @type {(by: number) => import("../../pointing.js").Move} */
const step =
  (by) =>
  ({ layer, trace }) => {
    const kinds = kindsOf(trace.model);
    const row = Math.max(0, Math.min(kinds.length * trace.model.n_layers, writerRow({ layer, trace }) + by));
    writer.keep(partAt(row, kinds).kind);
    writer.hover(null);
    return changeTo({ row }, trace);
  };

/**
 * What every part adds at every token, the embedding below.
 *
 * @param {Glass} glass
 * @param {string} label the key of its name
 */
const sharesMap = (glass, label) =>
  createDepthMap(glass, {
    label,
    left: 128,
    first: 1,
    values: (/** @type {MapRun} */ { details: { shares } }) => {
      const { rows, tokens, value } = sharesOf(shares);
      return Float64Array.from({ length: rows * tokens }, (_, i) => value(Math.floor(i / tokens), i % tokens));
    },
    scale: (values) => ({ ...signedScale(largest(values)), name: glass.text("contributions.scale_bar") }),
    apart: ({ trace }) => trace.sinks,
    change: () => glass.text("b_minus_a.n_contribution"),
    name: (row) => partName(glass, row),
    at: ({ layer }, { trace }) => ({ row: writerRow({ layer, trace }) }),
    pick: (place, _state, { trace }) => changeTo(place, trace),
    keep: ({ row }, { trace }) => writer.keep(partAt(row, kindsOf(trace.model)).kind),
    hover: (place, run) => writer.hover(place ? partAt(place.row, kindsOf(run.trace.model)).kind : null),
    moves: { ArrowUp: step(1), ArrowDown: step(-1) },
  });

/** @param {Glass} glass */
function versusControls(glass) {
  const { element, show } = versusOf(glass);
  return { elements: [element], show };
}

/**
 * Why parts that wrote the same in both runs differ here; nothing where the two RMS are equal.
 *
 * @param {ContributionReading} a
 * @param {ContributionReading} b
 * @param {Say} text of B − A
 */
function aboutRms(a, b, text) {
  const [first, second] = [a, b].map(({ values }) => values.final_rms);
  return first === second ? "" : text("final_rms", { a: shown(first, 5), b: shown(second, 5) });
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["attn_out", "ffn_out", "logits"],
  difference: {
    reader: contributionReader,
    // Both runs are asked about B's choices, so that one token's logit is taken apart.
    select: (glass) => ({ ...select(glass), other: glass.sides()?.B.id ?? null }),
    controls: versusControls,
    said: ["adds", "logit"],
    of: ({ text, glass, state, named }) => text("of_place", { part: partName(glass, writerRow(state)), ...named }),
    about: aboutRms,
    parts: [
      { draw: "map", create: sharesMap, called: "n_contribution" },
      {
        draw: "table",
        rows: "writers",
        column: "contribution",
        title: "writers",
        heading: "place",
        name: ({ key, index, glass, text }) => (key.part === "patched" ? text("patched") : partName(glass, index)),
        free: ["kind", "layer"],
        most: 16,
      },
    ],
  },
  absent: noChoice,
  forms: normForms,
};

function makeLegend() {
  const swatches = Object.entries(HUES).map(([kind, hue]) => sample("span.gp-swatch", `contributions.${kind}`, hue));
  swatches[Object.keys(HUES).indexOf("cross")].classList.add("is-cross");
  return h("div.gp-samples", null, ...swatches, sample("span.gp-stroke", "contributions.running", "output"));
}

/**
 * @param {Glass} glass
 * @param {HTMLCanvasElement} bars
 * @param {(x: number) => number | null} rowAt the row of the bar that lies there
 */
function pointAtBars(glass, bars, rowAt) {
  const state = shownIn(glass);
  bars.addEventListener("pointerleave", () => writer.hover(null));
  bindPointer(bars, glass, (x) => {
    const row = rowAt(x);
    writer.hover(row === null ? null : partAt(row, kindsOf(state.trace.model)).kind);
    return row === null ? null : changeTo({ row }, state.trace);
  });
  bars.addEventListener("click", () => writer.keep(writer.now()));
  bindArrowKeys(bars, glass, { ArrowLeft: step(-1), ArrowRight: step(1) });
}

/**
 * The sum over all parts, the network's own logit, and how far rounding takes them apart where that can be seen.
 *
 * @param {Say} text the panel's own
 * @param {ContributionReading} reading
 * @param {Kind[]} kinds
 */
function lineOfAll(text, { shares, selection: { token }, parts, against, values: { sum, logit } }, kinds) {
  const of = (/** @type {Kind} */ kind) => parts.reduce((all, part) => all + (part.kind === kind ? part.value : 0), 0);
  // what a changed run took over from another, and what the final norm adds to any vector
  /** @type {[string, number][]} */
  const others = [
    ["patched", shares.patched(token)],
    ["constant", shares.constant(token)],
  ];
  const there = others.filter(([, value]) => value);
  const decimals = decimalsToAddUp([...kinds.map(of), ...there.map(([, value]) => value)], sum);
  const written = (/** @type {number} */ value) => value.toFixed(decimals).replace("-", "−");
  const term = (/** @type {Node | string} */ name, /** @type {number} */ value) => [
    h("span.gp-term", null, name, ` ${value > 0 ? "+" : ""}${written(value)}`),
    "   ",
  ];
  const added = kinds.flatMap((kind) => term(tinted(HUES[kind], text(kind)), of(kind)));
  const further = there.flatMap(([name, value]) => term(text(name), value));
  const rounding = written(sum) === written(logit) ? "" : `   ${text("difference")} ${signed(sum - logit, 2)}`;
  const own = `${text(against ? "gap" : "logit")} ${written(logit)}${rounding}`;
  return line`${added}${further}= ${h("strong", null, written(sum))}   ${own}`;
}

/**
 * One part's own sum.
 *
 * @param {Glass} glass
 * @param {ContributionReading} reading
 */
function lineOfPart(glass, { selection: { kind }, row, target, against, values: { adds, final_rms: scale } }) {
  const read = against ? `(W[“${target.piece}”] − W[“${against.piece}”])` : `W[“${target.piece}”]`;
  const part = { embedding: "x₀", attention: "attn", cross: "cross", ffn: "ffn" }[kind];
  const divided = centres(shownIn(glass).trace.model)
    ? fraction(h("span", null, "((", tinted(HUES[kind], part), ` − μ) ⊙ γ) · ${read}`), "σ")
    : fraction(h("span", null, "(", tinted(HUES[kind], part), ` ⊙ γ) · ${read}`), "RMS");
  const said = writtenOut({ product: adds * scale, scale, adds }, [["adds", ["product", "scale"], (x, by) => x / by]], {
    of: { product: { digits: 6 }, scale: { digits: 6 } },
  });
  const numbers = fraction(said.product, said.scale);
  const name = partName(glass, row) + glass.text("marks.colon");
  return formula(name, divided, " = ", numbers, " = ", h("strong", null, withSign(said.adds)));
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function contributionsPanel(element, glass) {
  const state = shownIn(glass);
  const bars = h("canvas.gp-canvas", { "data-text-label": "contributions.bars" });
  const map = sharesMap(glass, "contributions.map");
  /** @type {ContributionReading | null} */
  let drawn = null;
  const panel = frame(element, glass, "contributions", { parts: ["what", "formula", "scale", "myth"] });
  const versus = versusOf(glass);
  const legend = makeLegend();
  const room = h("div", null, bars);

  /** @param {ContributionReading} reading */
  const sums = (reading) => [
    lineOfAll(panel.text, reading, ["embedding", ...kindsOf(state.trace.model)]),
    lineOfPart(glass, reading),
  ];
  /** @param {ContributionReading | null} reading null before it has come */
  const view = (reading) => html`
    <div class="gp-options">${versus.element} ${legend}</div>
    ${room}
    <div class="gp-formula ch-scroll">${reading && sums(reading)}</div>
    <h3 class="gp-subtitle" data-text="contributions.all"></h3>
    ${map.element}
  `;
  render(view(null), panel.body);
  const drawBars = createBars(bars);
  const wide = widthOf(room, glass);
  const mapWide = widthOf(map.element, glass);
  pointAtBars(glass, bars, (x) => drawn && barAt(x, wide(), drawn.shares.rows));

  /** @param {ContributionReading} reading */
  function tell(reading) {
    const { selection, row, target, against, values } = reading;
    const params = {
      part: partName(glass, row),
      value: signed(values.adds, 5),
      target: target.piece,
      other: against?.piece,
      piece: visible(labelsOf(state.trace.tokens.pieces)[selection.token]),
    };
    panel.title.textContent = panel.text(against ? "title_second" : "title", params);
    const moment = wordsOf({ state, text: glass.text }, momentAt(state.trace, selection.token), "short");
    panel.show(reading, `${panel.text(against ? "read_second" : "read", params)} · ${moment}`);
  }

  return inView(element, function draw(fresh) {
    if (fresh) writer.hover(null);
    const reading = (drawn = readHere(glass, contributionReader, select(glass)));
    element.toggleAttribute("data-loading", !reading);
    const widths = [wide(), mapWide()];
    if (!reading || widths.includes(0)) return undefined;
    const { trace } = state;
    const words = {
      first: panel.text("first"),
      axis: panel.text("layers"),
      high: panel.text("scale_bar"),
      per: kindsOf(trace.model).length,
    };
    drawBars(widths[0], reading.parts, reading.row, words);
    map.draw([{ trace, details: { shares: reading.answer } }], widths[1], fresh);
    return () => {
      versus.show();
      for (const swatch of /** @type {NodeListOf<HTMLElement>} */ (legend.querySelectorAll(".is-cross")))
        swatch.hidden = !reading.shares.crosses;
      render(view(reading), panel.body);
      tell(reading);
    };
  });
}
