// A text that is being written: as far as it has come, and as far as it is shown. Knows no speed.

/**
 * @typedef {import("./types.d.ts").Store} Store
 *
 * @typedef {import("./types.d.ts").RunPayload} RunPayload
 *
 * @typedef {import("./messages.d.ts").StepMessage} StepMessage
 *
 * @typedef {ReturnType<typeof createDraft>} Draft
 */

/** @param {Pick<Store, "state" | "publish">} store */
export function createDraft({ state, publish }) {
  /** @type {StepMessage[]} */
  let coming = []; // every step that has come, as messages hold them
  /** @type {RunPayload | null} */
  let whole = null;
  /** @type {string | null} */
  let mine = null; // the id of the run that shows it

  /** The run that shows it; null while another is looked at. */
  const run = () => (mine !== null && state.run?.id === mine ? state.run : null);
  const shown = () => run()?.steps.length ?? 0;

  return {
    run,
    /** How many of its tokens are shown. */
    shown,
    /** How many have come. */
    count: () => coming.length,
    /** Those that have come and are not shown. */
    ahead: () => coming.slice(shown()),
    /** Those that have come, from one to another. */
    between: (/** @type {number} */ from, /** @type {number} */ to) => coming.slice(from, to),
    /** The message of the run of all that was written, once it is all. */
    whole: () => whole,
    /**
     * Shows a run of it.
     *
     * @param {RunPayload} message
     */
    show(message) {
      mine = message.id;
      publish(message);
    },
    /**
     * Shows further tokens.
     *
     * @param {StepMessage[]} steps
     */
    write(steps) {
      if (mine === null) return;
      for (const step of steps) publish({ kind: "step", run: mine, steps: [step] });
    },
    /**
     * Takes what has come of it. A message holds the last few steps, of which some are known.
     *
     * @param {StepMessage[]} steps
     */
    add(steps) {
      for (const step of steps) if (step.index === coming.length) coming.push(step);
    },
    /**
     * It has come to its end.
     *
     * @param {RunPayload} message
     */
    complete(message) {
      whole = message;
    },
    /** Lets go of it. */
    clear() {
      coming = [];
      whole = mine = null;
    },
  };
}
