// Which run is shown, and which of a network's two stacks; and a run that is kept as A, to compare with.

import { hindrance } from "./hindrance.js";
import { reactive } from "./reads.js";
import { endOf } from "./selection.js";

/**
 * @typedef {import("./decode.js").Trace} Trace
 *
 * @typedef {{ A: Trace; B: Trace }} Two A is the kept run, B the newest
 */

/**
 * What panels read of the runs to compare.
 *
 * @param {import("./store.js").State} state
 */
function createTwo(state) {
  /** @type {{ run: Trace | null }} the last run that came, which is shown unless a reader looks at A */
  const last = reactive({ run: null });

  /**
   * What panels read of a run.
   *
   * @param {Trace} run
   */
  const stackOf = (run) => (state.stack === "encoder" && run.encoder) || run;

  /** @returns {Two | null} the two runs to compare; null where there are not two */
  const runs = () => (state.kept && last.run && last.run !== state.kept ? { A: state.kept, B: last.run } : null);

  /** @returns {Two | null} what panels read of them */
  function sides() {
    const two = runs();
    return two && { A: stackOf(two.A), B: stackOf(two.B) };
  }

  /** Whether there are two runs, of one model, with one mask and the same parts: only then is there a B − A. */
  function subtractable() {
    const two = sides();
    const alike = two && !["models", "masks", "parts"].includes(hindrance(two) ?? "");
    return alike === true;
  }
  return { last, stackOf, runs, sides, subtractable };
}

/**
 * @param {import("./store.js").State} state
 * @param {ReturnType<typeof import("./selection.js").createSelection>} selection
 * @param {(event: string, detail: unknown) => void} changed called when another run is shown or kept
 */
export function createComparison(state, selection, changed) {
  const two = createTwo(state);
  const { last, stackOf, subtractable } = two;

  /**
   * Has panels read a run, or the stack of it that is chosen.
   *
   * @param {Trace} run
   * @param {import("./selection.js").Selection} place what is selected in it
   */
  function show(run, place = selection.place()) {
    state.run = run;
    state.trace = stackOf(run);
    selection.lockIn(place, state.trace);
    selection.endPreview();
    changed("run", run);
  }

  /**
   * Shows the run kept as A in every panel, or the newest, B, or what B has more than A: then positions, names and
   * the selection are B's.
   *
   * @param {"A" | "B" | "B-A"} side
   */
  function showSide(side) {
    const run = side === "A" ? state.kept : last.run;
    if (!run || (side === "B-A" && !subtractable())) return;
    state.side = side;
    show(run);
  }

  return {
    ...two,
    showSide,
    /**
     * Shows a run that has come. Who looks at the difference goes on with the new run's.
     *
     * @param {Trace} run
     * @param {import("./selection.js").Selection} place
     */
    showNew(run, place) {
      if (last.run) last.run.generating = false; // what is written goes on in the run that follows
      last.run = run;
      if (state.side === "A" || !subtractable()) state.side = "B";
      show(run, place);
    },
    /**
     * Has panels read the other stack of a network that has two, from the end of its text on.
     *
     * @param {"encoder" | "decoder"} stack
     */
    showStack(stack) {
      if (stack === state.stack) return;
      state.stack = stack;
      const trace = state.run && stackOf(state.run);
      if (!trace || trace === state.trace) return;
      state.trace = trace;
      selection.lockIn({ ...selection.place(), ...endOf(trace), neuron: null }, trace);
      selection.endPreview();
      changed("stack", trace);
    },
    /**
     * Keeps the shown run as A, to compare with; null lets go of it.
     *
     * @param {Trace | null} run
     */
    keep(run) {
      if (state.side === "B-A" || (!run && state.side === "A")) showSide("B");
      state.kept = run;
      changed("kept", run);
    },
    /**
     * Shows once more what was shown before: a run, the one kept as A beside it, and the side.
     *
     * @param {{ trace: Trace; kept: Trace | null; side: "A" | "B" | "B-A" }} shown
     */
    revive({ trace, kept, side }) {
      last.run = trace;
      state.kept = kept;
      state.side = side;
      changed("kept", kept);
      show(side === "A" && kept ? kept : trace);
    },
  };
}
