// A norm written out with its numbers.

import { fraction, inBrackets, line, phrase, root, shown, strong, tinted } from "../../dom.js";

/**
 * The formula with the numbers of one norm, found back from the recorded RMS or σ, which has ε in it.
 *
 * @param {Record<string, number>} figures `rms`; of a LayerNorm `mean` and `deviation`
 * @param {number} eps
 * @returns {HTMLElement[]}
 */
export function formulaOf({ rms, mean, deviation }, eps) {
  const [centred, value] = [mean !== undefined, rms ?? deviation];
  const [kind, square, end] = centred ? ["LayerNorm", "(x − μ)²", " ⊙ γ + β"] : ["RMSNorm", "x²", " ⊙ γ"];
  const name = () => tinted("norm", centred ? "σ(x)" : "RMS(x)");
  const [above, filled] = centred ? ["x − μ(x)", `x − ${inBrackets(mean)}`] : ["x", "x"];
  const numbers = root(`${shown(value * value - eps, 6)} + ${shown(eps, 1)}`);
  return [
    ...(centred ? [line`μ(x) = mean(x) = ${strong(mean)}`] : []),
    line`${name()} = ${root(`mean(${square}) + ε`)} = ${numbers} = ${strong(value)}`,
    line`${kind}(x) = ${fraction(above, name())}${end} = ${fraction(filled, shown(value, 5))}${end}`,
  ];
}

/**
 * The norm step by step, for one channel: a LayerNorm's mean, the variance about it and β, which an RMSNorm has
 * not.
 *
 * @param {import("../../readings/norm.js").VectorReading} reading
 * @param {import("../../types.d.ts").Say} text
 * @returns {HTMLElement[]}
 */
export function stepsOf({ selection: { channel }, values, input }, text) {
  const { x, eps, divided, gamma, normed } = values;
  const { beta, mean, meanSquare, divisor } = input;
  const [count, square] = [String(input.x.length), beta ? "(x − μ)²" : "x²"];
  const sign = (/** @type {number} */ step) => "①②③④⑤"[beta ? step + 1 : step];
  const name = () => tinted("norm", beta ? "σ(x)" : "RMS(x)");
  const over = (/** @type {Node | string} */ by) => fraction(beta ? "x − μ" : "x", by);
  const average = (/** @type {number} */ value) => [
    fraction(shown(value * input.x.length, 6), count),
    " = ",
    strong(value),
  ];
  const numbers = root(`${shown(meanSquare, 6)} + ${shown(eps, 1)}`);
  const quotient = fraction(`${shown(x, 5)}${beta ? ` − ${inBrackets(mean)}` : ""}`, shown(divisor, 5));
  const added = beta ? ` + ${inBrackets(values.beta)}` : "";
  const learned = `${shown(divided, 5)} × ${inBrackets(gamma)}${added}`;
  return [
    ...(beta ? [line`① μ = mean(x) = Σx / ${count} = ${average(mean)}`] : []),
    line`${sign(0)} mean(${square}) = Σ${square} / ${count} = ${average(meanSquare)}`,
    line`${sign(1)} ${name()} = ${root(`mean(${square}) + ε`)} = ${numbers} = ${strong(divisor)}`,
    line`${sign(2)} ${text("at", { channel })}   ${over(name())} = ${quotient} = ${strong(divided)}`,
    line`${sign(3)} ${over(name())} · γ${beta ? " + β" : ""} = ${learned} = ${strong(normed)}`,
  ];
}

/**
 * Why scaling shows: ε does not grow with x.
 *
 * @param {import("../../readings/norm-input.js").NormInput} input
 * @param {number} a
 * @returns {HTMLElement[]}
 */
export function scalingOf({ meanSquare: m, eps, beta }, a) {
  const name = (/** @type {string} */ content) => tinted("norm", `${beta ? "LayerNorm" : "RMSNorm"}(${content})`);
  const [top, under] = [Math.sqrt(m + eps), Math.sqrt(a * a * m + eps)];
  const numbers = fraction(`${shown(a, 4)} · ${shown(top, 6)}`, shown(under, 6));
  const factor = (a * top) / under;
  const formula = fraction(phrase`a · ${root("m + ε")}`, root("a²·m + ε"));
  const square = beta ? "mean((x − μ)²)" : "mean(x²)";
  return [
    line`${name("a·x")} = ${formula} · ${name("x")},   m = ${square} = ${shown(m, 5)}`,
    line`= ${numbers} · ${name("x")} = ${strong(factor, 8)} · ${name("x")}`,
  ];
}
