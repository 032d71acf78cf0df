// Runs that are made of the shown one: with something changed, of all that was written, or once more.

import { textOf } from "./decode.js";

/**
 * @typedef {import("./decode.js").Trace} Trace
 *
 * @typedef {import("./types.d.ts").Server} Server
 *
 * @typedef {ReturnType<typeof import("./questions.js").createOnce>} Once
 */

const SECOND = 1000; // ms

/**
 * @param {import("./types.d.ts").Store} store
 * @param {Pick<Server, "change" | "rerun">} server
 * @param {Once} once
 */
export function createReruns(store, server, once) {
  const { state } = store;
  return {
    /**
     * Runs the shown tokens once more with these changes (app/comparing.py).
     *
     * @param {import("./messages.d.ts").Changes} changes
     */
    async change(changes) {
      const { run: trace, locked, kept } = state;
      if (!trace) return;
      const source = changes.patches?.length ? kept : null;
      await once(
        `${trace.id} change`,
        trace,
        () => server.change({ run: trace.id, changes, layer: locked.layer }),
        (payload) => {
          store.pin({ ...locked }, store.chosen());
          store.publish({ ...payload, source });
        },
      );
    },
    /**
     * Runs what was written when the connection broke, as far as it came.
     *
     * @param {Trace} trace
     */
    async whole(trace) {
      const { model, prompt, steps, changes } = trace;
      const { ids, n_prompt } = textOf(trace);
      const all = [...ids.slice(0, n_prompt), ...steps.map(({ id }) => id)];
      const request = { model: model.name, ids: all, prompt, n_prompt, layer: state.layer, changes };
      await once(`${trace.id} whole`, trace, () => server.rerun(request), store.publish);
    },
  };
}

/**
 * What is done where the server refuses a question: it may have let go of the run. Then the same tokens are run
 * again, and the selection is kept. Or others have their turn first: then the question waits for as long as is
 * said.
 *
 * @param {import("./types.d.ts").Store} store
 * @param {Pick<Server, "rerun">} server
 * @param {() => Once} once
 * @param {() => unknown} need fetches what the selection needs
 * @returns {(message: import("./types.d.ts").Refusal, trace: Trace) => Promise<boolean>} whether to ask again
 */
export function createRenewal(store, server, once, need) {
  const { state } = store;

  /**
   * A run that the server knows by another name now.
   *
   * @param {Trace} run
   * @param {import("./types.d.ts").RunPayload} payload
   */
  function renamed(run, payload) {
    run.id = payload.id;
    if (run.encoder && payload.encoder) run.encoder.id = payload.encoder.id;
    need();
  }

  return async function refused(message, trace) {
    if (message.code === "file_lacks") return false; // withheld.js says it where the answer would stand
    if (message.code !== "run_expired") {
      store.emit("message", message);
      if (message.code !== "budget") return false;
      await new Promise((done) => setTimeout(done, SECOND * Number(message.params.seconds)));
      store.emit("again", message);
      return true;
    }
    const run = trace.whole ?? trace;
    // While a text is written the server keeps the last run of it alone; the next one is on its way and asks anew.
    if (run.generating) return false;
    const { model, prompt, changes } = run;
    const request = { model: model.name, ...textOf(run), prompt, layer: state.layer, changes };
    await once()(
      `${run.id} rerun`,
      trace,
      () => server.rerun(request),
      (payload) => {
        if (run !== state.run) return renamed(run, payload); // the run kept as A: its numbers stay
        store.pin({ ...state.locked }, store.chosen());
        return store.publish({ ...payload, source: run.source });
      },
    );
    return false;
  };
}
