// RoPE written out for one pair: as a matrix, as complex numbers, channel by channel, and its three conditions.

import { h, line, shown, strong, sub, sup, tinted } from "../../dom.js";
import { bracketed, writtenOut } from "../../equation.js";

/**
 * @typedef {import("../../readings/rope-derivation.js").DerivationReading} DerivationReading
 *
 * @typedef {import("../../readings/rope-derivation.js").Complex} Complex
 *
 * @typedef {(name: string, params?: Record<string, unknown>) => string} Say
 */

const DIGITS = 3;

/**
 * a + bi.
 *
 * @param {Complex} one
 */
export const complex = ([a, b]) => `${shown(a, DIGITS)} ${b < 0 ? "−" : "+"} ${shown(Math.abs(b), DIGITS)}i`;

/**
 * Rows of numbers in brackets.
 *
 * @param {number[][]} rows
 */
function matrix(rows) {
  const numbers = rows.flat().map((value) => h("span", null, shown(value, DIGITS)));
  return h("span.position-matrix", { style: `--columns: ${rows[0].length}` }, ...numbers);
}

/** @param {Complex} one as a column */
const column = ([a, b]) => matrix([[a], [b]]);

/**
 * e^(i·angle).
 *
 * @param {string} power
 */
const e = (power) => ["e", sup(power)];

/**
 * @param {DerivationReading} reading
 * @param {Say} text
 * @returns {HTMLElement[]}
 */
export function formLines({ forms, place: { m, n }, selection: { pair } }, text) {
  const { theta, scaling, q, k, turnedQ, turnedK, both } = forms;
  const angle = m * theta;
  const unit = /** @type {Complex} */ ([Math.cos(angle), Math.sin(angle)]);
  const [cos, sin] = unit.map((value) => value * scaling);
  const by = scaling === 1 ? "" : `${shown(scaling, DIGITS)} · `;
  const name = (/** @type {string} */ form) => h("strong", null, `${text(`form_${form}`)} `);
  const [qName, kName] = [() => tinted("q", "q"), () => tinted("k", "k")];
  const said = writtenOut(
    { theta, angle, a: q[0], b: q[1], c: cos, s: sin, first: turnedQ[0], second: turnedQ[1] },
    [
      ["angle", ["theta"], (x) => m * x],
      ["first", ["a", "b", "c", "s"], (x, y, by, other) => x * by - y * other],
      ["second", ["a", "b", "c", "s"], (x, y, by, other) => y * by + x * other],
    ],
    { digits: DIGITS },
  );
  const [a, b, c, s] = [said.a, said.b, said.c, said.s].map(bracketed);
  const turns = [
    [cos, -sin],
    [sin, cos],
  ];
  const asComplex = (/** @type {Complex} */ one) => h("strong", null, complex(one));
  const first = [`${a} · ${c} − ${b} · ${s} = `, strong(said.first)];
  const second = [`${b} · ${c} + ${a} · ${s} = `, strong(said.second)];
  const turnedBy = text("turn_by", { angle: shown((n - m) * theta, DIGITS) });
  const [factors, turned] = [`(${complex(q)})·(${complex(unit)})`, ["R", sub(String(n - m).replace("-", "−"))]];
  const kAngle = e(`i·${shown(n * theta, DIGITS)}`);
  return [
    line`${text("angle", { m, pair, theta: said.theta, angle: said.angle })}`,
    line`${name("matrix")}R${sub(m)} ${qName()} = ${matrix(turns)} ${column(q)} = ${column(turnedQ)}`,
    line`${name("complex")}${qName()}·${e(`i·${m}·θ`)} = ${by}${factors} = ${asComplex(turnedQ)}`,
    line`${kName()}·${e(`i·${n}·θ`)} = ${by}(${complex(k)})·${kAngle} = ${asComplex(turnedK)}`,
    line`${name("channels")}${qName()} ⊙ cos + rotate(${qName()}) ⊙ sin: ${first},   ${second}`,
    line`${name("both")}R${sub(m)}ᵀ R${sub(n)} = ${matrix(both)} = ${turned}${turnedBy}`,
  ];
}

/**
 * The three conditions: what each asks, this pair's numbers, and how far these are from it.
 *
 * @param {DerivationReading} reading
 * @param {Say} text
 * @returns {{ step: string; numbers: string; apart: number }[]}
 */
export function stepsOf({ forms, values, place: { m, n } }, text) {
  const { q, turnedQ, turnedK, term, shifted, start, scaling, byDistance, wrongSign } = forms;
  const asked = q.map((value) => value * scaling);
  return [
    {
      step: text("step_vectors"),
      numbers: text("step_vectors_here", {
        m,
        n,
        q: complex(turnedQ),
        k: complex(turnedK),
        before: shown(values.length_before, DIGITS),
        after: shown(values.length_after, DIGITS),
      }),
      apart: values.length_after - values.length_before,
    },
    {
      step: text("step_distance"),
      numbers: text("step_distance_here", { term: shown(term, 5), shifted: shown(shifted, 5) }),
      apart: shifted - term,
    },
    {
      step: text("step_start"),
      numbers: text("step_start_here", { q: complex(/** @type {Complex} */ (asked)), start: complex(start) }),
      apart: Math.hypot(start[0] - asked[0], start[1] - asked[1]),
    },
    {
      step: text("step_sign"),
      numbers: text("step_sign_here", { by: shown(byDistance, 5), wrong: shown(wrongSign, 5), term: shown(term, 5) }),
      apart: byDistance - term,
    },
  ];
}
