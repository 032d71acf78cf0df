// Who wrote the chosen logit: what embedding, attention and FFN of every layer add to it, and that they sum to it.

import { largest, once } from "../../arrays.js";
import { exact, fraction, h, sample, shown, signed, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { momentAt, wordsOf } from "../../chosen-step.js";
import { createDepthMap } from "../../marks/depth.js";
import { signedScale } from "../../marks/scales.js";
import { noChoice, sublayers } from "../../parts.js";
import { ownChoice } from "../../pointed.js";
import { inView, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { barAt, createBars, HUES, spanOf } from "./bars.js";
import { choices } from "../../controls.js";

/**
 * What writes in each layer, by its name in the answer.
 *
 * @returns {("attention" | "cross" | "ffn")[]}
 */
const kindsOf = (model) => sublayers(model).map((part) => (part === "attn" ? "attention" : part));
/** The parts in the order of the network: row 0 is the embedding, then what writes in each layer. */
const partAt = (row, kinds) =>
  row === 0
    ? { kind: "embedding", layer: null }
    : { kind: kinds[(row - 1) % kinds.length], layer: Math.floor((row - 1) / kinds.length) };
const rowOf = ({ kind, layer }, kinds) =>
  kind === "embedding" ? 0 : kinds.length * layer + 1 + Math.max(0, kinds.indexOf(kind));

/** Who writes, of the selected layer's sub-layers and the embedding. */
const writer = ownChoice("ffn");
/** The row of the part that is selected. */
export const writerRow = ({ layer, trace }) => rowOf({ kind: writer.now(), layer }, kindsOf(trace.model));
/** How the selected part is called in a saved table. */
export const writerAt = ({ layer }) => (writer.now() === "embedding" ? "embedding" : `layer ${layer} ${writer.now()}`);
export function partName(glass, row) {
  const { kind, layer } = partAt(row, kindsOf(glass.state.trace.model));
  return kind === "embedding"
    ? glass.text("contributions.embedding")
    : glass.text(`contributions.${kind}_of`, { layer });
}

/**
 * The selection of the store for a row, which the panel completes by the kind of part.
 *
 * @param {{ row: number; token?: number }} place
 * @param {import("../../decode.js").Trace} trace
 */
function changeTo({ row, token }, trace) {
  const { layer } = partAt(row, kindsOf(trace.model));
  return { ...(layer === null ? {} : { layer }), ...(token === undefined ? {} : { query: token }) };
}
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
 * @typedef {import("../../marks/runs.js").RunWith<{
 *   shares: import("../../decoded.d.ts").Detail<"contributions">;
 * }>} MapRun
 */

/**
 * What every part adds at every token, the embedding below.
 *
 * @param {string} label the key of its name
 */
export const sharesMap = (glass, label) =>
  createDepthMap(glass, {
    label,
    left: 128,
    first: 1,
    values: (/** @type {MapRun} */ { details: { shares } }) => {
      const { rows, tokens, value } = reader(shares);
      return Float64Array.from({ length: rows * tokens }, (_, i) => value(Math.floor(i / tokens), i % tokens));
    },
    scale: (values) => ({ ...signedScale(largest(values)), name: glass.text("contributions.scale_bar") }),
    apart: ({ trace }) => trace.sinks,
    change: () => glass.text("b_minus_a.n_contribution"),
    name: (row) => partName(glass, row),
    at: (state) => ({ row: writerRow(state) }),
    pick: (place, _state, { trace }) => changeTo(place, trace),
    keep: ({ row }, { trace }) => writer.keep(partAt(row, kindsOf(trace.model)).kind),
    hover: (place, run) => writer.hover(place && partAt(place.row, kindsOf(run.trace.model)).kind),
    moves: { ArrowUp: step(1), ArrowDown: step(-1) },
  });

/** Looks into the answer "contributions". */
export const reader = once((/** @type {object} */ answer) => {
  const [layers, tokens] = answer.attention.shape;
  const pieces = new Map(answer.names.ids.map((id, i) => [id, visible(answer.names.pieces[i])]));
  const kinds = ["attention", ...(answer.cross ? ["cross"] : []), "ffn"];
  const value = (row, token) => {
    const { kind, layer } = partAt(row, kinds);
    return kind === "embedding" ? answer.embedding.data[token] : answer[kind].data[layer * tokens + token];
  };
  const rows = kinds.length * layers + 1;
  return {
    rows,
    crosses: Boolean(answer.cross),
    tokens,
    value,
    parts: (token) => Array.from({ length: rows }, (_, row) => ({ ...partAt(row, kinds), value: value(row, token) })),
    patched: (token) => answer.patched.data[token],
    sum: (token) =>
      Array.from({ length: rows }, (_, row) => value(row, token)).reduce((a, b) => a + b, answer.patched.data[token]),
    logit: (token) => answer.logit.data[token],
    scale: (token) => answer.scale.data[token],
    target: (token) => ({ id: answer.targets.data[token], piece: pieces.get(answer.targets.data[token]) }),
    against: (token) =>
      answer.against && { id: answer.against.data[token], piece: pieces.get(answer.against.data[token]) },
  };
});

export const about = { tensors: ["attn_out", "ffn_out", "logits"], difference: "depth", absent: noChoice };

/**
 * What each part adds at each token; the heads alone before the answer has come.
 *
 * @param {ReturnType<typeof reader> | null} shares
 * @param {object} trace
 * @returns {(string | number)[][]}
 */
function tableOf(shares, { tokens: { pieces }, model }) {
  const rows = Array.from({ length: shares ? shares.tokens * shares.rows : 0 }, (_, i) => {
    const [t, row] = [Math.floor(i / shares.rows), i % shares.rows];
    const { kind, layer } = partAt(row, kindsOf(model));
    const { id, piece } = shares.target(t);
    return [t, pieces[t], kind, layer ?? "", id, piece, shares.value(row, t)];
  });
  return [["token", "piece", "part", "layer", "target_id", "target_piece", "contribution"], ...rows];
}

/** The token whose logit is taken apart, and the one that it is compared with, if any. */
const namesOf = (shares, token) => ({
  target: shares.target(token).piece,
  other: shares.against(token)?.piece ?? null,
});

function makeLegend() {
  const swatches = Object.entries(HUES).map(([kind, hue]) => sample("span.gp-swatch", `contributions.${kind}`, hue));
  swatches[Object.keys(HUES).indexOf("cross")].classList.add("is-cross");
  return h("div.gp-samples", null, ...swatches, sample("span.gp-stroke", "contributions.running", "output"));
}

/** @param {(x: number) => number | null} rowAt the row of the bar that lies there */
function pointAtBars(glass, bars, rowAt) {
  bars.addEventListener("pointerleave", () => writer.hover(null));
  bindPointer(bars, glass, (x) => {
    const row = rowAt(x);
    writer.hover(row === null ? null : partAt(row, kindsOf(glass.state.trace.model)).kind);
    return row === null ? null : changeTo({ row }, glass.state.trace);
  });
  bars.addEventListener("click", () => writer.keep(writer.now()));
  bindArrowKeys(bars, glass, { ArrowLeft: step(-1), ArrowRight: step(1) });
}

/** The sum over all parts, the network's own logit, how far rounding takes them apart; and one part's own sum. */
function createSums(glass, text) {
  const element = h("div.gp-formula.ch-scroll");

  function lineOfAll(shares, token, other) {
    const parts = shares.parts(token);
    const of = (kind) => parts.reduce((sum, part) => sum + (part.kind === kind ? part.value : 0), 0);
    const [sum, logit, patched] = [shares.sum(token), shares.logit(token), shares.patched(token)];
    const added = ["embedding", ...kindsOf(glass.state.trace.model)].flatMap((kind) => [
      tinted(HUES[kind], text(kind)),
      ` ${signed(of(kind), 6)}   `,
    ]);
    // what a changed run took over from another
    const taken = patched ? [text("patched"), ` ${signed(patched, 6)}   `] : [];
    return h(
      "p",
      null,
      ...added,
      ...taken,
      "= ",
      h("strong", null, shown(sum, 7)),
      `   ${text(other === null ? "logit" : "gap")} ${shown(logit, 7)}`,
      `   ${text("difference")} ${signed(sum - logit, 2)}`,
    );
  }
  function lineOfPart(shares, { row, token }, { target, other }) {
    const { kind } = shares.parts(token)[row];
    const [value, scale] = [shares.value(row, token), shares.scale(token)];
    const read = other === null ? `W[“${target}”]` : `(W[“${target}”] − W[“${other}”])`;
    const part = { embedding: "x₀", attention: "attn" }[kind] ?? kind;
    return h(
      "p",
      null,
      partName(glass, row) + glass.text("marks.colon"),
      fraction(h("span", null, "(", tinted(HUES[kind], part), ` ⊙ γ) · ${read}`), "RMS"),
      " = ",
      fraction(shown(value * scale, 6), shown(scale, 6)),
      " = ",
      h("strong", null, signed(value, 5)),
    );
  }
  function draw(shares, place) {
    const names = namesOf(shares, place.token);
    element.replaceChildren(lineOfAll(shares, place.token, names.other), lineOfPart(shares, place, names));
  }
  return { element, draw };
}

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function contributionsPanel(element, glass) {
  const { state } = glass;
  const bars = h("canvas.gp-canvas", { "data-text-label": "contributions.bars" });
  const map = sharesMap(glass, "contributions.map");
  let shares = null;
  const panel = frame(element, glass, "contributions", {
    csv: () => tableOf(shares, state.trace),
    parts: ["what", "formula", "scale", "myth"],
  });
  const versus = choices(glass, "contributions", "versus", ["alone", "second"]);
  const legend = makeLegend();
  const sums = createSums(glass, panel.text);
  panel.body.append(
    h("div.gp-options", null, versus.element, legend),
    h("div", null, bars),
    sums.element,
    h("h3.gp-subtitle", { "data-text": "contributions.all" }),
    map.element,
  );
  const drawBars = createBars(bars);
  const wide = widthOf(bars.parentElement, glass);
  const mapWide = widthOf(map.element, glass);
  pointAtBars(glass, bars, (x) => shares && barAt(x, wide(), shares.rows));

  function tell({ row, token }) {
    const { kind, layer } = partAt(row, kindsOf(state.trace.model));
    const value = shares.value(row, token);
    const { target, other } = namesOf(shares, token);
    const params = {
      part: partName(glass, row),
      value: signed(value, 5),
      target,
      other,
      piece: visible(state.trace.tokens.pieces[token]),
    };
    panel.title.textContent = panel.text(other === null ? "title" : "title_second", params);
    const at = kind === "embedding" ? kind : `layer ${layer} ${kind}`;
    const [sum, logit] = [exact(shares.sum(token), 7), exact(shares.logit(token), 7)];
    const reading = panel.text(other === null ? "read" : "read_second", params);
    panel.tell(
      `${at} token ${token} target ${shares.target(token).id} adds=${exact(value)} sum=${sum} logit=${logit}`,
      `${reading} · ${wordsOf(glass, momentAt(state.trace, token), "short")}`,
    );
  }

  let answer = null;
  let span = null;
  return inView(element, function draw(fresh) {
    versus.show();
    const { trace, query } = state;
    const came = glass.detail("contributions", { target: null, versus: versus.now() === "second" });
    element.toggleAttribute("data-loading", !came);
    const widths = [wide(), mapWide()];
    if (!came || widths.includes(0)) return;
    if (came !== answer) {
      shares = reader((answer = came));
      span = spanOf(Array.from({ length: shares.tokens }, (_, t) => shares.parts(t).map(({ value }) => value)));
    }
    if (fresh) writer.hover(null);
    for (const swatch of /** @type {NodeListOf<HTMLElement>} */ (legend.querySelectorAll(".is-cross")))
      swatch.hidden = !shares.crosses;
    const selected = { row: writerRow(state), token: query };
    drawBars(widths[0], span, shares.parts(selected.token), selected.row, {
      first: panel.text("first"),
      axis: panel.text("layers"),
      per: kindsOf(trace.model).length,
    });
    sums.draw(shares, selected);
    map.draw([{ trace, details: { shares: came } }], widths[1], fresh);
    tell(selected);
  });
}
