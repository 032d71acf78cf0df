// What a reader (readings/reading.js) needs of a run: looked up in the store, and asked for where it is not here.

/**
 * The state as panels read it: they are drawn, and pointed at, only while there is a run (glass.js).
 *
 * @param {Pick<import("./types.d.ts").Glass, "state">} glass
 */
export const shownIn = ({ state }) => /** @type {import("./types.d.ts").Shown} */ (state);

/**
 * What the server answers to questions about a run, by their names: asked for where it is not here, and null until
 * it is.
 *
 * @param {Pick<import("./types.d.ts").Glass, "detail">} glass
 * @param {import("./decode.js").Trace} trace
 * @param {import("./readings/reading.js").Questions} [questions]
 */
export const answersTo = (glass, trace, questions = {}) =>
  Object.fromEntries(
    Object.entries(questions).map(([name, [what, params]]) => [name, glass.detail(what, params, trace)]),
  );

/**
 * @template {import("./readings/reading.js").AnswerReading & { selection: any }} Read
 * @template Asked
 * @param {import("./types.d.ts").Glass} glass
 * @param {import("./readings/reading.js").Reader<Read, Asked>} reader
 * @param {import("./decode.js").Trace} trace
 * @param {Asked} selection
 * @returns {import("./readings/reading.js").Run | null} null until all of it is here
 */
function runFor(glass, { layer, neurons, needs, later }, trace, selection) {
  // where a reader needs a layer, it names one; where it needs its neurons, a token
  const { layer: at, query } = /** @type {{ layer: number; query: number }} */ (selection);
  const held = layer ? (trace.layers.get(at) ?? null) : undefined;
  /** @type {(...asked: import("./readings/reading.js").Question) => unknown} */
  const answered = (what, params) => glass.detail(what, params, trace);
  const [needed, more] = [needs, later].map((asks) => answersTo(glass, trace, asks?.(trace, selection, answered)));
  const complete = held !== null && (!neurons || held?.neurons.has(query));
  const here = complete && Object.values(needed).every(Boolean);
  return here ? { trace, held, details: { ...needed, ...more } } : null;
}

/**
 * What is read of two runs.
 *
 * @template {import("./readings/reading.js").AnswerReading} Read
 * @template Asked
 * @param {import("./types.d.ts").Glass} glass
 * @param {import("./readings/reading.js").PairReader<Read, Asked>} reader
 * @param {import("./readings/reading.js").Sides} sides
 * @param {Asked} selection
 * @returns {Read | null} null until all that it needs is here
 */
export function readBeside(glass, { layer, needs, later, read }, sides, selection) {
  const [needed, more] = [needs?.(sides, selection) ?? {}, later?.(sides, selection) ?? {}];
  // where a reader reads a layer, it names that of each
  const at = /** @type {Record<"A" | "B", { layer: number }>} */ (selection);
  let here = true;
  /** @param {"A" | "B"} side */
  function runOf(side) {
    const trace = sides[side];
    const [first, rest] = [needed, more].map((questions) => answersTo(glass, trace, questions[side]));
    const held = layer ? glass.layerOf(trace, at[side].layer) : undefined;
    here &&= Object.values(first).every(Boolean) && (layer !== "needed" || held !== null);
    return { trace, held, details: { ...first, ...rest } };
  }
  const runs = { A: runOf("A"), B: runOf("B") };
  return here ? read(runs, selection) : null;
}

/**
 * What is read of the run that is shown, at the first of these selections for which all is here: what the pointer
 * is on, say, and else what is locked.
 *
 * @template {import("./readings/reading.js").AnswerReading & { selection: any }} Read
 * @template Asked
 * @param {import("./types.d.ts").Glass} glass
 * @param {import("./readings/reading.js").Reader<Read, Asked>} reader
 * @param {...Asked} selections
 * @returns {Read | null}
 */
export function readHere(glass, reader, ...selections) {
  const { trace } = glass.state;
  for (const selection of selections) {
    const run = trace && runFor(glass, reader, trace, selection);
    if (run) return reader.read(run, selection);
  }
  return null;
}
