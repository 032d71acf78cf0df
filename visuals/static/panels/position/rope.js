// RoPE: each pair of a head as a dial, q at the query's position and k at the key's, before and after rotation.

import { angle, kvHead, pairTerms, rotatedHead, vectorOf, wavelength } from "../../compute.js";
import { exact, fraction, h, line, root, sample, shown, signed, strong, sub, tinted } from "../../dom.js";
import { checkbox } from "../../controls.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { turnedWhole } from "../../parts.js";
import { across, inView, link, steer, widthOf } from "../../pointing.js";
import { reading } from "../../reads.js";
import { drawDials, pairAt, pairOf } from "./rope-dials.js";

/** Everything the dials show. `sum`: q·k after rotation; `kv`: the K/V head. */
export function partsOf(layer, { trace, head, query, key }) {
  const { model } = trace;
  const [kv, width] = [kvHead(model, head), model.head_dim];
  const qTurned = rotatedHead(layer, model, "q", head).subarray(query * width, (query + 1) * width);
  const kTurned = rotatedHead(layer, model, "k", kv).subarray(key * width, (key + 1) * width);
  const terms = pairTerms(qTurned, kTurned, model.parts.rotary);
  const before = { q: vectorOf(layer.q, head, query), k: vectorOf(layer.k, kv, key) };
  return { ...before, qTurned, kTurned, terms, sum: terms.reduce((a, b) => a + b, 0), half: width / 2, kv };
}

/** @returns {(string|number)[][]} every pair of the selected head, query and key */
function table(glass) {
  if (!glass.layer()) return [];
  const parts = partsOf(glass.layer(), glass.state);
  const frequencies = glass.state.trace.model.parts.rotary.inv_freq.data;
  const values = ["q", "k", "q_rot", "k_rot"].flatMap((name) => [`${name}_first`, `${name}_second`]);
  const rows = Array.from(parts.terms, (term, i) => {
    const pairs = [parts.q, parts.k, parts.qTurned, parts.kTurned].flatMap((v) => pairOf(v, i, parts.half));
    return [i, i, i + parts.half, frequencies[i], ...pairs, term];
  });
  return [["pair", "first", "second", "inv_freq", ...values, "term"], ...rows];
}

/** The turning of q and of k, the pair's share of q·k, and the sum over all pairs, with their numbers. */
function arithmetic(parts, { trace, query, key, pair }, text) {
  const { half, terms, sum } = parts;
  const { head_dim: width, parts: { rotary: { inv_freq: frequencies } } } = trace.model;
  const frequency = frequencies.data[pair];
  const two = (vector) =>
    `(${pairOf(vector, pair, half)
      .map((value) => shown(value, 4))
      .join(", ")})`;
  const bold = (words) => h("strong", null, words);
  const turning = (role, at) =>
    line`${tinted(role, role)}: ${text("angle")} = ${String(at)} × ${shown(frequency, 5)} = ${bold(`${shown(angle(at, frequency), 5)} rad`)}   ${two(parts[role])} → ${bold(two(parts[`${role}Turned`]))}`;
  const name = (role, i) => tinted(role, role, sub(i));
  const products = line`${name("q", pair)}${name("k", pair)} + ${name("q", pair + half)}${name("k", pair + half)} = ${bold(signed(terms[pair], 5))}   ${text("wavelength", { tokens: shown(wavelength(frequency), 4) })}`;
  const total = line`${text("sum", { pairs: half })} = ${shown(sum, 5)} = ${tinted("q", "q")}·${tinted("k", "k")},   ${fraction(shown(sum, 5), root(String(width)))} = ${strong(sum / Math.sqrt(width))} = ${text("score")}`;
  return [turning("q", query), products, turning("k", key), total];
}

/** For data-value. */
function plain(parts, { trace, query, key, pair }) {
  const frequency = trace.model.parts.rotary.inv_freq.data[pair];
  const two = (vector) =>
    `(${pairOf(vector, pair, parts.half)
      .map((value) => exact(value))
      .join(", ")})`;
  const vectors = `q=${two(parts.q)} q_rot=${two(parts.qTurned)} k=${two(parts.k)} k_rot=${two(parts.kTurned)}`;
  const angles = `angle_q=${exact(angle(query, frequency))} angle_k=${exact(angle(key, frequency))}`;
  return `pair ${pair} ${vectors} ${angles} term=${exact(parts.terms[pair])} sum=${exact(parts.sum)}`;
}

/** What the strokes mean, and the choice of scale. */
function makeLegend(own) {
  return h("div.gp-samples", null, ...["q_before", "q_after", "k_before", "k_after"].map((name) => sample(`span.gp-stroke.is-${name}`, `rope.${name}`)), own);
}

export const about = { tensors: ["q", "k", "q_rot", "k_rot"], minus: "glance", unused: "head", absent: turnedWhole };

/** @param {HTMLElement} element @param {object} glass */
export default function rope(element, glass) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": "rope.dials" });
  const parts = ["what", "formula", "myth", "layout"];
  const panel = frame(element, glass, "rope", { csv: () => table(glass), parts });
  const own = checkbox("rope.own_scale", () => glass.repaint());
  const formula = h("div.gp-formula");
  panel.body.append(makeLegend(own.element), h("div.gp-scroll", null, canvas), h("div.gp-pair", null, formula));
  const wide = widthOf(canvas.parentElement, glass);
  const ownScale = reading(() => own.box.checked);
  link(canvas, glass, (x, y) => {
    const pair = pairAt(wide(), state.trace.model.head_dim / 2, x, y);
    return pair === null ? null : { pair };
  });
  steer(canvas, glass, across("pair"));

  function tell(all) {
    const { trace, layer, head, query, key, pair } = state;
    const piece = (t) => visible(trace.tokens.pieces[t]);
    const names = { layer, head, kv: all.kv, query: piece(query), key: piece(key), m: query, n: key };
    panel.title.textContent = panel.text("title", names);
    formula.replaceChildren(...arithmetic(all, state, panel.text));
    const reading = { pair, second: pair + all.half, query, key, term: shown(all.terms[pair], 5) };
    panel.tell(plain(all, state), panel.text("read", reading));
  }

  return inView(element, function draw() {
    const { trace, pair } = state;
    const held = glass.layer();
    const width = wide();
    if (!held || width === 0) return null;
    const all = partsOf(held, state);
    drawDials(canvas, width, all, pair, { scaling: trace.model.parts.rotary.attention_scaling, own: ownScale() });
    return () => tell(all);
  });
}
