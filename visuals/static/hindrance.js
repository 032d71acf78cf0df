// Why B − A cannot be drawn of two runs. Pure.

/** @typedef {import("./decode.js").Trace} Trace */

/** Parts whose exchange leaves a layer's tensors what and as large as they were: only their values change. */
const SAME_TENSORS = ["activation", "top_k"];

/** A run's exchanged parts that change what a layer's tensors are, in one order. @param {Trace} trace */
const shaping = ({ changes }) =>
  (changes?.parts ?? []).filter((part) => !SAME_TENSORS.includes(part.split(":")[0])).sort();

/**
 * Of two runs the exchanged parts that shape tensors and that one of them has alone.
 *
 * @param {{ A: Trace; B: Trace }} sides
 * @returns {{ A: string[]; B: string[] }}
 */
export function partsApart({ A, B }) {
  const [a, b] = [shaping(A), shaping(B)];
  return { A: a.filter((part) => !b.includes(part)), B: b.filter((part) => !a.includes(part)) };
}

/** What shapes a run's mask. @param {Trace} trace */
const masked = ({ model: { parts } }) => `${parts.prefix ?? 0} ${parts.window ?? 0}`;

/**
 * Why two runs cannot be subtracted position by position; null where they can. With another norm, position or
 * number of K/V heads a layer has other tensors, so that only what the two runs say can be laid side by side.
 *
 * @param {{ A: Trace; B: Trace }} sides
 * @returns {"models" | "masks" | "parts" | "lengths" | null}
 */
export function hindrance({ A, B }) {
  if (A.model.name !== B.model.name) return "models";
  if (masked(A) !== masked(B)) return "masks"; // a query sees other keys in each
  if (String(shaping(A)) !== String(shaping(B))) return "parts";
  return A.T === B.T ? null : "lengths";
}
