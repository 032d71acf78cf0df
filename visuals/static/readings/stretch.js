// Tokens in a row that are asked for at once, so that the pointer finds them: all of a run where that is little.

/** Up to this many bytes. */
const BYTES = 400_000;

/**
 * The stretch of a run that a token lies in.
 *
 * @param {number} T tokens of the run
 * @param {number} bytes of one token
 * @param {number} token
 */
export function stretchOf(T, bytes, token) {
  const most = Math.max(1, Math.floor(BYTES / bytes));
  const first = Math.floor(Math.min(token, T - 1) / most) * most;
  return { first, count: Math.min(most, T - first) };
}
