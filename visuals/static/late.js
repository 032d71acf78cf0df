// What nobody sees is drawn later than what is in view, so that this follows the reader at once.

export const PATIENCE = 80; // ms until it follows

let moved = -Infinity; // when the reader last moved something

/**
 * Hears of all that a reader moves: the pointer, a slider, a key that is held down.
 *
 * @param {EventTarget} page
 */
export function heedMoves(page) {
  const hear = () => {
    moved = performance.now();
  };
  for (const kind of ["pointermove", "input", "keydown"]) page.addEventListener(kind, hear, { capture: true });
}

/**
 * Work that waits. While the reader moves something, each call of `ask` begins the wait anew, so that the work is
 * done when they rest. Other calls leave a wait as it is: answers that arrive one upon the other never put the work
 * off.
 *
 * @param {() => void} work
 */
export function createWait(work) {
  let timer = 0;
  /** Ends the wait; gives whether there was one. */
  function stop() {
    const waited = timer !== 0;
    clearTimeout(timer);
    timer = 0;
    return waited;
  }
  function ask() {
    if (timer && performance.now() - moved > PATIENCE) return;
    stop();
    timer = setTimeout(work, PATIENCE);
  }
  return { ask, stop };
}
