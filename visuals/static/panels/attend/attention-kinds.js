// @ts-check
// From MHA by way of GQA to MQA: this network's K/V heads repeated or mean-pooled, what the cache then takes, what is
// multiplied, and how far the prediction moves.

import { linkRows, slider } from "../../controls.js";
import { h, line, shown, strong, sub } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { pointAt } from "../../pointed.js";
import { inWidth, widthOf } from "../../pointing.js";
import { kindsReader } from "../../readings/attention-kinds.js";
import { readHere } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { createKindsChart } from "./kinds-chart.js";

/** @typedef {import("../../readings/attention-kinds.js").KindsReading} KindsReading */
/** @typedef {import("../../types.d.ts").Glass} Glass */
/** @typedef {import("../../types.d.ts").Model} Model */
/** @typedef {(name: string, params?: Record<string, unknown>) => string} Text */

const KIND = "attention-kinds";
const MOST = 32; // divisors that a table has room for
const CODE = "k = k[:, :, None].expand(B, n_kv_heads, group_size, T, head_dim).reshape(B, n_heads, T, head_dim)";

/** The number of K/V heads that a reader chose, 0 for none. @param {Glass} glass */
const headsOf = ({ settings }) => Number(settings.get(KIND).heads) || 0;
/** @param {Glass} glass @param {number | null} [pointed] */
const select = (glass, pointed = null) => ({ heads: pointed ?? headsOf(glass) });
/** @param {Glass} glass @param {number} heads */
const choose = ({ settings }, heads) => settings.set(KIND, { heads });

/** @param {number} count */
const whole = (count) => count.toLocaleString("en-US");

/** What its heads read instead of K/V heads of one text. @param {Model} model */
const lacking = ({ parts: { latent, stack } }) => (latent ? "kv_latent" : stack ? `kv_${stack}` : null);

/** @param {Glass} glass */
function createHeads(glass) {
  /** @type {number[]} */
  let counts = [];
  const range = slider("gp-slider", `${KIND}.heads`, { min: 0, step: 1 }, (at) => choose(glass, counts[at] ?? 0));
  /** @param {KindsReading} reading */
  function show({ kinds, at_: at, chosen }) {
    counts = kinds.map(({ heads }) => heads);
    const words = `${chosen.heads} · ${chosen.name.toUpperCase()}`;
    range.show(at, words, { max: kinds.length - 1 });
  }
  return { element: range.element, show };
}

/**
 * The same slider over B − A.
 *
 * @param {Glass} glass
 * @param {(run: any) => any} readIn
 */
function headsOfBoth(glass, readIn) {
  const { element, show } = createHeads(glass);
  return { elements: [element], show: (/** @type {any} */ _a, /** @type {any} */ b) => show(readIn(b)) };
}

export const about = {
  tensors: ["k", "v", "logits"],
  absent: lacking,
  difference: {
    reader: kindsReader,
    select,
    controls: headsOfBoth,
    said: ["kl"],
    parts: [
      {
        draw: "table",
        rows: "kinds",
        column: "kl",
        title: "kinds_kl",
        heading: "kv_heads",
        name: (/** @type {any} */ { key }) => `${key.n_kv_heads} ${key.kind}`,
        step: 1,
      },
    ],
  },
};

/** @param {Glass} glass */
function createKinds(glass) {
  /** @type {[string, string][]} */
  const columns = [
    ["kind", "th.gp-token"],
    ["bytes", "td.gp-number"],
    ["kl", "td.gp-number"],
    ["p_answer", "td.gp-number"],
    ["best", "td.at-part"],
    ["projected", "td.gp-number"],
    ["paired", "td.gp-number"],
  ];
  const table = createTable(KIND, columns, { rows: MOST, focus: true });
  /** @type {number[]} */
  let counts = [];
  linkRows(
    table.body,
    { select: (heads) => choose(glass, heads) },
    (row) => counts[/** @type {HTMLTableRowElement} */ (row).sectionRowIndex],
    "tr",
  );
  /** @param {KindsReading} reading */
  function fill({ kinds, chosen, own }) {
    counts = kinds.map(({ heads }) => heads);
    table.fill(kinds, (fields, { heads, name, bytes, kl, p, best, pBest, products }) => {
      const called = `${heads} · ${name.toUpperCase()}`;
      writeTexts(fields, [
        heads === own.heads ? glass.text(`${KIND}.its_own`, { called }) : called,
        whole(bytes),
        shown(kl, 3),
        shown(p, 3),
        `${visible(best)} (${shown(pBest, 2)})`,
        whole(products.keys + products.values),
        whole(products.scores + products.mix),
      ]);
    });
    table.mark((row) => kinds[row]?.heads === chosen.heads);
  }
  return { element: listed(".at-wide-table", `${KIND}.table`, table), fill };
}

/**
 * The sums with their numbers filled in.
 *
 * @param {KindsReading} reading
 * @param {Model} model
 * @param {Text} text
 */
function linesOf({ chosen, width, tokens, p }, { n_layers: layers, n_heads: heads, head_dim: wide, d_model: d }, text) {
  const { products, bytes, heads: n, kl, p: now } = chosen;
  const number = (/** @type {number} */ value) => h("strong", null, whole(value));
  const times = (/** @type {(number | string)[]} */ ...factors) => factors.join(" · ");
  const [each, same] = [text("bytes_each"), text("same")];
  const cached = [
    times("2", "L", "n", "head_dim", each),
    " = ",
    times(2, layers, n, wide, width),
    " = ",
    number(bytes),
  ];
  const projected = [times("T", "d", "n", "head_dim"), " = ", times(tokens, d, n, wide), " = ", number(products.keys)];
  const paired = [times("T²", "head_dim"), " = ", times(heads, `${tokens}²`, wide), " = ", number(products.scores)];
  return [
    line`${text("bytes_line")} = ${cached}`,
    line`W${sub("K")}: ${projected},   W${sub("V")}: ${same}`,
    line`QKᵀ: n${sub("heads")} · ${paired},   AV: ${same}`,
    line`KL = Σ p · ln(p / p′) = ${strong(kl, 3)} ${text("nats")}`,
    line`p(${text("answer")}) = ${shown(p, 3)} → ${strong(now, 3)}`,
  ];
}

/**
 * What to notice, for the number of heads that is chosen.
 *
 * @param {KindsReading} reading
 * @param {Text} text
 */
function noticeOf({ chosen, own, answer, p }, text) {
  const told = chosen.heads === own.heads ? "notice_own" : chosen.repeated ? "notice_repeated" : "notice";
  return text(told, {
    heads: chosen.heads,
    own: own.heads,
    bytes: whole(chosen.bytes),
    own_bytes: whole(own.bytes),
    kl: shown(chosen.kl, 2),
    answer: visible(answer),
    p: shown(p, 3),
    p_now: shown(chosen.p, 3),
    best: visible(chosen.best),
  });
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function attentionKinds(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth", "source"], pointed: false });
  const [heads, chart, kinds] = [createHeads(glass), createKindsChart(panel.text), createKinds(glass)];
  const pointed = pointAt(chart.canvas, glass, chart.find, (count) => choose(glass, count));
  const half = h("div", null, chart.canvas);
  const wide = widthOf(half, glass);

  /** @param {KindsReading | null} reading null before it has come */
  function view(reading) {
    const model = state.trace?.model;
    return html`
      <p class="wy-notice" .textContent=${reading ? noticeOf(reading, panel.text) : panel.text("measuring")}></p>
      ${heads.element}
      <div class="gp-columns">
        <div>
          <h3 class="gp-subtitle" .textContent=${panel.text("chart_title")}></h3>
          ${half}
          <p class="gp-note" .textContent=${reading ? panel.text("trained_with", { own: reading.own.heads }) : ""}></p>
        </div>
        <div class="gp-formula">${reading && model && linesOf(reading, model, panel.text)}</div>
      </div>
      ${kinds.element}
      <p class="at-told" .textContent=${panel.text("repeat_kv")}></p>
      <pre class="at-code" .textContent=${CODE}></pre>
      <p class="at-told" .textContent=${panel.text("encoders")}></p>
    `;
  }
  render(view(null), panel.body);

  return inWidth(element, wide, function draw(width) {
    const reading = readHere(glass, kindsReader, select(glass, pointed()));
    element.toggleAttribute("data-loading", !reading);
    if (reading) chart.draw(width, reading);
    return () => {
      const model = state.trace?.model;
      panel.title.textContent = panel.text("title", { heads: model?.n_heads, own: model?.n_kv_heads });
      render(view(reading), panel.body);
      if (!reading) return;
      heads.show(reading);
      kinds.fill(reading);
      panel.show(reading, "");
    };
  });
}
