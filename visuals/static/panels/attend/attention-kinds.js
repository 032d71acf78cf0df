// From MHA by way of GQA to MQA, and to a latent: this network's K/V heads repeated or mean-pooled, or fitted together
// at low rank; what the cache then takes, what is multiplied, and how far the prediction moves.

import { linkRows, slider } from "../../controls.js";
import { shareSaid } from "../../counts.js";
import { count, h, line, shown, strong, sub } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { pointAt } from "../../pointed.js";
import { inWidth, widthOf } from "../../pointing.js";
import { kindsReader } from "../../readings/attention-kinds.js";
import { readHere } from "../../run-for.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { createKindsChart, letterOf } from "./kinds-chart.js";

/** @typedef {import("../../readings/attention-kinds.js").KindsReading} KindsReading */
/** @typedef {import("../../types.d.ts").Glass} Glass */
/** @typedef {import("../../types.d.ts").Model} Model */
/** @typedef {(name: string, params?: Record<string, unknown>) => string} Text */

const KIND = "attention-kinds";
const MOST = 32; // divisors that a table has room for
const CODE = "k = k[:, :, None].expand(B, n_kv_heads, group_size, T, head_dim).reshape(B, n_heads, T, head_dim)";

/** @typedef {import("../../readings/attention-kinds.js").KvKind} KvKind */
/** @typedef {import("../../readings/attention-kinds.js").KindsSelection} KindsSelection */

/** What a reader chose, 0 for neither. @param {Glass} glass @returns {KindsSelection} */
function chosenOf({ settings }) {
  const { heads, rank } = settings.get(KIND);
  return { heads: Number(heads) || 0, rank: Number(rank) || 0 };
}
/** @param {Glass} glass @param {KindsSelection | null} [pointed] */
const select = (glass, pointed = null) => pointed ?? chosenOf(glass);
/** @param {Glass} glass @param {KindsSelection} chosen */
const choose = ({ settings }, { heads, rank }) => settings.set(KIND, { heads: heads || "", rank: rank || "" });

/** What its heads read instead of K/V heads of one text. @param {Model} model */
const lacking = ({ parts: { latent, stack } }) => (latent ? "kv_latent" : stack ? `kv_${stack}` : null);

/**
 * @param {Glass} glass
 * @param {"heads" | "rank"} by
 */
function createChoice(glass, by) {
  /** @type {KvKind[]} */
  let kinds = [];
  const range = slider(
    "gp-slider",
    `${KIND}.${by}`,
    { min: 0, step: 1 },
    (at) => kinds[at] && choose(glass, kinds[at]),
  );
  /** @param {KindsReading} reading */
  function show({ kinds: pooled, latents, chosen, own }) {
    kinds = by === "rank" ? latents : pooled;
    const isHere = kinds.includes(chosen);
    const at = isHere ? kinds.indexOf(chosen) : by === "rank" ? kinds.length - 1 : kinds.indexOf(own);
    const words = by === "rank" ? `d_c = ${kinds[at].rank}` : `${kinds[at].heads} · ${kinds[at].name.toUpperCase()}`;
    range.show(at, isHere ? words : glass.text(`${KIND}.${by}_unused`), { max: kinds.length - 1 });
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
  const { element, show } = createChoice(glass, "heads");
  return { elements: [element], show: (/** @type {any} */ _a, /** @type {any} */ b) => show(readIn(b)) };
}

export const about = {
  tensors: ["k", "v", "logits"],
  absent: lacking,
  difference: {
    reader: kindsReader,
    select: (/** @type {Glass} */ glass) => ({ ...chosenOf(glass), rank: 0 }), // ranks go by the number of tokens
    controls: headsOfBoth,
    without: "b_minus_a.without_rank",
    said: ["kl"],
    parts: [
      {
        draw: "table",
        rows: "heads",
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
  /** @type {KvKind[]} */
  let rows = [];
  linkRows(
    table.body,
    { select: (/** @type {number} */ at) => choose(glass, rows[at]) },
    (row) => /** @type {HTMLTableRowElement} */ (row).sectionRowIndex,
    "tr",
  );
  /** @param {KindsReading} reading */
  function fill({ kinds, latents, chosen, own }) {
    rows = [...kinds, ...latents];
    table.fill(rows, (fields, one) => {
      const { heads, rank, name, bytes, kl, p, best, pBest, products } = one;
      const called = rank ? glass.text(`${KIND}.latent_of`, { rank }) : `${heads} · ${name.toUpperCase()}`;
      writeTexts(fields, [
        one === own ? glass.text(`${KIND}.its_own`, { called }) : called,
        count(bytes),
        shown(kl, 3),
        shareSaid(glass.text, p),
        Number.isNaN(kl) ? "…" : `${visible(best)} (${shareSaid(glass.text, pBest)})`,
        count(products.keys + products.values),
        count(products.scores + products.mix),
      ]);
    });
    table.mark((row) => rows[row] === chosen);
  }
  return { element: listed(".at-wide-table.at-kinds-table", `${KIND}.table`, table), fill };
}

/** @param {string[]} names of the dots that have a letter in the chart, a first */
function namesView(names) {
  const item = (/** @type {string} */ name, /** @type {number} */ i) =>
    html`<li><strong .textContent=${letterOf(i)}></strong> <span .textContent=${name}></span></li>`;
  return html`<ol class="gp-note at-kinds-names">
    ${names.map(item)}
  </ol>`;
}

/**
 * What makes K and V, with its numbers.
 *
 * @param {KindsReading} reading
 * @param {Model} model
 * @param {Text} text
 * @param {string} colon
 */
function madeLine({ chosen: { products, heads: n, rank }, tokens, own }, { head_dim: wide, d_model: d }, text, colon) {
  const pooled = timesOf(["T", "d", "n", "head_dim"], [tokens, d, n, wide], products.keys);
  if (!rank) return line`W${sub("K")}${colon}${pooled}   W${sub("V")}${colon}${text("same")}`;
  const made = timesOf(["T", "d", "d_c"], [tokens, d, rank], products.keys);
  const rebuilt = timesOf(["T", "d_c", "2", "n", "head_dim"], [tokens, rank, 2, own.heads, wide], products.values);
  return line`c${colon}${made}   [K; V]${colon}${rebuilt}`;
}

/**
 * A product: names, numbers, and what comes out.
 *
 * @param {string[]} names
 * @param {(number | string)[]} factors
 * @param {number} product
 */
function timesOf(names, factors, product) {
  const numbers = factors.map((one) => (typeof one === "number" ? count(one) : one));
  return [`${names.join(" · ")} = ${numbers.join(" · ")} = `, h("strong", null, count(product))];
}

/**
 * The sums with their numbers filled in.
 *
 * @param {KindsReading} reading
 * @param {Model} model
 * @param {Text} text
 * @param {Glass["text"]} whole of the page
 */
function linesOf(reading, model, text, whole) {
  const { chosen, width, tokens, p } = reading;
  const { n_layers: layers, n_heads: heads, head_dim: wide } = model;
  const { products, bytes, heads: n, rank, kl, p: now } = chosen;
  const each = text("bytes_each");
  const cached = rank
    ? timesOf(["L", "d_c", each], [layers, rank, width], bytes)
    : timesOf(["2", "L", "n", "head_dim", each], [2, layers, n, wide, width], bytes);
  const paired = timesOf(["T²", "head_dim"], [heads, `${count(tokens)}²`, wide], products.scores);
  return [
    line`${text("bytes_line")} = ${cached}`,
    madeLine(reading, model, text, whole("marks.colon")),
    line`QKᵀ${whole("marks.colon")}n${sub("heads")} · ${paired}   AV${whole("marks.colon")}${text("same")}`,
    line`KL = Σ p · ln(p / p′) = ${strong(kl, 3)} ${text("nats")}`,
    line`p(${text("answer")}) = ${shareSaid(whole, p)} → ${h("strong", null, shareSaid(whole, now))}`,
  ];
}

/**
 * What to notice, for what is chosen.
 *
 * @param {KindsReading} reading
 * @param {Text} text
 * @param {Glass["text"]} whole of the page
 */
function noticeOf({ chosen, own, answer, p, tokens, kinds, latents, done }, text, whole) {
  if (Number.isNaN(chosen.kl)) return text("measuring", { done, total: kinds.length + latents.length });
  const isWhole = chosen.rank === tokens && chosen === latents[latents.length - 1];
  const ofHeads = chosen === own ? "notice_own" : chosen.repeated ? "notice_repeated" : "notice";
  return text(isWhole ? "notice_whole" : chosen.rank ? "notice_latent" : ofHeads, {
    heads: chosen.heads,
    rank: chosen.rank,
    tokens,
    own: own.heads,
    bytes: count(chosen.bytes),
    own_bytes: count(own.bytes),
    kl: shown(chosen.kl, 2),
    answer: visible(answer),
    p: shareSaid(whole, p),
    p_now: shareSaid(whole, chosen.p),
    best: visible(chosen.best),
  });
}

/**
 * That a latent of as many numbers as there are tokens loses nothing, where one is that long.
 *
 * @param {KindsReading} reading
 * @param {Text} text
 */
const wholeText = ({ latents, tokens }, text) =>
  latents.at(-1)?.rank === tokens ? text("whole_note", { rank: tokens }) : "";

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function attentionKinds(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth", "source"], pointed: false });
  const [heads, ranks] = [createChoice(glass, "heads"), createChoice(glass, "rank")];
  const [chart, kinds] = [createKindsChart(panel.text), createKinds(glass)];
  const pointed = pointAt(chart.canvas, glass, chart.find, (/** @type {KindsSelection} */ chosen) =>
    choose(glass, chosen),
  );
  const half = h("div", null, chart.canvas);
  const wide = widthOf(half, glass);

  /**
   * @param {KindsReading | null} reading null before it has come
   * @param {string[]} [lettered] names of dots that have a letter in the chart
   */
  function view(reading, lettered = []) {
    const model = state.trace?.model;
    return html`
      <p
        class="wy-notice"
        .textContent=${
          reading ? noticeOf(reading, panel.text, glass.text) : panel.text("measuring", { done: 0, total: "…" })
        }
      ></p>
      ${heads.element} ${ranks.element}
      <div class="gp-columns">
        <div>
          <h3 class="gp-subtitle" .textContent=${panel.text("chart_title")}></h3>
          ${half} ${lettered.length ? namesView(lettered) : nothing}
          <p class="gp-note" .textContent=${panel.text("dots_note")}></p>
          <p class="gp-note" .textContent=${reading ? wholeText(reading, panel.text) : ""}></p>
          <p class="gp-note" .textContent=${reading ? panel.text("trained_with") : ""}></p>
        </div>
        <div class="gp-formula">${reading && model && linesOf(reading, model, panel.text, glass.text)}</div>
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
    const lettered = reading ? chart.draw(width, reading) : [];
    return () => {
      const model = state.trace?.model;
      panel.title.textContent = panel.text("title", { heads: model?.n_heads, own: model?.n_kv_heads });
      render(view(reading, lettered), panel.body);
      if (!reading) return;
      heads.show(reading);
      ranks.show(reading);
      kinds.fill(reading);
      panel.show(reading, "");
    };
  });
}
