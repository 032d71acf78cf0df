// What the parts of a model's weights are called (model/published/parameters.py's labels).

/** Parts of one kind share a name where they have none of their own. @param {object} glass @param {string} label */
export function weightName(glass, label) {
  const exact = glass.text(`kv-fit.w_${label.replace(/\./g, "_")}`);
  return exact.startsWith("kv-fit.") ? glass.text(`kv-fit.w_${label.split(".")[0]}`) : exact;
}
