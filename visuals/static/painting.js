// When panels are drawn: all together, at most once an animation frame.

import { unfinished } from "./reads.js";

/**
 * Draws one panel where something that it read has changed, or in any case where the run is `fresh`. What it
 * returns is called when all have painted.
 *
 * @typedef {(fresh: boolean) => (() => void) | void} Painter
 */

/** @param {(fresh: boolean) => void} painted called when all have painted */
export function createPainting(painted) {
  /** @type {Set<Painter>} */
  const painters = new Set();
  let waiting = false; // a repaint is to come
  let done = false; // this animation frame has had its repaint
  let freshRun = false;

  function paintAll() {
    const fresh = freshRun;
    waiting = freshRun = false;
    done = true;
    requestAnimationFrame(() => {
      done = false;
    });
    // Text on a canvas makes the browser bring every style up to date: elements are changed when all canvases are
    // drawn.
    const rest = [...painters].map((paint) => paint(fresh));
    for (const change of rest) if (change) change();
    painted(fresh);
  }

  /**
   * Draws every panel, at most once an animation frame: right after the event that asks first, so that nobody waits
   * for a frame to begin, and what comes later in the same frame with the next one.
   *
   * @param {boolean} fresh the run changed, not only the selection
   */
  function repaint(fresh = false) {
    freshRun ||= fresh;
    if (waiting) return;
    waiting = true;
    if (done) requestAnimationFrame(paintAll);
    else queueMicrotask(paintAll);
  }

  return {
    repaint,
    /** Whether everything is drawn with what is here. */
    drawn: () => !waiting,
    /** For a drawing that is to go on in the next frame, and what it is a part of. */
    unfinished() {
      unfinished();
      repaint();
    },
    watch: (/** @type {Painter} */ paint) => painters.add(paint),
    unwatch: (/** @type {Painter} */ paint) => painters.delete(paint),
  };
}
