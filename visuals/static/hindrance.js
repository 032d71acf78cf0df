// @ts-check
// Why B − A cannot be drawn of two runs. Pure.

/** @typedef {import("./decode.js").Trace} Trace */

/**
 * Why two runs cannot be subtracted position by position; null where they can. With other parts a layer has other
 * tensors, so that only what the two runs say can be laid side by side.
 *
 * @param {{ A: Trace; B: Trace }} sides
 * @returns {"models" | "masks" | "parts" | "lengths" | null}
 */
export function hindrance({ A, B }) {
  if (A.model.name !== B.model.name) return "models";
  if (A.model.parts.prefix !== B.model.parts.prefix) return "masks"; // a query sees other keys in each
  if (String(A.changes?.parts ?? []) !== String(B.changes?.parts ?? [])) return "parts";
  return A.T === B.T ? null : "lengths";
}
