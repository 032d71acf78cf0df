// A box in a panel that one of its buttons opens and closes: so does Escape, which gives the focus back to the button.
// What opens further down than a reader sees is scrolled into view.

/** @type {{ element: HTMLElement; box: HTMLElement; close: () => void } | null} */
let last = null; // what was opened last
let listens = false;
const LOW = 0.7; // of the window: what begins further down is not seen to have opened

/** Before the page's own keys, which would let go of what is selected. */
function listen() {
  if (listens) return;
  listens = true;
  addEventListener(
    "keydown",
    (event) => {
      const { key, target, defaultPrevented } = event;
      if (key !== "Escape" || defaultPrevented || !last?.box.getClientRects().length) return;
      const within = last.element.contains(/** @type {Node | null} */ (target));
      if (target !== document.body && !within) return; // it is for something else
      event.preventDefault();
      event.stopImmediatePropagation();
      last.close();
    },
    true,
  );
}

/**
 * @param {HTMLElement} element the panel's section
 * @param {HTMLElement} box
 * @param {(act: () => void) => HTMLElement} button makes the button
 * @param {() => void} opened called whenever it was opened
 * @returns {HTMLElement} the button
 */
export function disclosed(element, box, button, opened) {
  /** @param {boolean} open */
  function show(open) {
    box.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
    if (!open) return;
    last = { element, box, close };
    opened();
    if (box.getBoundingClientRect().top > LOW * innerHeight)
      box.scrollIntoView({ block: "start", behavior: "instant" });
  }
  function close() {
    show(false);
    opener.focus({ preventScroll: true });
  }
  const opener = button(() => show(box.hidden));
  show(false);
  listen();
  return opener;
}
