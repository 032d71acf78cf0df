// What is taller than the screen is read a screenful at a time.

const MORE = 0.8; // of a screen, at once
const REST = 0.15; // of a screen: so little more is read with it
const NEAR = 8; // px beyond the screen that nobody misses

/**
 * How far to scroll on, or back, to read more of an element: px of the screen, at most to where it ends; 0 where
 * all of it has been seen.
 *
 * @param {Element | undefined} element
 * @param {1 | -1} by
 */
export function unreadOf(element, by) {
  const box = element?.getBoundingClientRect();
  const beyond = box ? (by > 0 ? box.bottom - innerHeight : -box.top) : 0;
  if (beyond <= NEAR) return 0;
  return by * (beyond <= (MORE + REST) * innerHeight ? beyond : MORE * innerHeight);
}
