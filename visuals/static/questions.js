// Questions to the server: counted while they have no answer, and asked once though several want to know.

import { LOST } from "./unanswered.js";

/**
 * @typedef {import("./decode.js").Trace} Trace
 *
 * @typedef {import("./types.d.ts").Refusal} Refusal
 *
 * @typedef {(request: any) => Promise<any>} Ask
 */

/**
 * The server with its questions counted: `count()` of them have no answer yet. `quiet(most)` resolves when all have
 * one, or after so many milliseconds.
 *
 * @template {Record<string, Ask>} Functions
 * @param {Functions} functions
 * @returns {{ server: Functions; count: () => number; quiet: (most: number) => Promise<void> }}
 */
export function counted(functions) {
  let open = 0;
  /** @type {Set<() => void>} */
  const waiting = new Set();
  /** @type {(ask: Ask) => Ask} */
  const counting = (ask) => (request) => {
    open += 1;
    return ask(request).finally(() => {
      open -= 1;
      if (open) return;
      for (const done of waiting) done();
      waiting.clear();
    });
  };
  const server = Object.fromEntries(Object.entries(functions).map(([name, ask]) => [name, counting(ask)]));
  /** @param {number} most */
  const quiet = (most) =>
    new Promise((/** @type {(nothing?: undefined) => void} */ resolve) => {
      if (!open) return resolve();
      waiting.add(resolve);
      setTimeout(resolve, most);
    });
  return { server: /** @type {Functions} */ (server), count: () => open, quiet };
}

/**
 * @param {import("./types.d.ts").Store} store
 * @param {(trace: Trace) => boolean} wanted whether an answer about a run is still wanted
 * @param {(message: Refusal, trace: Trace) => Promise<boolean>} refused what is done in place of a refused
 *   question; whether it is then asked again
 */
export function createOnce(store, wanted, refused) {
  /** @type {Map<string, Promise<boolean>>} */
  const asked = new Map();
  /** @type {WeakMap<Trace, Set<string>>} what was asked ahead of a run and failed */
  let failedAhead = new WeakMap();

  /**
   * Asks once for each name; resolves to whether the answer was used. What a run that is gone asked for is dropped.
   * What is asked ahead and fails is not asked ahead again of the same run.
   *
   * @template Payload
   * @param {string | string[]} given the name; several where one answer is that to each
   * @param {Trace} trace
   * @param {() => Promise<Payload | Refusal>} ask
   * @param {(payload: Exclude<Payload, Refusal>) => unknown} use
   * @param {boolean} [ahead] before anyone looks at it
   * @returns {Promise<boolean>}
   */
  function once(given, trace, ask, use, ahead = false) {
    const names = [given].flat();
    /** @returns {Promise<boolean>} */
    async function answered() {
      const payload = /** @type {(Payload & { kind: unknown }) | Refusal} */ (await ask());
      if (!wanted(trace)) return false;
      if (payload.kind === "message")
        return (await refused(/** @type {Refusal} */ (payload), trace)) && wanted(trace) ? answered() : false;
      use(/** @type {Exclude<Payload, Refusal>} */ (payload));
      store.repaint();
      return true;
    }
    const failed = () => {
      if (wanted(trace)) store.emit("message", LOST);
      return false;
    };
    const before = comingOf(names[0], trace, ahead);
    if (before) return before;
    const coming = answered()
      .catch(failed)
      .then((came) => {
        if (!came && ahead && wanted(trace))
          failedAhead.set(trace, new Set([...(failedAhead.get(trace) ?? []), ...names]));
        return came;
      })
      .finally(() => names.forEach((name) => asked.delete(name)));
    for (const name of names) asked.set(name, coming);
    return coming;
  }
  /**
   * What is on its way under a name; of what is not asked ahead again, that it does not come; else undefined.
   *
   * @param {string} name
   * @param {Trace} trace
   * @param {boolean} ahead
   */
  function comingOf(name, trace, ahead) {
    return asked.get(name) ?? (ahead && failedAhead.get(trace)?.has(name) ? Promise.resolve(false) : undefined);
  }
  return Object.assign(once, {
    comingOf,
    /** The server is back: what failed may be asked ahead again. */
    forgive() {
      failedAhead = new WeakMap();
    },
  });
}
