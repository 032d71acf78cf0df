// Which of the norms is looked at: "attn" or "ffn" of the selected layer, or "final". One choice for all panels.

export const NORMS = ["attn", "ffn", "final"];

/** @returns {"attn"|"ffn"|"final"} */
export function chosenNorm(glass) {
  const { which } = glass.settings.get("norm");
  return NORMS.includes(which) ? which : "attn";
}

/** Changes settings of the RMSNorm panels and keeps the others; every panel is drawn anew. */
export function setNorm(glass, change) {
  const { which, ...others } = { ...glass.settings.get("norm"), ...change };
  glass.settings.set("norm", { ...others, which: which === NORMS[0] ? "" : which });
  glass.repaint();
}
