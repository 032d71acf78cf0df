// Who is told of an event of the page, by its name.

/** @typedef {(detail: any) => void} Listener what it is told of depends on the event */

/**
 * @returns {{
 *   on: (event: string, listener: Listener) => () => void;
 *   emit: (event: string, detail?: any) => void;
 * }}
 *   `on` gives the function that ends it
 */
export function createListeners() {
  /** @type {Map<string, Set<Listener>>} */
  const listeners = new Map();
  return {
    on(event, listener) {
      const told = listeners.get(event) ?? new Set();
      listeners.set(event, told.add(listener));
      return () => told.delete(listener);
    },
    emit: (event, detail) => listeners.get(event)?.forEach((listener) => listener(detail)),
  };
}
