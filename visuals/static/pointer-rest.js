// Nothing moves from under the pointer. What it previews changes the texts of the panels: if one became shorter, what
// stands below would move up, lie under another point, change the text again, and tremble under a hand that rests.

/** @type {Map<HTMLElement, { width: number; height: number }>} */
const parts = new Map();
let pointing = false; // the pointer has come to the panels, and nothing has been pressed or run since

/**
 * @param {HTMLElement} element
 * @param {{ height: number }} size
 */
const hold = (element, { height }) => {
  element.style.minHeight = `${height}px`;
};

const sizes = new ResizeObserver((entries) => {
  for (const entry of entries) {
    const target = /** @type {HTMLElement} */ (entry.target);
    const [{ inlineSize: width, blockSize: height }] = entry.borderBoxSize;
    const part = parts.get(target);
    if (!part) continue;
    if (width !== part.width) {
      target.style.minHeight = ""; // other lines: the old height says nothing
      pointing = false; // the pointer's next move holds the new ones
    } else if (pointing && height > part.height) hold(target, { height });
    Object.assign(part, { width, height });
  }
});

/**
 * Lets a part grow, but not shrink, while the pointer is on the panels.
 *
 * @param {...HTMLElement} elements
 */
export function still(...elements) {
  for (const element of elements) {
    element.style.boxSizing = "border-box";
    parts.set(element, { width: 0, height: 0 });
    sizes.observe(element, { box: "border-box" });
  }
}

function release() {
  pointing = false;
  for (const element of parts.keys()) {
    element.style.minHeight = "";
    if (element.isConnected) continue;
    sizes.unobserve(element);
    parts.delete(element);
  }
}

const PANELS = "section.glass-panel";
const PRESSED = "button, a, label, summary, input, select, textarea";
const SLIDER = "input[type=range]"; // the hand is still on it

/**
 * Holds from when the pointer comes to a panel until it leaves the page, a control other than a slider or a key is
 * pressed, or a run comes.
 *
 * @param {Pick<import("./types.d.ts").Store, "on">} store
 */
export function listenToPointer(store) {
  document.addEventListener("pointermove", ({ target, pointerType }) => {
    if (pointing || pointerType === "touch" || !(target instanceof Element) || !target.closest(PANELS)) return;
    pointing = true;
    for (const [element, part] of parts) if (part.height) hold(element, part);
  });
  document.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest(PRESSED) && !target.matches(SLIDER)) release();
  });
  document.addEventListener("keydown", release);
  document.documentElement.addEventListener("pointerleave", release);
  store.on("painted", (fresh) => {
    if (fresh) release();
  });
}
