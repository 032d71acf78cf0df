// The presenter's window: notes, answer, next view and time, while the page shows the view alone. It is a window of the
// page's own origin that the page draws in, so that both are in step by themselves.

import { h } from "../dom.js";
import { render } from "../vendor/lit-html.js";
import { listenToLesson } from "./keys.js";
import { furnish } from "./own-window.js";
import { asks } from "./lesson.js";
import { minutesOf } from "./plans.js";
import { speakerView } from "./speaker-view.js";
import { createStills } from "./stills.js";
import { createTiming } from "./timing.js";

const SIZE = "popup,width=760,height=720";
const SECOND = 1000;
const STEP = 0.4; // of the notes that are seen, what an arrow key moves them by

/**
 * @typedef {import("./lesson.js").Lesson} Lesson
 *
 * @typedef {{ at: number; covered: boolean }} Now which view is shown, and whether its answer is covered
 */

/**
 * The picture of the view after the one that is shown.
 *
 * @param {import("../types.d.ts").Glass} glass
 * @param {() => void} came it is there now
 */
function createAhead(glass, came) {
  const stills = createStills(glass);
  let picture = "";
  let turn = 0;
  return {
    now: () => picture,
    /** @param {{ lesson: Lesson; now: Now } | null} shown null: no picture is wanted */
    async look(shown) {
      picture = "";
      const mine = (turn += 1);
      const next = shown?.lesson.views[shown.now.at + 1];
      const found = shown && next ? await stills.take(shown.lesson, next) : null;
      if (mine !== turn || !found) return;
      picture = found.src;
      came();
    },
    end: stills.end,
  };
}

/**
 * What keys do in that window otherwise than on the page.
 *
 * @param {Window} own
 * @param {HTMLElement} root
 */
const ownActs = (own, root) => ({
  out: () => /** @type {HTMLElement | null} */ (own.document.activeElement)?.blur(),
  down: () => scrollNotes(root, STEP),
  up: () => scrollNotes(root, -STEP),
});

const NOTES = ".ls-spoken";

/**
 * Moves the notes by part of what is seen of them.
 *
 * @param {HTMLElement} root of the window
 * @param {number} share
 */
function scrollNotes(root, share) {
  const box = root.querySelector(NOTES);
  box?.scrollBy({ top: share * box.clientHeight });
}

/**
 * Begins the notes at their top; once the answer is shown, with it and what is said after it.
 *
 * @param {HTMLElement} root of the window
 * @param {boolean} isTold whether it is shown
 */
function placeNotes(root, isTold) {
  const [box, answer] = [root.querySelector(NOTES), root.querySelector(".ls-answered")];
  const top = (/** @type {Element} */ one) => one.getBoundingClientRect().top;
  if (box) box.scrollTop = isTold && answer ? box.scrollTop + top(answer) - top(box) : 0;
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {Object<string, () => void>} acts as keys.js names them
 * @param {ReturnType<typeof import("./bar.js").createBar>["guess"]} guess the class's, which the page shows
 * @param {(open: boolean) => void} changed it was opened, or closed
 */
export function createSpeaker(glass, acts, guess, changed) {
  /** @type {Window | null} */
  let opened = null;
  /** @type {{ lesson: Lesson; now: Now } | null} */
  let shown = null;
  let part = { words: "", begins: true, ends: true };
  let [trouble, pressed] = ["", ""]; // a message; that a press waits
  const ahead = createAhead(glass, () => draw());
  const timing = createTiming(Date.now);
  const root = h("main.ls-speaker");

  function draw() {
    if (!opened || !shown) return;
    const time = { ...timing.elapsed(), planned: minutesOf(shown.lesson), clock: new Date() };
    const again = () => (timing.begin(), draw());
    const drawn = { ...shown, part, trouble: trouble || pressed, time, guess, picture: ahead.now() };
    render(speakerView(glass, drawn, { ...acts, again }), root);
  }
  const place = () => placeNotes(root, Boolean(shown && !shown.now.covered && asks(shown.lesson.views[shown.now.at])));
  /** The window has gone, by whatever way. */
  function gone() {
    if (!opened?.closed) return;
    opened = null;
    ahead.end();
    changed(false);
  }
  const close = () => (opened?.close(), gone());
  /** @returns {boolean} false where the browser opens none */
  function open() {
    if (opened && !opened.closed) return (opened.focus(), true);
    const fresh = window.open("", "", SIZE);
    if (!fresh) return false;
    opened = fresh;
    const furnished = () => {
      furnish(fresh, root, glass.text("lessons.speaker"));
      listenToLesson(() => shown !== null, { ...acts, ...ownActs(fresh, root) }, fresh);
      fresh.addEventListener("pagehide", () => setTimeout(gone));
    };
    furnished();
    fresh.addEventListener("load", furnished); // a browser may put another empty page in its place
    const timer = setInterval(() => {
      gone();
      if (opened === fresh) draw();
      else clearInterval(timer);
    }, SECOND);
    changed(true);
    draw();
    place();
    ahead.look(shown);
    return true;
  }
  addEventListener("pagehide", close);
  guess.follow(draw);

  return {
    open,
    begin: timing.begin,
    /**
     * @param {Lesson} lesson
     * @param {Now & { moved: boolean }} now
     */
    show(lesson, now) {
      if (now.moved) {
        timing.enter();
        trouble = "";
      }
      const isOther = now.moved || shown?.now.covered !== now.covered;
      shown = { lesson, now };
      draw();
      if (isOther) place();
      if (now.moved) ahead.look(opened && shown);
    },
    /** @param {string} words of a message */
    say(words) {
      trouble = words;
      draw();
    },
    /** Says that a press waits, or no longer does. @param {boolean} waits */
    wait(waits) {
      pressed = waits ? glass.text("lessons.press_waits") : "";
      draw();
    },
    /** @param {typeof part} shownPart which screen of the view is shown */
    page(shownPart) {
      part = shownPart;
      draw();
    },
    end() {
      shown = null;
      close();
    },
  };
}
