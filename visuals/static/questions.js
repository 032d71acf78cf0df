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
 * The server with its questions counted: `count()` of them have no answer yet.
 *
 * @template {Record<string, Ask>} Functions
 * @param {Functions} functions
 * @returns {{ server: Functions; count: () => number }}
 */
export function counted(functions) {
  let open = 0;
  /** @type {(ask: Ask) => Ask} */
  const counting = (ask) => (request) => {
    open += 1;
    return ask(request).finally(() => {
      open -= 1;
    });
  };
  const server = Object.fromEntries(Object.entries(functions).map(([name, ask]) => [name, counting(ask)]));
  return { server: /** @type {Functions} */ (server), count: () => open };
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

  /**
   * Asks once for each name; resolves to whether the answer was used. What a run that is gone asked for is dropped.
   *
   * @template Payload
   * @param {string} name
   * @param {Trace} trace
   * @param {() => Promise<Payload | Refusal>} ask
   * @param {(payload: Exclude<Payload, Refusal>) => unknown} use
   * @returns {Promise<boolean>}
   */
  return function once(name, trace, ask, use) {
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
    const before = asked.get(name);
    if (before) return before;
    const coming = answered()
      .catch(failed)
      .finally(() => asked.delete(name));
    asked.set(name, coming);
    return coming;
  };
}
