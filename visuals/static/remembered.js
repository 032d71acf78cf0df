// A choice that is kept in this browser.

/**
 * Where a browser refuses to keep anything (a page in a frame, a full disk), nothing is known.
 *
 * @param {string} key
 * @param {() => Storage} storage
 */
export function remembered(key, storage = () => localStorage) {
  return {
    /** @returns {string | null} what was kept last */
    get() {
      try {
        return storage().getItem(key);
      } catch {
        return null;
      }
    },
    /** @param {string} value */
    set(value) {
      try {
        storage().setItem(key, value);
      } catch {
        /* the page opens as for a new visitor */
      }
    },
  };
}
