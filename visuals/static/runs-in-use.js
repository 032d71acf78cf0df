// Which runs panels show, and about which of them an answer is still wanted.

/**
 * @typedef {import("./decode.js").Trace} Trace
 * @param {import("./types.d.ts").Store} store
 */
export function createInUse({ state, sides, runs }) {
  /** The runs that panels show: one, or where they show a difference both. */
  function inUse() {
    if (!state.trace) return [];
    return state.side === "B-A" && state.kept ? [state.trace, sides()?.A ?? state.kept] : [state.trace];
  }

  /** @param {Trace} trace */
  const used = (trace) => inUse().includes(trace);

  /**
   * Whether an answer about a run is still wanted: of two runs that are compared both are, whichever is shown, and
   * of two stacks the whole.
   *
   * @param {Trace} trace
   */
  const wanted = (trace) =>
    used(trace) || trace === state.run || [sides(), runs()].some((two) => two?.A === trace || two?.B === trace);

  /** The runs in use, without a run kept as A of another model, whose layers are not the ones that are selected. */
  const comparable = () => inUse().filter(({ model }) => model.name === state.trace?.model.name);

  return { used, wanted, comparable };
}
