// The token strip stays in view as one row, and the chapters below it: the page scrolls past the rest, and what is scrolled to
// stands below both.

const ROW = 48; // px; page.css lays the row out in it

/** The first part of the page below the strip that is shown. @param {HTMLElement} strip @returns {Element|null} */
function below(strip) {
  let one = strip.nextElementSibling;
  while (one && !one.getClientRects().length) one = one.nextElementSibling;
  return one;
}

/**
 * Of a strip that sticks (page.css says where it does) only its last ROW pixels could stay in view; once no more is left
 * there it becomes a row of that height, with a margin in the place of the rest, so that nothing on the page moves.
 * @param {HTMLElement} strip @param {() => void} turned called after it became a row, or stands in the page again
 */
export function keepInView(strip, turned) {
  let full = 0; // its height as it stands in the page
  const isSticky = (element) => getComputedStyle(element).position === "sticky";

  function look() {
    const [sticks, nav] = [isSticky(strip), strip.parentElement.querySelector(":scope > .page-nav")];
    const taken = (sticks ? ROW : 0) + (nav && isSticky(nav) ? nav.offsetHeight : 0);
    document.documentElement.style.scrollPaddingTop = taken ? `${taken + 8}px` : "";
    const was = strip.classList.contains("is-row");
    if (!was) full = strip.getBoundingClientRect().height;
    strip.style.setProperty("--strip-past", `${Math.max(0, full - ROW)}px`);
    const gap = parseFloat(getComputedStyle(strip.parentElement).rowGap) || 0;
    const now = sticks && full > ROW && (below(strip)?.getBoundingClientRect().top ?? Infinity) - gap <= ROW;
    if (now === was) return;
    strip.classList.toggle("is-row", now);
    turned();
  }
  addEventListener("scroll", look, { passive: true });
  addEventListener("resize", look);
  new ResizeObserver(look).observe(strip);
  new MutationObserver(look).observe(document.body, { attributes: true, attributeFilter: ["data-chapter", "data-tour", "data-lesson"] });
}
