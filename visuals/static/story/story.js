// The stories of the page: which of them is open, and what all have in common: keys, the projector, the ways from one
// to another.

import { scrollRowTo } from "../chapters.js";
import { h } from "../dom.js";
import { isStory, STORIES, STORY, toContent } from "../level.js";
import { ANSWER } from "./answer.js";
import { createColumn } from "./column.js";
import { createLarge } from "./large.js";
import { placeOf } from "./place.js";

/**
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {{
 *   section: string;
 *   parts: string[][];
 *   inEveryLayer?: [first: number, last: number];
 *   scenes: ((glass: Glass) => import("./scene.js").Scene)[];
 *   lacks?: (glass: Glass) => string | null;
 *   of?: (glass: Glass) => Glass;
 *   note?: (glass: Glass) => string | null;
 * }} Story
 *   `section`: of its texts; `parts`: its scenes by name, as the map has them, of which those from `first` to `last`
 *   of `inEveryLayer` stand in each layer of the model; `lacks`: the text of its section that says why there is
 *   nothing to tell of this network; `of`: the page as its scenes see it, where that is another part of a run than
 *   is shown, which the text `note` then says
 *
 * @typedef {ReturnType<typeof createColumn>} Column
 */

/**
 * The story that opens comes with the page; each other when it is opened. @type {Record<string, () =>
 * Promise<Story>>}
 */
const FOUND = {
  [STORY]: async () => ANSWER,
  "story-cache": async () => (await import("./cache.js")).CACHE,
  "story-learned": async () => (await import("./learned.js")).LEARNED,
};

const WRITES = "#generate, #stop";
/** What has its own use for Space: no choice that was made, which keeps the focus. */
const TAKES = "input, textarea, select, button:not([tabindex='-1']), a, summary, [contenteditable], dialog";

/**
 * Space goes on to the next scene, with Shift back to the one before, where nothing else takes the key.
 *
 * @param {() => boolean} isOpen whether the story is what is seen
 * @param {(by: 1 | -1) => boolean} step false: there is no scene that way, and the page scrolls as it does
 */
function followSpace(isOpen, step) {
  addEventListener("keydown", (event) => {
    const { key, shiftKey, target, defaultPrevented, ctrlKey, metaKey, altKey } = event;
    if (key !== " " || defaultPrevented || ctrlKey || metaKey || altKey || !isOpen()) return;
    if (target instanceof Element && target.closest(TAKES)) return;
    if (step(shiftKey ? -1 : 1)) event.preventDefault();
  });
}

/** The way to a story. @param {string} name */
const wayTo = (name) => h("button.st-act", { "data-story": name, "data-text": `story.name_${name}` });

/** The ways to all stories, of which the one that is open is marked. @param {string} own */
function waysBeside(own) {
  const ways = STORIES.map(wayTo);
  ways[STORIES.indexOf(own)].setAttribute("aria-current", "page");
  return ways;
}

/** Of a row of stories that is wider than its room the one that is open is seen. @param {HTMLElement} root */
function showOwn(root) {
  /** @type {HTMLElement | null} */
  const own = root.querySelector(".st-ways [aria-current]");
  if (own?.parentElement) scrollRowTo(own.parentElement, own);
}

/**
 * How a story ends: what to do next.
 *
 * @param {string} name
 * @param {string} section
 */
const endOf = (name, section) =>
  h(
    "footer.st-end",
    null,
    h("p", { "data-text": `${section}.end` }),
    h(
      "p.st-acts",
      null,
      h("button.st-act.is-first", { "data-level": "workbench", "data-text": "story.end_open" }),
      ...STORIES.filter((other) => other !== name).map(wayTo),
    ),
  );

/**
 * Brings the word in its gap into what is seen, where a keyboard covers it or it stands further down: with its
 * scene's title, else in the middle.
 *
 * @param {HTMLElement} place
 */
function showWord(place) {
  const gap = place.querySelector(".st-told:not([hidden]) .st-gap");
  const scene = gap?.closest(".st-scene");
  if (!gap || !scene) return;
  const { offsetTop, height } = visualViewport ?? { offsetTop: 0, height: innerHeight };
  const { top, bottom } = gap.getBoundingClientRect();
  const end = offsetTop + height;
  if (bottom <= end) return;
  const titled = scene.getBoundingClientRect().top - parseFloat(getComputedStyle(scene).scrollMarginTop) - offsetTop;
  const middle = (top + bottom) / 2 - offsetTop - height / 2;
  scrollBy({ top: bottom - titled <= end ? titled : middle, behavior: "instant" });
}

/** Whether what had the keyboard's focus is gone, or about to lose it. */
function isLost() {
  const { activeElement: one, body } = document;
  return !one || one === body || one.closest("[hidden]") !== null;
}

/** Gives it to a scene, else to the first. @param {Element | null | undefined} scene */
function giveKeys(scene) {
  if (scene instanceof HTMLElement && !scene.hidden) scene.focus({ preventScroll: true });
  else toContent();
}

/**
 * The workbench opens at the head that the story follows, or goes there once that is known, unless the reader or a
 * link has chosen another.
 *
 * @param {Glass} glass
 */
function leaveAtHead(glass) {
  const { state } = glass;
  let last = state.chapter;
  let following = false; // the head is still to be selected
  let awaited = false; // the run that was under way when the story was left is the story's
  function follow() {
    if (state.awaited) return; // what is chosen and measured is of the run before
    following &&= !glass.chosen() && !state.presenting;
    const place = following ? placeOf(glass) : null;
    if (!place) return;
    following = false;
    if (!place.look) return;
    const { layer, head, query, key } = place;
    glass.selectByPage({ layer, head, query, key });
  }
  function stop() {
    following = false;
  }
  function comes() {
    following &&= awaited;
    awaited = false;
  }
  glass.on("chapter", () => {
    following = !isStory(state.chapter) && (following || last === STORY);
    last = state.chapter;
    awaited = state.awaited !== null;
    follow();
  });
  glass.on("painted", follow);
  glass.on("run", comes);
  glass.on("select", stop);
}

/**
 * @param {HTMLElement} place
 * @param {Glass} glass
 * @param {(section: string) => Promise<void>} need makes sure of a section's texts
 * @returns {(fresh: boolean) => void} draws the story that is open
 */
export default function createStories(place, glass, need) {
  const { state } = glass;
  /** @type {Map<string, Column>} */
  const columns = new Map();
  /** @type {Set<string>} */
  const coming = new Set();
  const now = () => columns.get(state.chapter);

  const large = createLarge(glass, place, {
    unread: (by) => now()?.unread(by) ?? 0,
    step: (by) => now()?.step(by) ?? false,
    stay: () => now()?.stay(),
  });

  /** @param {string} name */
  async function build(name) {
    if (coming.has(name)) return;
    coming.add(name);
    try {
      const story = await FOUND[name]();
      await need(story.section);
      const column = createColumn(glass, story, { foot: endOf(name, story.section), beside: waysBeside(name) });
      columns.set(name, column);
      place.append(column.root);
      new ResizeObserver(() => showOwn(column.root)).observe(column.root); // it is opened, too, or turned
      open();
      glass.repaint();
    } catch (error) {
      coming.delete(name); // it is asked for again the next time
      throw error;
    }
  }

  function open() {
    for (const [name, column] of columns) {
      column.root.hidden = name !== state.chapter;
      if (name === state.chapter) column.aside.append(large);
    }
    glass.translate(place);
    if (Object.hasOwn(FOUND, state.chapter)) build(state.chapter);
  }
  let shown = state.chapter;
  glass.on("chapter", () => {
    open();
    const from = shown;
    shown = state.chapter;
    if (!isStory(from) && now()?.begun()) now()?.comeBack(); // from the workbench, to where the reader was
  });
  leaveAtHead(glass);
  glass.on("language", () => {
    for (const { root } of columns.values()) {
      glass.translate(root);
      showOwn(root);
    }
  });
  glass.on("returned", (/** @type {string} */ from) => from !== state.chapter && now()?.comeBack());
  followSpace(
    () => Boolean(now()),
    (by) => now()?.readOn(by) ?? false,
  );
  // A button that asked for the run would take the Space that goes on, and on a phone the keyboard covers the answer;
  // but who has text written may stop it, and have more written.
  const taking = () => (matchMedia("(pointer: coarse)").matches ? "button, #prompt textarea" : "button");
  let asked = false; // a sentence was read for who is above the story, and is not drawn yet
  glass.on("run", (/** @type {import("../decode.js").Trace} */ { generating, T, nPrompt }) => {
    const by = document.activeElement?.closest(taking());
    if (!by || by.matches(WRITES) || place.contains(by)) return;
    now()?.element()?.focus({ preventScroll: true });
    asked = !generating && T === nPrompt; // what is written is read above the story
  });
  glass.on("painted", () => {
    if (asked) showWord(place);
    asked = false;
  });
  let led = false; // by a button that went with the story that it stood in
  place.addEventListener("click", ({ target }) => {
    led = target instanceof Element && target.closest("button[data-story]") !== null;
  });
  open();
  return (fresh) => {
    const had = document.activeElement;
    const isHere = place.contains(had);
    const home = had?.closest(".st-scene"); // before it is written anew
    now()?.draw(fresh);
    if (led) led = !toContent();
    else if (isHere && isLost()) giveKeys(home);
  };
}
