// How a panel follows the pointer, the keyboard, its own width, and whether it is in view.

import { setZoom } from "./draw.js";
import { createWait } from "./late.js";
import { computed, Reads } from "./reads.js";

/**
 * @typedef {import("./types.d.ts").Glass} Glass
 *
 * @typedef {import("./painting.js").Painter} Painter
 *
 * @typedef {import("./selection.js").Selection} Selection
 *
 * @typedef {"layer" | "head" | "query" | "key" | "pair"} Place a part of the selection in which arrow keys lead on
 *
 * @typedef {Record<Place, number> & { neuron: number | null; trace: import("./decode.js").Trace }} From where a
 *   reader is
 *
 * @typedef {(at: From) => Partial<Selection> | null} Move the selection change that a key stands for; null for none
 */

/**
 * Full screen is for a hall: what is drawn grows with the text.
 *
 * @param {Element} element
 */
const zoomOf = (element) => (document.fullscreenElement?.closest("section.glass-panel")?.contains(element) ? 1.4 : 1);

/**
 * Where in an element the pointer is, in the element's own pixels, however large the browser shows it.
 *
 * @param {PointerEvent | MouseEvent} event
 * @param {HTMLElement} element
 */
export function placeIn({ clientX, clientY }, element) {
  const { left, top, width } = element.getBoundingClientRect();
  const size = width / element.offsetWidth || 1;
  return { x: (clientX - left) / size, y: (clientY - top) / size };
}

/**
 * What a side of an element is in pixels to draw in, without making the browser lay the page out.
 *
 * @param {ResizeObserverOptions} options
 * @param {(entry: ResizeObserverEntry) => number} seenIn
 * @param {(element: HTMLElement) => number} atFirst
 */
const sideOf = (options, seenIn, atFirst) => {
  /** @type {(element: HTMLElement, glass: Pick<Glass, "repaint">) => () => number} */
  const follow = (element, glass) => {
    let long = 0;
    const seen = new ResizeObserver(([entry]) => {
      const now = Math.floor(seenIn(entry));
      const changed = now !== long;
      long = now;
      if (changed) glass.repaint();
    });
    seen.observe(element, options);
    return computed(() => (long || (long = atFirst(element))) / zoomOf(element));
  };
  return follow;
};
/** The inner width of an element, which what is drawn in it follows. */
export const widthOf = sideOf(
  {},
  ({ contentRect }) => contentRect.width,
  ({ clientWidth }) => clientWidth,
);
/** The height of an element with its padding: another where its lines have moved. */
export const heightOf = sideOf(
  { box: "border-box" },
  ({ borderBoxSize: [{ blockSize }] }) => blockSize,
  ({ offsetHeight }) => offsetHeight,
);

/**
 * Calls `told` with whether an element is in view, first as it is and then at each change.
 *
 * @param {Element} element
 * @param {(near: boolean) => void} told
 * @param {IntersectionObserverInit} [init] how far beyond the window it still is
 */
export function followView(element, told, init) {
  // A busy browser tells several changes at once, the last of which holds.
  new IntersectionObserver((changes) => told(changes[changes.length - 1].isIntersecting), init).observe(element);
}

/** An event of a section: what it let wait is to be drawn now, if it is still to be drawn at all. */
export const DUE = "glass-due";

/**
 * Draws a panel where something that it read has changed (reads.js), and lets one that nobody sees wait, so that
 * what is in view follows the pointer at once. A new run draws all.
 *
 * @param {HTMLElement} element
 * @param {Painter} drawPlain
 * @param {string} [side] "B-A" for what difference/face.js draws: each of the two waits only while it is the one
 *   that is shown
 * @returns {Painter}
 */
export function inView(element, drawPlain, side) {
  const reads = new Reads();
  /** @type {Painter} */
  const draw = (fresh) => {
    setZoom(zoomOf(element));
    try {
      return side ? drawPlain(fresh) : reads.redraw(drawPlain, fresh);
    } finally {
      setZoom(1);
    }
  };
  let near = true;
  let due = false;
  const wait = createWait(catchUp);
  function catchUp() {
    const current = (element.dataset.side === "B-A") === (side === "B-A");
    // a panel of another chapter has no size to draw in
    due = wait.stop() && current && element.getClientRects().length > 0;
    if (due) element.dispatchEvent(new Event(DUE));
    due = false;
  }
  followView(element, (now) => {
    near = now;
    if (near) catchUp();
  });
  return (fresh) => {
    if (near || fresh || due) {
      wait.stop();
      return draw(fresh);
    }
    wait.ask();
    return undefined;
  };
}

/**
 * As `inView`, of what is drawn in a width, which it is told: nothing is drawn while there is none.
 *
 * @param {HTMLElement} element
 * @param {() => number} wide as `widthOf` gives it
 * @param {(width: number, fresh: boolean) => (() => void) | void} draw
 */
export const inWidth = (element, wide, draw) =>
  inView(element, (fresh) => {
    const width = wide();
    return width === 0 ? undefined : draw(width, fresh);
  });

const HOLD = 300; // ms that a finger rests before it slides from mark to mark in place of scrolling

/**
 * Lets a finger that has rested slide over marks that are smaller than it: what it is over is previewed, and the
 * last of it locked where the finger is lifted. A click that follows is dropped: to the browser a short slide is a
 * tap on where it began.
 *
 * @param {HTMLElement} canvas
 * @param {Pick<Glass, "preview" | "endPreview" | "select">} glass
 * @param {(event: PointerEvent) => Partial<Selection> | null} at
 */
function bindFinger(canvas, glass, at) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let isSliding = false;
  let hasSlid = false; // in the touch that was last
  /** @type {Partial<Selection> | null} what is previewed: a finger between two marks still shows the one it left */
  let shown = null;
  const end = () => {
    clearTimeout(timer);
    if (isSliding) glass.endPreview();
    isSliding = false;
    shown = null;
  };
  const show = (/** @type {PointerEvent} */ event) => {
    shown = at(event) ?? shown;
    if (shown) glass.preview(shown);
  };
  canvas.addEventListener("pointerdown", (event) => {
    end();
    hasSlid = false;
    if (event.pointerType !== "touch") return;
    timer = setTimeout(() => {
      isSliding = hasSlid = true;
      show(event);
    }, HOLD);
  });
  canvas.addEventListener("pointermove", (event) => isSliding && show(event));
  canvas.addEventListener("pointerup", (event) => {
    const change = isSliding && (at(event) ?? shown);
    end();
    if (change) glass.select(change);
  });
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("click", (event) => hasSlid && event.stopImmediatePropagation(), { capture: true });
  canvas.addEventListener("touchmove", (event) => isSliding && event.preventDefault(), { passive: false });
}

/**
 * Wires a canvas: `find(x, y)` gives the selection change there, or null. Hovering previews it, a click locks it.
 *
 * @param {HTMLElement} canvas
 * @param {Pick<Glass, "state" | "preview" | "endPreview" | "select">} glass
 * @param {(x: number, y: number) => Partial<Selection> | null} find
 */
export function bindPointer(canvas, glass, find) {
  /** @param {PointerEvent | MouseEvent} event */
  const at = (event) => {
    const { x, y } = placeIn(event, canvas);
    const zoom = zoomOf(canvas);
    return glass.state.trace && find(x / zoom, y / zoom);
  };
  bindFinger(canvas, glass, at);
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    const change = at(event);
    canvas.style.cursor = change ? "pointer" : "default";
    if (change) glass.preview(change);
    else glass.endPreview();
  });
  canvas.addEventListener("pointerleave", () => glass.endPreview());
  canvas.addEventListener("click", (event) => {
    const change = at(event);
    if (change) glass.select(change);
  });
}

/**
 * What two arrow keys do to a part of the selection, for bindArrowKeys; the store keeps it inside the run.
 *
 * @param {Place} name
 * @returns {Record<"ArrowLeft" | "ArrowRight", Move>}
 */
export const across = (name) => ({
  ArrowLeft: (at) => ({ [name]: at[name] - 1 }),
  ArrowRight: (at) => ({ [name]: at[name] + 1 }),
});
/**
 * @param {Place} name
 * @param {1 | -1} up what the upper one adds
 * @returns {Record<"ArrowUp" | "ArrowDown", Move>}
 */
export const upright = (name, up) => ({
  ArrowUp: (at) => ({ [name]: at[name] + up }),
  ArrowDown: (at) => ({ [name]: at[name] - up }),
});
/**
 * The same through the places 0 … count − 1 of what is no part of the selection.
 *
 * @param {() => number} count 0 while there is none
 * @param {() => number} chosen
 * @param {(place: number) => Partial<Selection> | null} choose the selection change
 */
export function along(count, chosen, choose) {
  const move = (/** @type {number} */ by) => () =>
    count() ? choose(Math.max(0, Math.min(count() - 1, chosen() + by))) : null;
  return { ArrowLeft: move(-1), ArrowRight: move(1) };
}
/** On a map of queries × keys. */
export const OVER_CELLS = { ...across("key"), ...upright("query", -1) };

/**
 * Arrow keys on a focused canvas: `moves` names a selection change for each key.
 *
 * @param {HTMLElement} canvas
 * @param {Pick<Glass, "state" | "select">} glass
 * @param {Record<string, Move>} moves
 */
export function bindArrowKeys(canvas, glass, moves) {
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  canvas.addEventListener("keydown", (event) => {
    const change =
      glass.state.trace &&
      moves[event.key]?.({
        ...glass.state.locked,
        pair: glass.state.locked.pair ?? glass.state.pair,
        trace: glass.state.trace,
      });
    if (!change) return;
    event.preventDefault();
    glass.select(change);
  });
}
