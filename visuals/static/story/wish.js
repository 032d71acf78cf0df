// The scene that was pressed while it was not known yet whether this run has it.

const WAITS = 8000; // ms: so long it is still what the reader wants

/**
 * @param {() => number} moves how often the reader has moved, or pressed something
 * @param {(name: string) => void} goTo
 */
export function createWish(moves, goTo) {
  /** @type {{ name: string; since: number; until: number } | null} */
  let wish = null;
  return {
    /** @param {string | null} name */
    keep(name) {
      wish = name === null ? null : { name, since: moves(), until: performance.now() + WAITS };
    },
    /**
     * Goes to the scene once it is there, where the reader has done nothing else meanwhile.
     *
     * @param {string[]} there the scenes by name
     */
    grant(there) {
      if (!wish || !there.includes(wish.name)) return;
      const { name, since, until } = wish;
      wish = null;
      if (since === moves() && performance.now() < until) queueMicrotask(() => goTo(name));
    },
  };
}
