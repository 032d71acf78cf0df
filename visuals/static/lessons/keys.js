// The keys of a presentation. Presenters' remote controls send PageDown and PageUp, and F5 from their button "start".

const TYPING = "input, textarea, select, [contenteditable]";
/** Fields that use the keys that move or press, and no letters. */
const SET = "input:is([type=range], [type=checkbox], [type=radio])";
/** A remote control cannot be told to press elsewhere: its keys are the lesson's wherever the focus is. */
const REMOTE = new Set(["PageDown", "PageUp", "F5"]);
const OWN = new Map([
  ["PageDown", "next"],
  ["PageUp", "back"],
  ["Home", "first"],
  ["End", "last"],
  ["n", "notes"],
  ["r", "reveal"],
  ["a", "add"],
  ["f", "full"],
  ["F5", "full"],
  ["ArrowDown", "down"],
  ["ArrowUp", "up"],
  [".", "dark"], // as slide programs have it: a remote control's button for a black screen sends one of both
  ["b", "dark"],
  ["?", "help"],
]);
const IN_PANEL = new Set(["ArrowDown", "ArrowUp"]); // these move the selection where a drawing or a table has the focus
const STEERED = "section.glass-panel :is(canvas, svg, table, [role=grid])";

/** What has its own use for Space, arrows and Escape; and where Space presses. */
const USES = [
  "input, textarea, select, canvas, [contenteditable]",
  "[role=listbox], [role=slider], [role=radiogroup], [role=application], dialog",
].join(", ");
const PRESSED = "button, a, summary, label";

/**
 * Space and → go on, ← back, Escape closes what is open, else the lesson; Space with Shift goes back, too.
 *
 * @param {string} key
 * @param {(selector: string) => boolean} within
 */
function wayOf(key, within) {
  if (within(USES)) return null;
  if (key === " ") return within(PRESSED) ? null : "next";
  return { ArrowRight: "next", ArrowLeft: "back", Escape: "close" }[key] ?? null;
}

/**
 * Whether a key is pressed together with another that makes it no key of a lesson's.
 *
 * @param {KeyboardEvent} event
 */
const isCombined = ({ key, ctrlKey, metaKey, altKey, shiftKey }) =>
  ctrlKey || metaKey || altKey || (shiftKey && !["F5", "?", " "].includes(key));

/**
 * What a key does while a lesson is presented; null where it belongs to what has the focus.
 *
 * @param {KeyboardEvent} event
 * @returns {string | null}
 */
export function actOf(event) {
  const { key, target, shiftKey, defaultPrevented } = event;
  const within = (/** @type {string} */ selector) =>
    Boolean(/** @type {Element | null} */ (target)?.closest?.(selector));
  if (key === "Escape" && within(TYPING)) return "out";
  if (defaultPrevented || isCombined(event)) return null;
  const act = OWN.get(key.length === 1 ? key.toLowerCase() : key);
  if (REMOTE.has(key)) return act ?? null;
  if (within(TYPING)) return act && key.length === 1 && within(SET) ? act : null;
  if (act) return IN_PANEL.has(key) && within(STEERED) ? null : act;
  if (shiftKey) return key === " " && wayOf(key, within) ? "back" : null;
  return wayOf(key, within);
}

/**
 * Whether a key belongs to what lies over the lesson: all keys to a dialog; to a card that stays beside what is
 * read the one that closes it.
 *
 * @param {Document} document
 * @param {KeyboardEvent} event
 */
const isOver = (document, { key }) =>
  document.querySelector(key === "Escape" ? "dialog[open], [role=dialog]:not([hidden])" : "dialog[open]") !== null;

/**
 * @param {() => boolean} open whether a lesson is presented
 * @param {Object<string, () => void>} acts by what actOf gives
 * @param {Window} [where]
 */
export function listenToLesson(open, acts, where = window) {
  // Before the page's own keys, which move the selection.
  where.addEventListener(
    "keydown",
    (event) => {
      const act = open() && !isOver(where.document, event) ? actOf(event) : null;
      if (!act) return;
      event.preventDefault();
      event.stopPropagation();
      acts[act]();
    },
    true,
  );
}
