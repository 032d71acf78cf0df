// How long a lesson has been presented, and its view. Knows no page.

/** @param {() => number} now in ms */
export function createTiming(now) {
  let began = now();
  let entered = began;
  return {
    /** The lesson begins, or its time is counted anew. */
    begin() {
      began = entered = now();
    },
    /** Another view is shown. */
    enter() {
      entered = now();
    },
    /** Seconds since the lesson began, and since its view is shown. */
    elapsed: () => ({ lesson: Math.floor((now() - began) / 1000), view: Math.floor((now() - entered) / 1000) }),
  };
}

/**
 * Seconds as minutes and seconds, such as "12:05".
 *
 * @param {number} seconds
 */
export const clockOf = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
