// The products of one channel of q, k or v as a list, the largest first, and the arithmetic that they end in.

import { linkRows } from "../../controls.js";
import { fraction, h, inBrackets, line, phrase, shown, signed, strong, sub, tinted } from "../../dom.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { reactive } from "../../reads.js";

const COUNT = 8; // as many are listed as readings/projection.js tells apart

/** @param {import("../../types.d.ts").Glass} glass */
export function createProducts(glass) {
  /** @type {[string, string][]} */
  const columns = [
    ["input", "th.gp-token"],
    ["normed", "td.gp-number"],
    ["weight", "td.gp-number"],
    ["product", "td.gp-number"],
    ["bar", "td.wy-track"],
  ];
  const table = createTable("qkv", columns, { rows: COUNT + 3, focus: true, look: ".wy-terms" });
  const view = reactive({ under: null }, glass.repaint);
  let listed = [];
  const look = (input) => {
    view.under = input ?? null;
  };
  linkRows(
    table.body,
    { preview: look, select: look, focus: look, endPreview: () => look(null) },
    (/** @type {HTMLTableRowElement} */ { sectionRowIndex }) => listed[sectionRowIndex] ?? null,
    "tr",
  );

  /**
   * @param {HTMLElement[]} fields
   * @param {{
   *   words: string;
   *   value: number;
   *   most?: number;
   *   kind?: string;
   *   factors?: string[];
   *   digits?: number;
   * }} term
   * @param {HTMLElement} row
   */
  function write(fields, { words, value, most, kind = "", factors = ["", ""], digits = 4 }, row) {
    writeTexts(fields.slice(0, 4), [words, ...factors, signed(value, digits)]);
    const bar = h(`span.wy-bar${value < 0 ? ".is-less" : ""}`, { style: `width: ${(100 * Math.abs(value)) / most}%` });
    fields[4].replaceChildren(...(most ? [bar] : []));
    row.className = kind;
  }

  /** @param {import("../../readings/projection.js").ProjectionReading} reading */
  function draw({ apart: { row, terms, bias, sum }, listed: { first, others, rest }, normed }) {
    const text = (name, params) => glass.text(`qkv.${name}`, params);
    listed = first;
    const all = [...first.map((i) => terms[i]), others, bias ?? 0];
    const most = Math.max(...all.map(Math.abs)) || 1;
    table.fill(
      [
        ...first.map((i) => ({
          words: String(i),
          factors: [shown(normed[i], 4), shown(row[i], 4)],
          value: terms[i],
          most,
        })),
        ...(rest ? [{ words: text("others", { count: rest }), value: others, most, kind: "is-others" }] : []),
        ...(bias === null ? [] : [{ words: text("bias"), value: bias, most }]),
        { words: text("sum"), value: sum, kind: "wy-sum", digits: 6 },
      ],
      write,
    );
  }
  return { element: h("div.ch-scroll", null, table.element), draw, pointed: () => view.under };
}

const plus = (x, digits) => `${x < 0 ? "−" : "+"} ${shown(Math.abs(x), digits)}`;

/**
 * The network's norm, and one channel i of what it gives with the numbers: by μ and σ with β where it is a
 * LayerNorm.
 */
function normLines({ normed, stream: { x, gamma, beta, mean, divisor: rms } }, i) {
  const [n, raw, at] = [() => tinted("norm", "n"), () => tinted("residual", "x"), () => sub(i)];
  const factor = inBrackets(gamma[i], 6);
  if (!beta) {
    const divided = fraction(phrase`${raw()}${at()}`, "RMS(x)");
    const numbers = fraction(shown(x[i], 6), shown(rms, 6));
    return [
      line`${n()} = ${fraction(raw(), "RMS(x)")} · γ,  RMS(x) = ${strong(rms, 6)}`,
      line`${n()}${at()} = ${divided} · γ${at()} = ${numbers} · ${factor} = ${strong(normed[i])}`,
    ];
  }
  const divided = fraction(phrase`${raw()}${at()} − μ`, "σ");
  const numbers = fraction(`${shown(x[i], 6)} ${plus(-mean, 6)}`, shown(rms, 6));
  const shifted = [numbers, " · ", factor, " ", plus(beta[i], 6)];
  return [
    line`${n()} = ${fraction(phrase`${raw()} − μ`, "σ")} · γ + β,  μ = ${strong(mean, 6)},  σ = ${strong(rms, 6)}`,
    line`${n()}${at()} = ${divided} · γ${at()} + β${at()} = ${shifted} = ${strong(normed[i])}`,
  ];
}

/**
 * From the stream to the number: the norm with the numbers of one input, the product with a row, the bias, the norm
 * on q or k where there is one.
 *
 * @param {import("../../readings/projection.js").ProjectionReading} reading
 * @param {{ dtype: string }} model
 * @param {Function} text
 */
export function lines(reading, { dtype }, text) {
  const { place, made, listed, selection, apart } = reading;
  const { vector, token } = place;
  const { products, bias, sum, divisor, gamma, value } = apart;
  const channel = selection.row;
  const name = () => tinted(vector, vector);
  const matrix = vector.toUpperCase();
  const raw = (x) => (bias === null ? [strong(x, 6)] : [`${shown(products, 6)} ${plus(bias, 6)} = `, strong(sum, 6)]);
  const row = divisor === null ? [name(), sub(channel)] : ["s", sub(channel)];
  const added = bias === null ? [] : [" + b", sub(channel)];
  const weight = ["W", sub(matrix), `[${String(channel)}, i]`];
  const normed = [tinted("norm", "n"), sub("i")];
  const divided = () => [fraction(phrase`s${sub(channel)}`, "RMS(s)"), " · γ", sub(vector)];
  const numbers = () => [fraction(shown(sum, 6), shown(divisor, 6)), " · ", inBrackets(gamma, 6)];
  return [
    ...normLines(reading, listed.first[0]),
    line`${row} = Σ${sub("i")} ${weight} · ${normed}${added} = ${raw(sum)}`,
    ...(divisor === null ? [] : [line`${name()}${sub(channel)} = ${divided()} = ${numbers()} = ${strong(value, 6)}`]),
    h("p.at-words", null, text("in_run", { dtype, vector, channel, token, value: shown(made[channel], 6) })),
    ...(divisor === null ? [] : [h("p.at-words", null, text("normed_again", { vector }))]),
  ];
}
