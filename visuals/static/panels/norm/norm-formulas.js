// A norm written out with its numbers.

import { fraction, line, phrase, root, shown, strong, tinted } from "../../dom.js";
import { added, bracketed, printedNumber, writtenOut } from "../../equation.js";

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
  const tiny = shown(eps, 1);
  const said = writtenOut(
    { square: value * value - eps, value, mean: mean ?? NaN },
    [["value", ["square"], (x) => Math.sqrt(x + printedNumber(tiny))]],
    { of: { square: { digits: 6 } } },
  );
  const [above, filled] = centred ? ["x − μ(x)", `x − ${bracketed(said.mean)}`] : ["x", "x"];
  const numbers = root(`${said.square} + ${tiny}`);
  return [
    ...(centred ? [line`μ(x) = mean(x) = ${strong(said.mean)}`] : []),
    line`${name()} = ${root(`mean(${square}) + ε`)} = ${numbers} = ${strong(said.value)}`,
    line`${kind}(x) = ${fraction(above, name())}${end} = ${fraction(filled, said.value)}${end}`,
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
  const { beta } = input;
  const [length, square] = [input.x.length, beta ? "(x − μ)²" : "x²"];
  const sign = (/** @type {number} */ step) => "①②③④⑤"[beta ? step + 1 : step];
  const name = () => tinted("norm", beta ? "σ(x)" : "RMS(x)");
  const over = (/** @type {Node | string} */ by) => fraction(beta ? "x − μ" : "x", by);
  const tiny = shown(values.eps, 1);
  const said = stepsWritten(values, input, printedNumber(tiny));
  /** @type {(total: string, value: string) => (Node | string)[]} */
  const average = (total, value) => [fraction(total, String(length)), " = ", strong(value)];
  const numbers = root(`${said.meanSquare} + ${tiny}`);
  const quotient = fraction(`${said.x}${beta ? ` − ${bracketed(said.mean)}` : ""}`, said.divisor);
  const learned = `${said.divided} × ${bracketed(said.gamma)}${beta ? ` ${added(said.beta)}` : ""}`;
  return [
    ...(beta ? [line`① μ = mean(x) = Σx / ${String(length)} = ${average(said.sum, said.mean)}`] : []),
    line`${sign(0)} mean(${square}) = Σ${square} / ${String(length)} = ${average(said.squares, said.meanSquare)}`,
    line`${sign(1)} ${name()} = ${root(`mean(${square}) + ε`)} = ${numbers} = ${strong(said.divisor)}`,
    line`${sign(2)} ${text("at", { channel })}   ${over(name())} = ${quotient} = ${strong(said.divided)}`,
    line`${sign(3)} ${over(name())} · γ${beta ? " + β" : ""} = ${learned} = ${strong(said.normed)}`,
  ];
}

/**
 * The numbers of these steps, in digits that come out; of an RMSNorm mean and β are 0.
 *
 * @param {import("../../readings/norm.js").VectorReading["values"]} values
 * @param {import("../../readings/norm.js").VectorReading["input"]} input
 * @param {number} eps as it is printed
 */
function stepsWritten({ x, divided, gamma, normed, beta = 0 }, input, eps) {
  const { mean = 0, meanSquare, divisor } = input;
  const count = input.x.length;
  const averaged = (/** @type {number} */ total) => total / count;
  return writtenOut(
    { sum: mean * count, mean, squares: meanSquare * count, meanSquare, divisor, x, divided, gamma, beta, normed },
    [
      ["mean", ["sum"], averaged],
      ["meanSquare", ["squares"], averaged],
      ["divisor", ["meanSquare"], (square) => Math.sqrt(square + eps)],
      ["divided", ["x", "mean", "divisor"], (a, less, by) => (a - less) / by],
      ["normed", ["divided", "gamma", "beta"], (a, by, more) => a * by + more],
    ],
    { of: { sum: { digits: 6 }, squares: { digits: 6 } } },
  );
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
  const said = writtenOut(
    { a, top, under, factor: (a * top) / under },
    [["factor", ["a", "top", "under"], (by, above, below) => (by * above) / below]],
    { digits: 6, of: { a: { digits: 4 }, factor: { digits: 8 } } },
  );
  const numbers = fraction(`${said.a} · ${said.top}`, said.under);
  const formula = fraction(phrase`a · ${root("m + ε")}`, root("a²·m + ε"));
  const square = beta ? "mean((x − μ)²)" : "mean(x²)";
  return [
    line`${name("a·x")} = ${formula} · ${name("x")},   m = ${square} = ${shown(m, 5)}`,
    line`= ${numbers} · ${name("x")} = ${strong(said.factor)} · ${name("x")}`,
  ];
}
