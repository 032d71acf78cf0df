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
 * What came under a pointer that lies still was not pointed at: a view that changes under it would show something
 * else.
 *
 * @param {() => boolean} presents
 */
function passOverAtRest(presents) {
  let last = { place: "", time: 0 };
  function passOver(event) {
    const place = `${event.clientX} ${event.clientY}`;
    if (presents() && event.pointerType === "mouse" && place === last.place && event.timeStamp !== last.time)
      event.stopImmediatePropagation();
    else last = { place, time: event.timeStamp };
  }
  for (const name of ["pointerover", "pointerenter", "pointermove"]) addEventListener(name, passOver, true);
}

const toggleFullscreen = () =>
  (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()).catch(
    () => {}, // the browser may refuse it
  );

const leaveField = () => /** @type {HTMLElement | null} */ (document.activeElement)?.blur();

/**
 * What needs nothing but the course of the lesson, or the browser.
 *
 * @param {() => ReturnType<typeof createCourse>} course
 * @param {() => number} count of its views
 */
const waysThrough = (course, count) => ({
  next: () => course().next(),
  back: () => course().back(),
  reveal: () => course().toggle(),
  first: () => course().go(0),
  last: () => course().go(count() - 1),
  full: toggleFullscreen,
  out: leaveField,
  nothing: () => {},
});

/** What a message of the page says; one without a text of ours what the server says itself. */
function wordsOf(glass, { code, params }) {
  const said = glass.text(`message.${code}`, params);
  return said === `message.${code}` ? (params.detail ?? code) : said;
}

/**
 * What else happens on the page while a lesson is presented.
 *
 * @param {import("../types.d.ts").Glass} glass
 * @param {() => boolean} presents
 * @param {{ say: (words: string) => void; again: () => void; speak: () => void; leave: () => void }} acts
 */
function followPage(glass, presents, { say, again, speak, leave }) {
  glass.on("message", (message) => {
    if (!presents()) return;
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
  addEventListener("popstate", leave);
}

const offeredBy = (glass) => glass.models().map(({ name }) => name);

/** Opens the chapter that has the panel, unless it is open. */
function openChapterOf(glass, panel) {
  const { chapters } = window.glassConfig;
  if (!chapters[glass.state.chapter]?.panels.includes(panel))
    // the story has none
    glass.open(Object.keys(chapters).find((name) => chapters[name].panels.includes(panel)));
}

/**
 * The lesson with what is shown now as the view after this one, and what is to be said of it.
 *
 * @param {import("../types.d.ts").Glass} glass
 * @param {import("./lesson.js").Lesson} lesson
 * @param {number} at
 * @returns {Promise<{ longer: import("./lesson.js").Lesson | null; said: string }>} null where it has room for no
 *   more
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
 * @param {import("../types.d.ts").Glass} glass
 * @param {Object<string, () => void>} acts as keys.js names them
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
  return { bar, headline, speaker, stage, say };
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {() => void} openList opens the list of lessons
 * @param {(id: string | undefined, lesson: import("./lesson.js").Lesson) => string} keep keeps a lesson, one
 *   without an id as a new one; gives its id
 * @returns {(
 *   lesson: import("./lesson.js").Lesson,
 *   how?: { at?: number; notes?: boolean; reads?: boolean; id?: string },
 * ) => void}
 *   `id`: of one of the reader's own
 */
export function createPresenter(glass, openList, keep) {
  const { state } = glass;
  const { body } = document;
  let [lesson, course] = [null, null];
  let own; // its id, where it is one of the reader's own
  let reads = false; // somebody alone reads along: the notes are for them
  let notes = false;
  let before = null; // what had the focus
  let turn = 0;

  const acts = {
    ...waysThrough(
      () => course,
      () => lesson.views.length,
    ),
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
  const { bar, headline, speaker, stage, say } = createScreens(glass, acts, () => lesson !== null);

  /** The bar and the cover at once; the view when its run has come. */
  async function show(moved) {
    const view = lesson.views[course.at()];
    body.toggleAttribute("data-covered", course.covered());
    bar.show(lesson, { at: course.at(), covered: course.covered(), notes, moved });
    headline.show(view);
    speaker.show(lesson, { at: course.at(), covered: course.covered(), moved });
    keepPresented({ lesson, at: course.at(), notes, reads, id: own });
    if (!moved) return void stage.again();
    const mine = (turn += 1);
    stage.coming();
    await glass.visit(linkOn(lesson, view, offeredBy(glass)));
    if (mine !== turn || !lesson) return;
    openChapterOf(glass, view.panel);
    stage.show(view.panel, view.part);
  }

  async function add() {
    const { longer, said } = await withShown(glass, lesson, course.at());
    if (!lesson) return;
    if (longer) {
      course.insert(longer.views[course.at() + 1]);
      [lesson, own] = [longer, keep(own, longer)];
      show(false);
    }
    say(said);
  }

  function leave() {
    if (!lesson) return;
    lesson = null;
    keepPresented(null);
    turn += 1;
    speaker.end();
    bar.close();
    headline.hide();
    body.removeAttribute("data-covered");
    state.presenting = false; // from here on the page's history goes on
    stage.end();
    if (document.fullscreenElement === document.documentElement) document.exitFullscreen();
    before?.focus?.({ preventScroll: true });
  }

  const speak = () => (bar.open(), void show(false));
  followPage(glass, () => lesson !== null, { say, again: () => void stage.again(), speak, leave });

  return function present(given, { at = 0, notes: noted = false, reads: alone = noted, id } = {}) {
    if (!given.views.length) return;
    before = document.activeElement;
    [lesson, notes, reads, own] = [given, noted, alone, id];
    bar.open();
    speaker.begin();
    state.presenting = true;
    course = createCourse(lesson.views, at, show);
    course.begin();
  };
}
