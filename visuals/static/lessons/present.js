// A lesson on the screen: each view is brought back as a pasted link is, and its one panel shown large.

import { createBar } from "./bar.js";
import { viewNow } from "./capture.js";
import { createCourse } from "./course.js";
import { createHeadline } from "./headline.js";
import { listenToLesson } from "./keys.js";
import { linkOn, MOST, withView } from "./lesson.js";
import { keepPresented } from "./resume.js";
import { createSpeaker } from "./speaker.js";
import { createStage } from "./stage.js";

/**
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {import("./lesson.js").Lesson} Lesson
 *
 * @typedef {import("./course.js").Course} Course
 *
 * @typedef {Record<
 *   keyof ReturnType<typeof waysThrough> | "leave" | "list" | "up" | "down" | "notes" | "add",
 *   () => void
 * >} Acts
 *   as keys.js names them
 *
 * @typedef {{ at?: number; notes?: boolean; reads?: boolean; id?: string }} How `at`: the view to begin at;
 *   `notes`: they are shown; `reads`: somebody alone reads along; `id`: of one of the reader's own
 */

/**
 * What came under a pointer that lies still was not pointed at: a view that changes under it would show something
 * else.
 *
 * @param {() => boolean} presents
 */
function passOverAtRest(presents) {
  let last = { place: "", time: 0 };
  /** @param {PointerEvent} event */
  function passOver(event) {
    const place = `${event.clientX} ${event.clientY}`;
    if (presents() && event.pointerType === "mouse" && place === last.place && event.timeStamp !== last.time)
      event.stopImmediatePropagation();
    else last = { place, time: event.timeStamp };
  }
  for (const name of /** @type {const} */ (["pointerover", "pointerenter", "pointermove"]))
    addEventListener(name, passOver, true);
}

const toggleFullscreen = () =>
  (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()).catch(
    () => {}, // the browser may refuse it
  );

const leaveField = () => /** @type {HTMLElement | null} */ (document.activeElement)?.blur();

/**
 * What needs nothing but the course of the lesson, or the browser.
 *
 * @param {() => { course: Course } | null} now
 * @param {() => boolean} turned to the next part of the view; whether there was one
 */
const waysThrough = (now, turned) => ({
  /** What a clicker's one button does: the answer, where it is covered, then the next part, then the next view. */
  next() {
    const course = now()?.course;
    if (course && (course.covered() || !turned())) course.next();
  },
  back: () => now()?.course.back(),
  reveal: () => now()?.course.toggle(),
  first: () => now()?.course.go(0),
  last: () => now()?.course.toEnd(),
  full: toggleFullscreen,
  out: leaveField,
  nothing: () => {},
});

/**
 * What a message of the page says; one without a text of ours what the server says itself.
 *
 * @param {Glass} glass
 * @param {import("../messages.d.ts").Notice} message
 */
function wordsOf(glass, { code, params }) {
  const said = glass.text(`message.${code}`, params);
  return said === `message.${code}` ? String(params.detail ?? code) : said;
}

/**
 * What else happens on the page while a lesson is presented.
 *
 * @param {Glass} glass
 * @param {() => boolean} presents
 * @param {{ say: (words: string) => void; again: () => void; speak: () => void; end: () => void }} acts
 */
function followPage(glass, presents, { say, again, speak, end }) {
  glass.on("message", (/** @type {import("../messages.d.ts").Notice | null} */ message) => {
    if (!presents() || !message) return;
    say(wordsOf(glass, message));
    again();
  });
  glass.on("language", () => {
    if (presents()) speak();
  });
  passOverAtRest(presents);
  addEventListener("resize", () => {
    if (presents()) again();
  });
  addEventListener("popstate", end);
}

/**
 * Where the reader is before a lesson, and the way back there: to the run, the chapter and the place on the page,
 * and to the sentence in the bar, run or not.
 *
 * @param {Glass} glass
 * @returns {() => Promise<void>}
 */
function wayBack(glass) {
  const place = glass.way.here();
  /** @type {HTMLTextAreaElement | null} */
  const box = document.querySelector("#prompt textarea");
  const prompt = box?.value;
  return async () => {
    await glass.entryAgain();
    if (prompt !== undefined) glass.fill({ prompt });
    await glass.way.goTo(place);
  };
}

/**
 * The part that the next view shows of this view's panel and run.
 *
 * @param {{ lesson: Lesson; course: Course } | null} now
 */
function partAfter(now) {
  const [view, next] = now ? now.lesson.views.slice(now.course.at()) : [];
  return next && view.panel === next.panel && view.link === next.link ? next.part : "";
}

/** @param {Glass} glass */
const offeredBy = (glass) => glass.models().map(({ name }) => name);

/**
 * Opens the chapter that has the panel, unless it is open.
 *
 * @param {Glass} glass
 * @param {string} panel
 */
function openChapterOf(glass, panel) {
  const { chapters } = window.glassConfig;
  if (chapters[glass.state.chapter]?.panels.includes(panel)) return; // the story has none
  const home = Object.keys(chapters).find((name) => chapters[name].panels.includes(panel));
  if (home) glass.open(home);
}

/**
 * The lesson with what is shown now as the view after this one, and what is to be said of it.
 *
 * @param {Glass} glass
 * @param {Lesson} lesson
 * @param {number} at
 * @returns {Promise<{ longer: Lesson | null; said: string }>} null where it has room for no more
 */
async function withShown(glass, lesson, at) {
  const { text } = glass;
  const { panel } = lesson.views[at];
  if (lesson.views.length >= MOST.views)
    return { longer: null, said: text("lessons.full_lesson", { most: MOST.views }) };
  const view = await viewNow(glass, panel);
  const said = text("lessons.added", { at: at + 2, panel: text(`panel.${panel}`) });
  return { longer: withView(lesson, view, at + 1), said };
}

/**
 * All that shows a lesson: the stage with what stands above and below it, and the presenter's own window.
 *
 * @param {Glass} glass
 * @param {Acts} acts
 * @param {() => boolean} presents
 */
function createScreens(glass, acts, presents) {
  const bar = createBar(glass, acts);
  const headline = createHeadline();
  const speaker = createSpeaker(glass, acts, (open) => {
    document.body.toggleAttribute("data-speaker", open);
    if (presents()) stage.again();
  });
  const stage = createStage(glass, { top: headline.element, bar: bar.element }, (at, pages) =>
    speaker.page(bar.page(at, pages)),
  );
  listenToLesson(presents, acts);
  /** @param {string} words of a message */
  function say(words) {
    bar.say(words);
    speaker.say(words);
  }
  function close() {
    speaker.end();
    bar.close();
    headline.hide();
    document.body.removeAttribute("data-covered");
    stage.end();
    if (document.fullscreenElement === document.documentElement) document.exitFullscreen();
  }
  return { bar, headline, speaker, stage, say, close };
}

/**
 * @param {Glass} glass
 * @param {() => void} openList opens the list of lessons
 * @param {(id: string | undefined, lesson: Lesson) => string} keep keeps a lesson, one without an id as a new one;
 *   gives its id
 * @returns {(lesson: Lesson, how?: How) => void}
 */
export function createPresenter(glass, openList, keep) {
  const { state } = glass;
  const { body } = document;
  /** @type {{ lesson: Lesson; course: Course } | null} what is presented */
  let now = null;
  /** @type {string | undefined} its id, where it is one of the reader's own */
  let own;
  let [reads, notes] = [false, false]; // somebody alone reads along: the notes are for them
  /** @type {() => Promise<void>} back to where the reader was before */
  let goBack = async () => {};
  let turn = 0;

  const current = () => now;
  /** @type {Acts} */
  const acts = {
    ...waysThrough(current, () => stage.turn(1, partAfter(now))),
    leave,
    list: () => (leave(), openList()),
    up: () => stage.turn(-1),
    down: () => stage.turn(1),
    notes: () => {
      if (reads) notes = !notes;
      else if (!speaker.open()) bar.say(glass.text("lessons.no_window"));
      show(false);
    },
    add: () => void add(),
  };
  const { bar, headline, speaker, stage, say, close } = createScreens(glass, acts, () => now !== null);

  /** The bar and the cover at once; the view when its run has come. @param {boolean} moved to another view */
  async function show(moved) {
    if (!now) return;
    const { lesson, course } = now;
    const [at, covered] = [course.at(), course.covered()];
    const view = lesson.views[at];
    body.toggleAttribute("data-covered", covered);
    bar.show(lesson, { at, covered, notes, moved });
    headline.show(view);
    speaker.show(lesson, { at, covered, moved });
    keepPresented({ lesson, at, notes, reads, id: own });
    if (!moved) return void stage.again();
    const mine = (turn += 1);
    stage.coming();
    await glass.visit(linkOn(lesson, view, offeredBy(glass)));
    if (mine !== turn || !now) return;
    openChapterOf(glass, view.panel);
    stage.show(view.panel, view.part);
  }

  async function add() {
    if (!now) return;
    const [{ lesson, course }, at] = [now, now.course.at()];
    const { longer, said } = await withShown(glass, lesson, at);
    if (now?.course !== course) return; // another lesson is presented meanwhile, or none
    if (longer) {
      course.insert(longer.views[at + 1], at + 1);
      own = keep(own, longer);
      now = { lesson: longer, course };
      show(false);
    }
    say(said);
  }

  function end() {
    if (!now) return;
    now = null;
    keepPresented(null);
    turn += 1;
    state.presenting = false; // from here on the page's history goes on
    close();
  }
  function leave() {
    if (now) goBack(); // before the lesson ends, or its last view would be an entry of the history
    end();
  }

  const speak = () => (bar.open(), void show(false));
  followPage(glass, () => now !== null, { say, again: () => void stage.again(), speak, end });

  return function present(given, { at = 0, notes: noted = false, reads: alone = noted, id } = {}) {
    if (!given.views.length) return;
    if (!now) goBack = wayBack(glass);
    [notes, reads, own] = [noted, alone, id];
    bar.open();
    speaker.begin();
    state.presenting = true;
    const course = createCourse(given.views, at, show);
    now = { lesson: given, course };
    course.begin();
  };
}
