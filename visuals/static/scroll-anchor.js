// Holds the page where it was brought while what is drawn there still grows, until the reader does something.

const LONG = 3000; // ms after which all has come, unless more is under way
const UNDER_WAY = "body[data-status=running], [data-fetching]"; // a run, or a panel that is fetched
/** With these a reader does something. */
export const READER = ["wheel", "touchmove", "pointerdown", "keydown"];
/** @type {(() => void) | null} */
let end = null;

/**
 * Until the reader acts, or all has come.
 *
 * @param {() => void} scroll brings the page there; called again whenever what grows has become another height
 * @param {Element | null} [grows] all panels unless told
 */
export function hold(scroll, grows = document.querySelector(".page-body")) {
  end?.();
  const grown = new ResizeObserver(scroll);
  function look() {
    if (document.querySelector(UNDER_WAY)) timer = setTimeout(look, LONG);
    else end?.();
  }
  let timer = setTimeout(look, LONG);
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
