// A lesson on the screen: each view is brought back as a pasted link is, and its one panel shown large.

import { createBar } from "./bar.js";
import { viewNow } from "./capture.js";
import { isColumn, placeWords, stageRoom } from "./column.js";
import { createCourse } from "./course.js";
import { createHeadline } from "./headline.js";
import { frame } from "./fit.js";
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
 *   keyof ReturnType<typeof waysThrough> | "leave" | "close" | "list" | "up" | "down" | "notes" | "add" | "help",
 *   () => void
 * >} Acts
 *   as keys.js names them
 *
 * @typedef {{ at?: number; notes?: boolean; reads?: boolean; speaks?: boolean; id?: string }} How `at`: the view to
 *   begin at; `notes`: they are shown; `reads`: somebody alone reads along; `speaks`: the notes stand in a window
 *   of their own; `id`: of one of the reader's own
 *
 * @typedef {{
 *   lesson: Lesson;
 *   course: Course;
 *   notes: boolean;
 *   reads: boolean;
 *   id: string | undefined;
 *   goBack: () => Promise<void>;
 * }} Presented
 *   `reads`: somebody alone reads along, and the notes are for them; `id`: where it is one of the reader's own;
 *   `goBack`: to where the reader was before
 */

/** Until the pointer has moved, what lies under it is not marked as pointed at (style.css). */
const RESTS = "data-pointer-rests";
const SEEN = 700; // ms after which what has come was seen, by somebody who did not wait for it

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
    else {
      last = { place, time: event.timeStamp };
      document.body.removeAttribute(RESTS);
    }
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
 * @param {(by: number) => boolean} turned to another screen of the view; whether there was one
 * @param {{ arrival: () => ReturnType<typeof createArrival>; fitted: (act: () => void) => void }} once how a view
 *   comes; `fitted` does something once its screens are known
 */
const waysThrough = (now, turned, once) => ({
  /**
   * What a clicker's one button does: the answer, where it is covered, then the next screen, then the next view.
   * Nothing until a view has been seen, or its question would be passed over.
   */
  next() {
    document.body.removeAttribute("data-dark"); // who goes on wants it seen
    if (once.arrival().unseen()) return;
    const course = now()?.course;
    if (course?.covered()) once.arrival().whole(course.next);
    else once.fitted(() => void (turned(1) || course?.next()));
  },
  /** Its other button: the screen before, also where that is the view's before this one. */
  back() {
    const course = now()?.course;
    if (once.arrival().begins()) course?.back();
    else once.fitted(() => void (turned(-1) || course?.back()));
  },
  /** Nothing either until the view has been seen: what is covered comes before its answer. */
  reveal() {
    const arrival = once.arrival();
    if (!arrival.unseen()) arrival.whole(() => now()?.course.toggle());
  },
  first: () => now()?.course.go(0),
  last: () => now()?.course.toEnd(),
  full: toggleFullscreen,
  /** Blackens the screen, or shows it again. */
  dark: () => void document.body.toggleAttribute("data-dark"),
  out: leaveField,
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
 * What a view shows of its panel: to where the next view of the same panel and run begins.
 *
 * @param {Lesson} lesson
 * @param {number} at
 */
function extentOf({ views }, at) {
  const [view, next] = views.slice(at);
  const goesOn = next && view.panel === next.panel && view.link === next.link;
  return { part: view.part, until: goesOn ? next.part : "" };
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
  const words = { top: headline.element, guess: bar.label, game: bar.game, note: bar.note, bar: bar.element };
  const speaker = createSpeaker(glass, acts, bar.guess, (open) => {
    document.body.toggleAttribute("data-speaker", open);
    if (presents()) stage.again();
  });
  const stage = createStage(glass, { top: headline.element, bar: bar.element }, (at, pages) =>
    speaker.page(bar.page(at, pages)),
  );
  listenToLesson(presents, acts);
  /**
   * All but the view itself: what is said of it, and the cover.
   *
   * @param {Presented} presented
   * @param {boolean} moved
   */
  function show({ lesson, course, notes }, moved) {
    const [at, covered] = [course.at(), course.covered()];
    const isHidden = covered && lesson.views[at].hidden;
    glass.state.covered = isHidden;
    glass.repaint();
    document.body.toggleAttribute("data-covered", isHidden);
    placeWords(words, true);
    speaker.page(bar.show(lesson, { at, covered, notes, moved }));
    headline.show(lesson.views[at], covered);
    speaker.show(lesson, { at, covered, moved });
  }
  /** @param {string} said a message */
  function say(said) {
    bar.say(said);
    speaker.say(said);
  }
  function close() {
    speaker.end();
    bar.close();
    headline.hide();
    placeWords(words, false);
    glass.state.covered = false;
    glass.repaint();
    for (const name of ["data-covered", "data-dark", RESTS]) document.body.removeAttribute(name);
    stage.end();
    if (document.fullscreenElement === document.documentElement) document.exitFullscreen();
  }
  const placed = () => placeWords(words, true);
  return { bar, speaker, stage, show, say, placed, close };
}

/**
 * Brings views onto the stage. Of those that are under way at once the last arrives alone.
 *
 * @param {Glass} glass
 * @param {ReturnType<typeof createStage>} stage
 * @param {(waits: boolean) => void} tell whether a press waits
 */
function createArrival(glass, stage, tell) {
  let [turn, presses] = [0, 0]; // of the views; of those who wait for one to be whole
  let [isUnderWay, opensAtEnd] = [false, false];
  let waits = () => {}; // what is done once it is there
  let [tooEarly, arrived] = [false, 0]; // somebody pressed before it was there; when it was
  /** @param {() => void} act */
  function done(act) {
    tell(false);
    act();
  }
  /**
   * Does something at once where the view is there, else when it is. Of several the last.
   *
   * @param {() => void} act
   */
  function then(act) {
    if (!isUnderWay) return act();
    waits = act;
    return tell(true);
  }
  /**
   * Does something once the view that is there has all that it measures: until then its picture has no answer. Of
   * several the last; none once another view is under way.
   *
   * @param {() => void} act
   */
  async function whole(act) {
    const [mine, press] = [turn, (presses += 1)];
    const isAwaited = () => mine === turn && press === presses;
    tell(!stage.isWhole());
    while (isAwaited() && !stage.isWhole()) await frame();
    if (isAwaited()) done(act);
  }
  return {
    then,
    whole,
    /**
     * Whether the view is not there yet; where somebody has pressed before it was, also for as long as their next
     * press may still be meant for that.
     */
    unseen() {
      tooEarly ||= isUnderWay;
      return isUnderWay || (tooEarly && performance.now() - arrived < SEEN);
    },
    /** Whether a view is under way that opens at its first screen: before that nothing of it is to be waited for. */
    begins: () => isUnderWay && !opensAtEnd,
    /**
     * @param {Lesson} lesson
     * @param {number} at
     * @param {boolean} atEnd whether it opens at its last screen
     */
    async bring(lesson, at, atEnd) {
      const [mine, view] = [(turn += 1), lesson.views[at]];
      [isUnderWay, tooEarly, opensAtEnd, waits] = [true, false, atEnd, () => {}];
      tell(false);
      stage.coming();
      await glass.visit(linkOn(lesson, view, offeredBy(glass)));
      if (mine !== turn) return;
      openChapterOf(glass, view.panel);
      stageRoom()?.scrollTo(0, 0);
      await stage.show(view.panel, extentOf(lesson, at), atEnd);
      if (mine !== turn) return;
      [isUnderWay, arrived] = [false, performance.now()];
      done(waits);
    },
    /** What is under way does not arrive. */
    stop() {
      turn += 1;
      isUnderWay = false;
    },
  };
}

/**
 * @param {Glass} glass
 * @param {() => void} openList opens the list of lessons
 * @param {(id: string | undefined, lesson: Lesson) => string} keep keeps a lesson, one without an id as a new one;
 *   gives its id
 * @returns {(lesson: Lesson, how?: How) => void}
 */
export function createPresenter(glass, openList, keep) {
  /** @type {Presented | null} */
  let now = null;
  const presents = () => now !== null;
  /** Once the view is there and its screens are known: one that is still coming has none. @param {() => void} act */
  const fitted = (act) => arrival.then(() => stage.then(act));
  /** @type {Acts} */
  const acts = {
    ...waysThrough(
      () => now,
      (by) => stage.turn(by),
      { arrival: () => arrival, fitted },
    ),
    leave,
    close: () => bar.shut() || leave(),
    list: () => (leave(), openList()),
    up: () => fitted(() => stage.turn(-1)),
    down: () => fitted(() => stage.turn(1)),
    notes: showNotes,
    add: () => void add(),
    help: () => bar.help(),
  };
  const { bar, speaker, stage, say, ...screens } = createScreens(glass, acts, presents);
  const arrival = createArrival(glass, stage, (waits) => (bar.wait(waits), speaker.wait(waits)));

  /**
   * The bar and the cover at once; the view when its run has come.
   *
   * @param {boolean} moved to another view
   * @param {boolean} [backwards] from the one after it
   */
  function show(moved, backwards = false) {
    if (!now) return;
    const { lesson, course, notes, reads, id } = now;
    screens.show(now, moved);
    keepPresented({ lesson, at: course.at(), notes, reads, id });
    document.body.toggleAttribute(RESTS, moved || document.body.hasAttribute(RESTS));
    if (moved) arrival.bring(lesson, course.at(), backwards && !course.covered());
    else stage.said();
  }
  function showNotes() {
    if (now && (now.reads || isColumn()))
      now.notes = !now.notes; // a telephone has no second window beside it
    else if (!speaker.open()) bar.say(glass.text("lessons.no_window"));
    show(false);
  }
  async function add() {
    if (!now) return;
    const { lesson, course } = now;
    const at = course.at();
    const { longer, said } = await withShown(glass, lesson, at);
    if (now?.course !== course) return; // another lesson is presented meanwhile, or none
    if (longer) {
      course.insert(longer.views[at + 1], at + 1);
      Object.assign(now, { lesson: longer, id: keep(now.id, longer) });
      show(false);
    }
    say(said);
  }

  function end() {
    if (!now) return;
    now = null;
    keepPresented(null);
    arrival.stop();
    glass.state.presenting = false; // from here on the page's history goes on
    screens.close();
  }
  function leave() {
    now?.goBack(); // before the lesson ends, or its last view would be an entry of the history
    end();
  }
  const speak = () => (bar.open(), show(false), stage.again());
  function again() {
    screens.placed(); // a window that is turned may be narrow now
    stage.again();
  }
  followPage(glass, presents, { say, again, speak, end });

  return function present(lesson, { at = 0, notes = false, reads = notes, speaks = false, id } = {}) {
    if (!lesson.views.length) return;
    const goBack = now?.goBack ?? wayBack(glass);
    bar.open();
    speaker.begin();
    glass.state.presenting = true;
    const course = createCourse(lesson.views, at, show);
    now = { lesson, course, notes, reads, id, goBack };
    course.begin();
    if (speaks) showNotes();
  };
}
