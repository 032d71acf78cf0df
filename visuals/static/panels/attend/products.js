// The products of one channel of q, k or v as a list, the largest first, and the arithmetic that they end in.

import { linkRows } from "../../controls.js";
import { fraction, h, line, phrase, shown, signed, strong, sub, tinted } from "../../dom.js";
import { added, bracketed, writtenOut } from "../../equation.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { reactive } from "../../reads.js";

/**
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/projection.js").ProjectionReading} ProjectionReading
 *
 * @typedef {object} Term
 * @property {string} words
 * @property {number} value
 * @property {number} [most] the value whose bar is the longest
 * @property {string} [kind]
 * @property {string[]} [factors]
 * @property {number} [digits]
 */

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
  /** @type {{ under: number | null }} */
  const view = reactive({ under: null }, glass.repaint);
  /** @type {number[]} */
  let listed = [];
  const look = (/** @type {number | null} */ input) => {
    view.under = input;
  };
  linkRows(
    table.body,
    { preview: look, select: look, focus: look, endPreview: () => look(null) },
    (row) => listed[/** @type {HTMLTableRowElement} */ (row).sectionRowIndex] ?? null,
    "tr",
  );

  /**
   * @param {HTMLElement[]} fields
   * @param {Term} term
   * @param {HTMLElement} row
   */
  function write(fields, { words, value, most, kind = "", factors = ["", ""], digits = 4 }, row) {
    writeTexts(fields.slice(0, 4), [words, ...factors, signed(value, digits)]);
    const style = most ? `width: ${(100 * Math.abs(value)) / most}%` : "";
    fields[4].replaceChildren(...(most ? [h(`span.wy-bar${value < 0 ? ".is-less" : ""}`, { style })] : []));
    row.className = kind;
  }

  /** @param {ProjectionReading} reading */
  function draw({ apart: { row, terms, bias, sum }, listed: { first, others, rest }, normed }) {
    /** @type {Say} */
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

/**
 * The network's norm, and one channel i of what it gives with the numbers: by μ and σ with β where it is a
 * LayerNorm.
 *
 * @param {ProjectionReading} reading
 * @param {number} i
 */
function normLines({ normed, stream: { x, gamma, beta, mean, divisor: rms } }, i) {
  const [n, raw, at] = [() => tinted("norm", "n"), () => tinted("residual", "x"), () => sub(i)];
  const values = { x: x[i], mean: beta ? mean : 0, rms, gamma: gamma[i], beta: beta?.[i] ?? 0, normed: normed[i] };
  const said = writtenOut(
    values,
    [
      [
        "normed",
        ["x", "mean", "rms", "gamma", "beta"],
        (value, less, by, times, plus) => ((value - less) / by) * times + plus,
      ],
    ],
    { digits: 6, of: { normed: { digits: 5 } } },
  );
  const factor = bracketed(said.gamma);
  if (!beta) {
    const divided = fraction(phrase`${raw()}${at()}`, "RMS(x)");
    const numbers = fraction(said.x, said.rms);
    return [
      line`${n()} = ${fraction(raw(), "RMS(x)")} · γ,  RMS(x) = ${strong(said.rms)}`,
      line`${n()}${at()} = ${divided} · γ${at()} = ${numbers} · ${factor} = ${strong(said.normed)}`,
    ];
  }
  const divided = fraction(phrase`${raw()}${at()} − μ`, "σ");
  const numbers = fraction(`${said.x} − ${bracketed(said.mean)}`, said.rms);
  const shifted = [numbers, " · ", factor, " ", added(said.beta)];
  return [
    line`${n()} = ${fraction(phrase`${raw()} − μ`, "σ")} · γ + β,  μ = ${strong(said.mean)},  σ = ${strong(said.rms)}`,
    line`${n()}${at()} = ${divided} · γ${at()} + β${at()} = ${shifted} = ${strong(said.normed)}`,
  ];
}

/**
 * From the stream to the number: the norm with the numbers of one input, the product with a row, the bias, the norm
 * on q or k where there is one.
 *
 * @param {ProjectionReading} reading
 * @param {{ dtype: string }} model
 * @param {Say} text
 */
export function lines(reading, { dtype }, text) {
  const { place, made, listed, selection, apart } = reading;
  const { vector, token } = place;
  const { products, bias, sum, divisor, gamma, value } = apart;
  const channel = selection.row;
  const name = () => tinted(vector, vector);
  const matrix = vector.toUpperCase();
  const said = writtenOut(
    { products, bias: bias ?? 0, sum, divisor: divisor ?? NaN, gamma: gamma ?? NaN, value },
    [
      ["sum", ["products", "bias"], (one, other) => one + other],
      ["value", ["sum", "divisor", "gamma"], (whole, by, times) => (whole / by) * times],
    ],
    { digits: 6 },
  );
  const raw = bias === null ? [strong(said.sum)] : [`${said.products} ${added(said.bias)} = `, strong(said.sum)];
  const row = divisor === null ? [name(), sub(channel)] : ["s", sub(channel)];
  const shift = bias === null ? [] : [" + b", sub(channel)];
  const weight = ["W", sub(matrix), `[${String(channel)}, i]`];
  const normed = [tinted("norm", "n"), sub("i")];
  const divided = () => [fraction(phrase`s${sub(channel)}`, "RMS(s)"), " · γ", sub(vector)];
  const numbers = [fraction(said.sum, said.divisor), " · ", bracketed(said.gamma)];
  const again =
    divisor === null || gamma === null
      ? []
      : [line`${name()}${sub(channel)} = ${divided()} = ${numbers} = ${strong(said.value)}`];
  return [
    ...normLines(reading, listed.first[0]),
    line`${row} = Σ${sub("i")} ${weight} · ${normed}${shift} = ${raw}`,
    ...again,
    h("p.at-words", null, text("in_run", { dtype, vector, channel, token, value: shown(made[channel], 6) })),
    ...(divisor === null ? [] : [h("p.at-words", null, text("normed_again", { vector }))]),
  ];
}
