// The tour's keys: Space and → go on, ← back, Escape leaves; not where a field, a button or a chart has its own use for
// them.

const OWN = [
  "input, textarea, select, canvas, [contenteditable]",
  "[role=listbox], [role=slider], [role=radiogroup], [role=application], dialog",
].join(", ");
const PRESSED = "button, a, summary, label";

/**
 * What a key does on a tour; null where it belongs to what has the focus.
 *
 * @param {KeyboardEvent} event
 * @returns {"next" | "back" | "leave" | null}
 */
export function wayOf({ key, target, ctrlKey, metaKey, altKey, shiftKey, defaultPrevented }) {
  const element = /** @type {Element | null} */ (target);
  if (defaultPrevented || ctrlKey || metaKey || altKey || shiftKey || element?.closest?.(OWN)) return null;
  if (key === " ") return element?.closest?.(PRESSED) ? null : "next";
  return { ArrowRight: "next", ArrowLeft: "back", Escape: "leave" }[key] ?? null;
}

/**
 * @param {() => boolean} open whether the tour is
 * @param {{ next: () => void; back: () => void; leave: () => void }} tour
 */
export function listenToTour(open, tour) {
  // Before the page's own keys, which move the selection.
  addEventListener(
    "keydown",
    (event) => {
      const way =
        open() && !document.fullscreenElement && !document.querySelector("dialog[open], body[data-lesson]")
          ? wayOf(event)
          : null;
      if (!way) return;
      event.preventDefault();
      event.stopPropagation();
      tour[way]();
    },
    true,
  );
}
