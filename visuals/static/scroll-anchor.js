// Holds the page where it was brought while what is drawn there still grows, until the reader does something.

const LONG = 3000; // ms; by then all has come
/** With these a reader does something. */
export const READER = ["wheel", "touchmove", "pointerdown", "keydown"];
/** @type {(() => void) | null} */
let end = null;

/**
 * @param {() => void} scroll brings the page there; called again whenever what grows has become another height
 * @param {Element | null} [grows] all panels unless told
 */
export function hold(scroll, grows = document.querySelector(".page-body")) {
  end?.();
  const grown = new ResizeObserver(scroll);
  const timer = setTimeout(() => end?.(), LONG);
  const reader = () => end?.();
  end = () => {
    end = null;
    grown.disconnect();
    clearTimeout(timer);
    for (const event of READER) removeEventListener(event, reader, true);
  };
  for (const event of READER) addEventListener(event, reader, { capture: true, passive: true });
  scroll();
  if (grows) grown.observe(grows);
}
