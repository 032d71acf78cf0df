// What a reader (readings/reading.js) needs of a run: looked up in the store, and asked for where it is not here.

/**
 * @template {import("./readings/reading.js").Reading<any>} Read
 * @param {import("./types.d.ts").Glass} glass
 * @param {import("./readings/reading.js").Reader<Read>} reader
 * @param {import("./decode.js").Trace} trace
 * @param {Read["selection"]} selection
 * @returns {import("./readings/reading.js").Run | null} null until all of it is here
 */
function runFor(glass, { layer, needs }, trace, selection) {
  const held = layer ? (trace.layers.get(selection.layer) ?? null) : undefined;
  const details = {};
  for (const [name, [what, params]] of Object.entries(needs?.(trace, selection) ?? {}))
    details[name] = glass.detail(/** @type {keyof import("./messages.d.ts").Details} */ (what), params, trace);
  return held !== null && Object.values(details).every(Boolean) ? { trace, held, details } : null;
}

/**
 * What is read of the run that is shown, at the first of these selections for which all is here: what the pointer
 * is on, say, and else what is locked.
 *
 * @template {import("./readings/reading.js").Reading<any>} Read
 * @param {import("./types.d.ts").Glass} glass
 * @param {import("./readings/reading.js").Reader<Read>} reader
 * @param {...Read["selection"]} selections
 * @returns {Read | null}
 */
export function readHere(glass, reader, ...selections) {
  for (const selection of selections) {
    const run = runFor(glass, reader, glass.state.trace, selection);
    if (run) return reader.read(run, selection);
  }
  return null;
}
