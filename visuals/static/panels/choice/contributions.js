// Who wrote the chosen logit: what embedding, attention and FFN of every layer add to it, and that they sum to it.

import { largest, once } from "../../arrays.js";
import { exact, fraction, h, sample, shown, signed, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { momentAt, wordsOf } from "../../chosen-step.js";
import { createDepthMap } from "../../marks/depth.js";
import { signedScale } from "../../marks/scales.js";
import { centres, noChoice, normForms, sublayers } from "../../parts.js";
import { ownChoice } from "../../pointed.js";
import { inView, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { shownIn } from "../../run-for.js";
import { barAt, createBars, HUES, spanOf } from "./bars.js";
import { choices } from "../../controls.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../decoded.d.ts").Detail<"contributions">} Answer
 *
 * @typedef {import("./bars.js").Kind} Kind
 *
 * @typedef {Exclude<Kind, "embedding">} Sublayer
 *
 * @typedef {import("../../marks/runs.js").RunWith<{ shares: Answer }>} MapRun
 *
 * @typedef {ReturnType<typeof reader>} Shares
 *
 * @typedef {{ row: number; token: number }} Place
 */

/**
 * What writes in each layer, by its name in the answer.
 *
 * @param {import("../../types.d.ts").Model} model
 * @returns {Sublayer[]}
 */
const kindsOf = (model) => sublayers(model).map((part) => (part === "attn" ? "attention" : part));
/**
 * The parts in the order of the network: row 0 is the embedding, then what writes in each layer.
 *
 * @param {number} row
 * @param {Sublayer[]} kinds
 * @returns {{ kind: "embedding"; layer: null } | { kind: Sublayer; layer: number }}
 */
const partAt = (row, kinds) =>
  row === 0
    ? { kind: "embedding", layer: null }
    : { kind: kinds[(row - 1) % kinds.length], layer: Math.floor((row - 1) / kinds.length) };
/**
 * @param {{ kind: Kind; layer: number }} part
 * @param {Sublayer[]} kinds
 */
const rowOf = ({ kind, layer }, kinds) =>
  kind === "embedding" ? 0 : kinds.length * layer + 1 + Math.max(0, kinds.indexOf(kind));

/** Who writes, of the selected layer's sub-layers and the embedding. */
const writer = ownChoice(/** @type {Kind} */ ("ffn"));
/**
 * The row of the part that is selected.
 *
 * @param {{ layer: number; trace: Trace }} at
 */
export const writerRow = ({ layer, trace }) => rowOf({ kind: writer.now(), layer }, kindsOf(trace.model));
/**
 * How the selected part is called in a saved table.
 *
 * @param {{ layer: number }} at
 */
export const writerAt = ({ layer }) => (writer.now() === "embedding" ? "embedding" : `layer ${layer} ${writer.now()}`);
/**
 * @param {Glass} glass
 * @param {number} row
 */
export function partName(glass, row) {
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
    at: ({ layer }, { trace }) => ({ row: writerRow({ layer, trace }) }),
    pick: (place, _state, { trace }) => changeTo(place, trace),
    keep: ({ row }, { trace }) => writer.keep(partAt(row, kindsOf(trace.model)).kind),
    hover: (place, run) => writer.hover(place ? partAt(place.row, kindsOf(run.trace.model)).kind : null),
    moves: { ArrowUp: step(1), ArrowDown: step(-1) },
  });

/** Looks into the answer "contributions". */
export const reader = once((/** @type {Answer} */ answer) => {
  const [layers, tokens] = answer.attention.shape;
  const pieces = new Map(answer.names.ids.map((id, i) => [id, visible(answer.names.pieces[i])]));
  /** @type {Sublayer[]} */
  const kinds = ["attention", ...(answer.cross ? /** @type {const} */ (["cross"]) : []), "ffn"];
  /** @param {number} id */
  const named = (id) => ({ id, piece: pieces.get(id) ?? "" });
  /**
   * @param {number} row
   * @param {number} token
   */
  const value = (row, token) => {
    const { kind, layer } = partAt(row, kinds);
    if (kind === "embedding") return answer.embedding.data[token];
    return answer[kind]?.data[layer * tokens + token] ?? 0;
  };
  const rows = kinds.length * layers + 1;
  /** What the final norm's β adds, where it has one. */
  const constant = (/** @type {number} */ token) => answer.constant?.data[token] ?? 0;
  return {
    rows,
    crosses: Boolean(answer.cross),
    tokens,
    value,
    /** @type {(token: number) => import("./bars.js").Part[]} */
    parts: (token) => Array.from({ length: rows }, (_, row) => ({ ...partAt(row, kinds), value: value(row, token) })),
    patched: (/** @type {number} */ token) => answer.patched.data[token],
    constant,
    sum: (/** @type {number} */ token) =>
      Array.from({ length: rows }, (_, row) => value(row, token)).reduce(
        (a, b) => a + b,
        answer.patched.data[token] + constant(token),
      ),
    logit: (/** @type {number} */ token) => answer.logit.data[token],
    scale: (/** @type {number} */ token) => answer.scale.data[token],
    target: (/** @type {number} */ token) => named(answer.targets.data[token]),
    against: (/** @type {number} */ token) => answer.against && named(answer.against.data[token]),
  };
});

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["attn_out", "ffn_out", "logits"],
  difference: "depth",
  absent: noChoice,
  forms: normForms,
};

/**
 * What each part adds at each token; the heads alone before the answer has come.
 *
 * @param {Shares | null} shares
 * @param {Trace} trace
 * @returns {(string | number)[][]}
 */
function tableOf(shares, { tokens: { pieces } }) {
  const heads = ["token", "piece", "part", "layer", "target_id", "target_piece", "contribution"];
  if (!shares) return [heads];
  const rows = Array.from({ length: shares.tokens }, (_, t) => {
    const { id, piece } = shares.target(t);
    return shares.parts(t).map(({ kind, layer, value }) => [t, pieces[t], kind, layer ?? "", id, piece, value]);
  });
  return [heads, ...rows.flat()];
}

/**
 * The token whose logit is taken apart, and the one that it is compared with, if any.
 *
 * @param {Shares} shares
 * @param {number} token
 */
const namesOf = (shares, token) => ({
  target: shares.target(token).piece,
  other: shares.against(token)?.piece ?? null,
});

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
 * The sum over all parts, the network's own logit, how far rounding takes them apart; and one part's own sum.
 *
 * @param {Glass} glass
 * @param {Say} text the panel's own
 */
function createSums(glass, text) {
  const element = h("div.gp-formula.ch-scroll");

  /**
   * @param {Shares} shares
   * @param {number} token
   * @param {string | null} other
   */
  function lineOfAll(shares, token, other) {
    const parts = shares.parts(token);
    const of = (/** @type {Kind} */ kind) =>
      parts.reduce((sum, part) => sum + (part.kind === kind ? part.value : 0), 0);
    const [sum, logit] = [shares.sum(token), shares.logit(token)];
    /** @type {Kind[]} */
    const kinds = ["embedding", ...kindsOf(shownIn(glass).trace.model)];
    const added = kinds.flatMap((kind) => [tinted(HUES[kind], text(kind)), ` ${signed(of(kind), 6)}   `]);
    // what a changed run took over from another, and what the final norm adds to any vector
    /** @type {[string, number][]} */
    const others = [
      ["patched", shares.patched(token)],
      ["constant", shares.constant(token)],
    ];
    const further = others.flatMap(([name, value]) => (value ? [text(name), ` ${signed(value, 6)}   `] : []));
    return h(
      "p",
      null,
      ...added,
      ...further,
      "= ",
      h("strong", null, shown(sum, 7)),
      `   ${text(other === null ? "logit" : "gap")} ${shown(logit, 7)}`,
      `   ${text("difference")} ${signed(sum - logit, 2)}`,
    );
  }
  /**
   * @param {Shares} shares
   * @param {Place} place
   * @param {ReturnType<typeof namesOf>} names
   */
  function lineOfPart(shares, { row, token }, { target, other }) {
    const { kind } = shares.parts(token)[row];
    const [value, scale] = [shares.value(row, token), shares.scale(token)];
    const read = other === null ? `W[“${target}”]` : `(W[“${target}”] − W[“${other}”])`;
    const part = { embedding: "x₀", attention: "attn", cross: "cross", ffn: "ffn" }[kind];
    return h(
      "p",
      null,
      partName(glass, row) + glass.text("marks.colon"),
      centres(shownIn(glass).trace.model)
        ? fraction(h("span", null, "((", tinted(HUES[kind], part), ` − μ) ⊙ γ) · ${read}`), "σ")
        : fraction(h("span", null, "(", tinted(HUES[kind], part), ` ⊙ γ) · ${read}`), "RMS"),
      " = ",
      fraction(shown(value * scale, 6), shown(scale, 6)),
      " = ",
      h("strong", null, signed(value, 5)),
    );
  }
  /**
   * @param {Shares} shares
   * @param {Place} place
   */
  function draw(shares, place) {
    const names = namesOf(shares, place.token);
    element.replaceChildren(lineOfAll(shares, place.token, names.other), lineOfPart(shares, place, names));
  }
  return { element, draw };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function contributionsPanel(element, glass) {
  const state = shownIn(glass);
  const bars = h("canvas.gp-canvas", { "data-text-label": "contributions.bars" });
  const map = sharesMap(glass, "contributions.map");
  /** @type {Shares | null} */
  let shares = null;
  const panel = frame(element, glass, "contributions", {
    csv: () => tableOf(shares, state.trace),
    parts: ["what", "formula", "scale", "myth"],
  });
  const versus = choices(glass, "contributions", "versus", ["alone", "second"]);
  const legend = makeLegend();
  const sums = createSums(glass, panel.text);
  const room = h("div", null, bars);
  panel.body.append(
    h("div.gp-options", null, versus.element, legend),
    room,
    sums.element,
    h("h3.gp-subtitle", { "data-text": "contributions.all" }),
    map.element,
  );
  const drawBars = createBars(bars);
  const wide = widthOf(room, glass);
  const mapWide = widthOf(map.element, glass);
  pointAtBars(glass, bars, (x) => shares && barAt(x, wide(), shares.rows));

  /**
   * @param {Shares} read
   * @param {Place} place
   */
  function tell(read, { row, token }) {
    const { kind, layer } = partAt(row, kindsOf(state.trace.model));
    const value = read.value(row, token);
    const { target, other } = namesOf(read, token);
    const params = {
      part: partName(glass, row),
      value: signed(value, 5),
      target,
      other,
      piece: visible(state.trace.tokens.pieces[token]),
    };
    panel.title.textContent = panel.text(other === null ? "title" : "title_second", params);
    const at = kind === "embedding" ? kind : `layer ${layer} ${kind}`;
    const [sum, logit] = [exact(read.sum(token), 7), exact(read.logit(token), 7)];
    const reading = panel.text(other === null ? "read" : "read_second", params);
    panel.tell(
      `${at} token ${token} target ${read.target(token).id} adds=${exact(value)} sum=${sum} logit=${logit}`,
      `${reading} · ${wordsOf({ state, text: glass.text }, momentAt(state.trace, token), "short")}`,
    );
  }

  /** @type {(read: Shares) => import("./bars.js").Span} */
  const spanAt = once(({ tokens, parts }) =>
    spanOf(Array.from({ length: tokens }, (_, t) => parts(t).map(({ value }) => value))),
  );
  return inView(element, function draw(fresh) {
    versus.show();
    const { trace, query } = state;
    const came = glass.detail("contributions", { target: null, versus: versus.now() === "second" });
    element.toggleAttribute("data-loading", !came);
    const widths = [wide(), mapWide()];
    if (!came || widths.includes(0)) return;
    const read = (shares = reader(came));
    if (fresh) writer.hover(null);
    for (const swatch of /** @type {NodeListOf<HTMLElement>} */ (legend.querySelectorAll(".is-cross")))
      swatch.hidden = !read.crosses;
    const selected = { row: writerRow(state), token: query };
    drawBars(widths[0], spanAt(read), read.parts(selected.token), selected.row, {
      first: panel.text("first"),
      axis: panel.text("layers"),
      per: kindsOf(trace.model).length,
    });
    sums.draw(read, selected);
    map.draw([{ trace, details: { shares: came } }], widths[1], fresh);
    tell(read, selected);
  });
}
