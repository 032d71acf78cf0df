// Who wrote the chosen logit: what embedding, attention and FFN of every layer add to it, and that they sum to it.

import { createDepthMap } from "../../depthmap.js";
import { exact, fraction, h, shown, signed, tinted } from "../../dom.js";
import { centred, visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { momentAt, wordsOf } from "../../moment.js";
import { inView, link, steer, widthOf } from "../../pointing.js";
import { barAt, createBars, HUES, spanOf } from "./bars.js";
import { createChoices } from "../../choices.js";
import { same, watched } from "../../reads.js";

/** The parts in the order of the network: row 0 is the embedding, then attention and FFN of each layer. */
const partAt = (row) => (row === 0 ? { kind: "embedding", layer: null } : { kind: row % 2 ? "attention" : "ffn", layer: Math.floor((row - 1) / 2) });
const rowOf = ({ kind, layer }) => (kind === "embedding" ? 0 : 2 * layer + (kind === "attention" ? 1 : 2));

/** Looks into the answer "contributions". */
function reader(answer) {
  const [layers, tokens] = answer.attention.shape;
  const pieces = new Map(answer.names.ids.map((id, i) => [id, visible(answer.names.pieces[i])]));
  const value = (row, token) => {
    const { kind, layer } = partAt(row);
    return kind === "embedding" ? answer.embedding.data[token] : answer[kind].data[layer * tokens + token];
  };
  const rows = 2 * layers + 1;
  return {
    rows,
    tokens,
    value,
    parts: (token) => Array.from({ length: rows }, (_, row) => ({ ...partAt(row), value: value(row, token) })),
    patched: (token) => answer.patched.data[token],
    sum: (token) => Array.from({ length: rows }, (_, row) => value(row, token)).reduce((a, b) => a + b, answer.patched.data[token]),
    logit: (token) => answer.logit.data[token],
    scale: (token) => answer.scale.data[token],
    target: (token) => ({ id: answer.targets.data[token], piece: pieces.get(answer.targets.data[token]) }),
    against: (token) => answer.against && { id: answer.against.data[token], piece: pieces.get(answer.against.data[token]) },
  };
}

/** @param {HTMLElement} element @param {object} glass */
export default function contributionsPanel(element, glass) {
  const { state } = glass;
  const [bars, canvas] = [h("canvas.gp-canvas", { "data-text-label": "contributions.bars" }), h("canvas.gp-canvas", { "data-text-label": "contributions.map" })];
  let shares = null;
  const table = () => [
    ["token", "piece", "part", "layer", "target_id", "target_piece", "contribution"],
    ...Array.from({ length: shares ? shares.tokens * shares.rows : 0 }, (_, i) => {
      const [t, row] = [Math.floor(i / shares.rows), i % shares.rows];
      const { kind, layer } = partAt(row);
      const { id, piece } = shares.target(t);
      return [t, state.trace.tokens.pieces[t], kind, layer ?? "", id, piece, shares.value(row, t)];
    }),
  ];
  const panel = frame(element, glass, "contributions", { csv: table, parts: ["what", "formula", "scale", "myth"] });
  const versus = createChoices(glass, "contributions", "versus", ["alone", "second"]);
  const legend = h(
    "div.gp-samples",
    null,
    ...Object.entries(HUES).map(([kind, hue]) =>
      h("span.gp-sample", null, h("span.gp-swatch", { style: `background: var(--glass-${hue})` }), h("span", { "data-text": `contributions.${kind}` })),
    ),
    h("span.gp-sample", null, h("span.gp-stroke", { style: "border-color: var(--glass-output)" }), h("span", { "data-text": "contributions.running" })),
  );
  const sums = h("div.gp-formula.ch-scroll");
  panel.body.append(
    h("div.gp-options", null, versus.element, legend),
    h("div", null, bars),
    sums,
    h("h3.gp-subtitle", { "data-text": "contributions.all" }),
    h("div.gp-scroll", null, canvas),
  );
  const map = createDepthMap(canvas);
  const drawBars = createBars(bars);
  const wide = widthOf(bars.parentElement, glass);
  const mapWide = widthOf(canvas.parentElement, glass);
  const view = watched({ kind: "ffn", hovered: null });

  /** The selection of the store for a row, which the panel completes by the kind of part. */
  const changeTo = ({ row, token }) => {
    const { layer } = partAt(row);
    return { ...(layer === null ? {} : { layer }), ...(token === undefined ? {} : { query: token }) };
  };
  function wire(target, find) {
    link(target, glass, (x, y) => {
      view.hovered = same(view.hovered, shares && find(x, y));
      return view.hovered && changeTo(view.hovered);
    });
    target.addEventListener("pointerleave", () => {
      view.hovered = null;
    });
    target.addEventListener("click", () => {
      if (!view.hovered) return;
      view.kind = partAt(view.hovered.row).kind;
      glass.select(changeTo(view.hovered));
    });
    const stepTo = (by) => ({ layer, trace }) => {
      const row = Math.max(0, Math.min(2 * trace.model.n_layers, rowOf({ kind: view.kind, layer }) + by));
      Object.assign(view, { kind: partAt(row).kind, hovered: null });
      return changeTo({ row });
    };
    return stepTo;
  }
  const stepBar = wire(bars, (x) => {
    const row = barAt(x, wide(), shares.rows);
    return row === null ? null : { row };
  });
  steer(bars, glass, { ArrowLeft: stepBar(-1), ArrowRight: stepBar(1) });
  const stepMap = wire(canvas, (x, y) => map.find(x, y, shares.tokens));
  steer(canvas, glass, { ArrowUp: stepMap(1), ArrowDown: stepMap(-1) });

  const nameOf = (row) => {
    const { kind, layer } = partAt(row);
    return kind === "embedding" ? panel.text("embedding") : panel.text(`${kind}_of`, { layer });
  };

  function drawMap(selected) {
    const make = () => {
      const values = Float64Array.from({ length: shares.rows * shares.tokens }, (_, i) => shares.value(Math.floor(i / shares.tokens), i % shares.tokens));
      const limit = values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
      return {
        rows: shares.rows,
        values,
        place: (x) => centred(x, limit),
        table: "signed",
        ticks: [[0, shown(-limit, 3)], [0.5, "0"], [1, `+${shown(limit, 3)}`]],
        label: nameOf,
        axis: panel.text("axis"),
        scale: panel.text("scale_bar"),
        left: 128,
        first: 1,
      };
    };
    map.draw([shares, state.theme, state.language], make, state.trace.tokens.pieces, mapWide(), selected);
  }

  /** The sum over all parts, the network's own logit, and how far rounding takes them apart. */
  function drawSums({ row, token }) {
    const parts = shares.parts(token);
    const of = (kind) => parts.reduce((sum, part) => sum + (part.kind === kind ? part.value : 0), 0);
    const [embedding, attention, ffn] = ["embedding", "attention", "ffn"].map(of);
    const [sum, logit, scale, patched] = [shares.sum(token), shares.logit(token), shares.scale(token), shares.patched(token)];
    const taken = patched ? [panel.text("patched"), ` ${signed(patched, 6)}   `] : []; // what a changed run took over from another
    const { target, other } = names(token);
    const word = (kind) => tinted(HUES[kind], panel.text(kind));
    const value = shares.value(row, token);
    const read = other === null ? `W[“${target}”]` : `(W[“${target}”] − W[“${other}”])`;
    const part = parts[row].kind === "embedding" ? "x₀" : parts[row].kind === "attention" ? "attn" : "ffn";
    sums.replaceChildren(
      h("p", null, word("embedding"), ` ${signed(embedding, 6)}   `, word("attention"), ` ${signed(attention, 6)}   `, word("ffn"), ` ${signed(ffn, 6)}   `, ...taken, "= ", h("strong", null, shown(sum, 7)),
        `   ${panel.text(other === null ? "logit" : "gap")} ${shown(logit, 7)}   ${panel.text("difference")} ${signed(sum - logit, 2)}`),
      h("p", null, `${nameOf(row)}: `, fraction(h("span", null, "(", tinted(HUES[parts[row].kind], part), ` ⊙ γ) · ${read}`), "RMS"), " = ", fraction(shown(value * scale, 6), shown(scale, 6)), " = ", h("strong", null, signed(value, 5))),
    );
  }

  const names = (token) => ({ target: shares.target(token).piece, other: shares.against(token)?.piece ?? null });

  function tell({ row, token }) {
    const { kind, layer } = partAt(row);
    const value = shares.value(row, token);
    const { target, other } = names(token);
    const params = { part: nameOf(row), value: signed(value, 5), target, other, piece: visible(state.trace.tokens.pieces[token]) };
    panel.title.textContent = panel.text(other === null ? "title" : "title_second", params);
    const at = kind === "embedding" ? kind : `layer ${layer} ${kind}`;
    panel.tell(
      `${at} token ${token} target ${shares.target(token).id} adds=${exact(value)} sum=${exact(shares.sum(token), 7)} logit=${exact(shares.logit(token), 7)}`,
      `${panel.text(other === null ? "read" : "read_second", params)} · ${wordsOf(glass, momentAt(state.trace, token), "short")}`,
    );
  }

  let answer = null;
  let span = null;
  return inView(element, function draw(fresh) {
    versus.show();
    const { layer, query, theme } = state;
    const came = glass.detail("contributions", { target: null, versus: versus.now() === "second" });
    element.toggleAttribute("data-loading", !came);
    const widths = [wide(), mapWide()];
    if (!came || widths.includes(0)) return;
    if (came !== answer) {
      shares = reader((answer = came));
      span = spanOf(Array.from({ length: shares.tokens }, (_, t) => shares.parts(t).map(({ value }) => value)));
    }
    if (fresh) view.hovered = null;
    const selected = { row: rowOf({ kind: view.kind, layer }), token: query, ...view.hovered };
    drawBars([came, theme, state.language], widths[0], span, shares.parts(selected.token), selected.row, { first: panel.text("first"), axis: panel.text("layers") });
    drawSums(selected);
    drawMap(selected);
    tell(selected);
  });
}
