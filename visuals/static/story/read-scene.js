// Which scene of a story is read as the page scrolls.

const [LINE, BROAD] = [40, 5]; // % of the window: where the line is at which a scene is read, and how broad
const [NEAR, SETTLES] = [48, 500]; // px of the page's end, and ms until what a scroll has passed is told of
const READER = ["wheel", "touchmove", "pointerdown", "keydown"]; // with these a reader scrolls

/** @param {HTMLElement} element */
const topOf = (element) => element.getBoundingClientRect().top;

/**
 * Follows which scene is read as the page scrolls: that at the line; at the page's end the last one, to which the
 * line may not come, also once its answer has made it longer.
 *
 * @param {HTMLElement} column
 * @param {HTMLElement} foot
 * @param {() => { name: string; element: HTMLElement }[]} there
 * @param {(name: string) => void} tell
 * @param {() => void} moved the reader has moved, or pressed something
 */
export function followReader(column, foot, there, tell, moved) {
  /** @type {Set<Element>} */
  const atLine = new Set(); // two of them, where the line is broad
  /** @type {HTMLElement | null} */
  let brought = null; // a scene that is read wherever it comes to stand, until the reader scrolls
  let end = NaN; // where the column stands at the page's end
  const isAtEnd = () => Math.abs(topOf(column) - end) < NEAR;
  /** Whether no scene has come to the line yet, as at the head of the page, also of one that is short at first. */
  const isBefore = () => there().every(({ element }) => topOf(element) > (LINE / 100) * innerHeight);
  function look() {
    if (brought) return;
    const all = there();
    const one = isAtEnd() ? all.at(-1) : all.find(({ element }) => atLine.has(element));
    if (one) tell(one.name);
    else if (all.length && isBefore()) tell(all[0].name);
  }
  const lines = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries)
        if (isIntersecting) atLine.add(target);
        else atLine.delete(target);
      look();
    },
    { rootMargin: `-${LINE - BROAD}% 0% -${100 - LINE}% 0%` },
  );
  const ends = new IntersectionObserver(
    ([{ intersectionRatio: seen }]) => {
      if (seen > 0.8 && !isBefore()) end = topOf(column);
      else if (!seen && !isAtEnd()) end = NaN;
      look();
    },
    { threshold: [0, 0.9] },
  );
  ends.observe(foot);
  const free = () => {
    brought = null;
  };
  let moves = 0;
  const move = () => {
    moves++;
    free();
    moved();
  };
  for (const event of READER) addEventListener(event, move, { capture: true, passive: true });
  // a scroll bar and the browser's search tell of nothing else
  function settle() {
    const was = brought;
    free();
    const { bottom = 0, top = 0 } = was?.getBoundingClientRect() ?? {};
    if (was && (bottom < 0 || top > innerHeight)) look();
  }
  let settling = 0;
  const scrolled = () => {
    clearTimeout(settling);
    settling = setTimeout(settle, SETTLES);
  };
  addEventListener("scrollend", scrolled, true);
  return {
    follow: (/** @type {Element} */ scene) => lines.observe(scene),
    bring(/** @type {HTMLElement} */ scene) {
      clearTimeout(settling);
      brought = scene;
    },
    /** How often the reader has moved, or pressed something. */
    moves: () => moves,
  };
}
