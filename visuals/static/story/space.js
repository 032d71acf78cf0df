// Space goes on to the next scene, with Shift back to the one before, where nothing else takes the key.

const TAKES = "input, textarea, select, button, a, summary, [contenteditable], dialog";

/**
 * @param {() => boolean} isOpen whether the story is what is seen
 * @param {(by: 1 | -1) => boolean} step false: there is no scene that way, and the page scrolls as it does
 */
export function followSpace(isOpen, step) {
  addEventListener("keydown", (event) => {
    const { key, shiftKey, target, defaultPrevented, ctrlKey, metaKey, altKey } = event;
    if (key !== " " || defaultPrevented || ctrlKey || metaKey || altKey || !isOpen()) return;
    if (target instanceof Element && target.closest(TAKES)) return;
    if (step(shiftKey ? -1 : 1)) event.preventDefault();
  });
}
