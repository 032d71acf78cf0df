// The products of one channel of q, k or v as a list, the largest first, and the arithmetic that they end in.

import { linkRows } from "../../controls.js";
import { fraction, h, inBrackets, line, phrase, shown, signed, strong, sub, tinted } from "../../dom.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { watched } from "../../reads.js";

/** @param {number} count how many are listed */
export function createProducts(glass, count) {
  const columns = [["input", "th.gp-token"], ["normed", "td.gp-number"], ["weight", "td.gp-number"], ["product", "td.gp-number"], ["bar", "td.wy-track"]];
  const table = createTable("qkv", columns, { rows: count + 3, focus: true, look: ".wy-terms" });
  const view = watched({ under: null }, glass.repaint);
  let listed = [];
  const look = (input) => { view.under = input ?? null; };
  linkRows(table.body, { preview: look, select: look, focus: look, endPreview: () => look(null) }, ({ sectionRowIndex }) => listed[sectionRowIndex] ?? null, "tr");

  function write(fields, { words, value, most, kind = "", factors = ["", ""], digits = 4 }, row) {
    writeTexts(fields.slice(0, 4), [words, ...factors, signed(value, digits)]);
    const bar = h(`span.wy-bar${value < 0 ? ".is-less" : ""}`, { style: `width: ${(100 * Math.abs(value)) / most}%` });
    fields[4].replaceChildren(...(most ? [bar] : []));
    row.className = kind;
  }

  /** @param {import("./projection.js").Apart} apart @param {{ first: number[], others: number, rest: number }} largest */
  function draw({ row, terms, bias, sum }, { first, others, rest }, { normed }) {
    const text = (name, params) => glass.text(`qkv.${name}`, params);
    listed = first;
    const all = [...first.map((i) => terms[i]), others, bias ?? 0];
    const most = Math.max(...all.map(Math.abs)) || 1;
    table.fill([
      ...first.map((i) => ({ words: String(i), factors: [shown(normed[i], 4), shown(row[i], 4)], value: terms[i], most })),
      ...(rest ? [{ words: text("others", { count: rest }), value: others, most, kind: "is-others" }] : []),
      ...(bias === null ? [] : [{ words: text("bias"), value: bias, most }]),
      { words: text("sum"), value: sum, kind: "wy-sum", digits: 6 },
    ], write);
  }
  return { element: h("div.ch-scroll", null, table.element), draw, pointed: () => view.under };
}

/** From the stream to the number: RMSNorm, the product with a row, the bias, the norm on q or k where there is one. */
export function lines({ place: { vector, token }, rms, made }, { products, bias, sum, divisor, gamma, value }, channel, { dtype }, text) {
  const name = () => tinted(vector, vector);
  const matrix = vector.toUpperCase();
  const raw = (x) => (bias === null ? [strong(x, 6)] : [`${shown(products, 6)} ${bias < 0 ? "−" : "+"} ${shown(Math.abs(bias), 6)} = `, strong(sum, 6)]);
  const row = divisor === null ? [name(), sub(channel)] : ["s", sub(channel)];
  const added = bias === null ? [] : [" + b", sub(channel)];
  return [
    line`${tinted("norm", "n")} = ${fraction(tinted("residual", "x"), "RMS(x)")} · γ,  RMS(x) = ${strong(rms)}`,
    line`${row} = Σ${sub("i")} W${sub(matrix)}[${String(channel)}, i] · ${tinted("norm", "n")}${sub("i")}${added} = ${raw(sum)}`,
    ...(divisor === null ? [] : [line`${name()}${sub(channel)} = ${fraction(phrase`s${sub(channel)}`, "RMS(s)")} · γ${sub(vector)} = ${fraction(shown(sum, 6), shown(divisor, 6))} · ${inBrackets(gamma)} = ${strong(value, 6)}`]),
    h("p.at-words", null, text("in_run", { dtype, vector, channel, token, value: shown(made[channel], 6) })),
    ...(divisor === null ? [] : [h("p.at-words", null, text("normed_again", { vector }))]),
  ];
}
