// The scene that was pressed while it was not known yet whether this run has it.

/**
 * @param {() => number} moves how often the reader has moved, or pressed something
 * @param {(name: string) => void} goTo
 */
export function createWish(moves, goTo) {
  /** @type {{ name: string; since: number } | null} */
  let wish = null;
  /** Which scene is wished for, as long as the reader has done nothing else since. */
  const now = () => (wish?.since === moves() ? wish.name : null);
  return {
    now,
    /** @param {string | null} name */
    keep(name) {
      wish = name === null ? null : { name, since: moves() };
    },
    /**
     * Goes to the scene once it is there.
     *
     * @param {string[]} there the scenes by name
     */
    grant(there) {
      const name = now();
      if (name === null || !there.includes(name)) return;
      wish = null;
      queueMicrotask(() => goTo(name));
    },
  };
}
