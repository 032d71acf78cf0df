// Pictures of views that are not shown: another copy of the page, which nobody sees, goes where each leads. Views are
// taken one after the other.

import { addressOf } from "../addresses.js";
import { labelsOf } from "../characters.js";
import { h } from "../dom.js";
import { PATIENCE as LATER } from "../late.js";
import { frame as nextFrame } from "./fit.js";
import { viewsOf } from "../one-file/request.js";
import { asksIn } from "./answer.js";
import { everyView, linkOn } from "./lesson.js";

const PATIENCE = 60_000; // ms until a view is given up: a busy server works long on what is asked of all heads
const CALM = 3; // frames in which nothing is under way
const LATE = 2 * LATER; // ms until what is out of view is drawn, too

/**
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {import("./lesson.js").Lesson} Lesson
 *
 * @typedef {import("./lesson.js").View} View
 *
 * @typedef {{ layer: number; head: number }} Head
 *
 * @typedef {{
 *   src: string;
 *   asked: string;
 *   pieces: string[];
 *   given: string;
 *   result: string;
 *   chosen: Head | null;
 * }} Still
 *   a picture's address; that of what a class sees before it has guessed, "" where that is nothing, and then the
 *   text's tokens; what sliders have changed, which are in no picture; what the panel reads of the run in words;
 *   and the head that the page has chosen
 *
 * @typedef {{
 *   take: (lesson: Lesson, view: View) => Promise<Still | null>;
 *   end: () => void;
 * }} Stills `take`:
 *   of a view; null where none could be made
 */

/**
 * Waits for something, a frame at a time.
 *
 * @param {() => boolean} isThere
 * @returns {Promise<boolean>} false where it did not come
 */
async function came(isThere) {
  const until = performance.now() + PATIENCE;
  for (let calm = 0; calm < CALM; calm = isThere() ? calm + 1 : 0) {
    if (performance.now() > until) return false;
    await nextFrame();
  }
  return true;
}

/**
 * The copy of the page, in a place where the browser draws it and nobody sees it.
 *
 * @param {string} language
 * @param {boolean} [onPaper] as wide as a picture is printed, so that its letters stay as large as they are drawn
 */
function createCopy(language, onPaper = false) {
  // A page from disk may not look into another one, but into a frame of its own text (one-file/start.js).
  const page = window.glassFile
    ? { srcdoc: window.glassFile }
    : { src: `${location.pathname}${location.search}#chapter=kv&lang=${language}` };
  const element = h(onPaper ? "iframe.ls-still.is-printed" : "iframe.ls-still", {
    ...page,
    title: "",
    "aria-hidden": "true",
    tabindex: "-1",
    inert: "",
  });
  const style = h("link", { rel: "stylesheet", href: addressOf("lessons/style.css") }); // what is covered, and how
  element.addEventListener("load", () => {
    element.contentDocument?.head.append(style);
    element.contentDocument?.body.toggleAttribute("data-paper", onPaper);
  });
  document.body.append(element);
  return element;
}

/** Its value line is of one cell, which its picture does not mark. */
const UNREAD = '[data-kind="kv-live"]';

/** Without its end, unless it is several sentences: it stands in a list. @param {string} words */
const unended = (words) => (/[.]\s|。./.test(words) ? words : words.replace(/[.。]$/, ""));

/**
 * What a panel reads of its run: what is marked as that in the part that is shown, else its value line.
 *
 * @param {HTMLElement} section
 * @param {string} part as in `leaveOnly`
 */
function resultOf(section, part) {
  const within = (part && section.querySelector(`.gp-body ${part}`)) || section;
  const marked = [within, ...within.querySelectorAll("[data-result]")].filter((one) => one.matches("[data-result]"));
  const seen = marked.filter((one) => one.getClientRects().length);
  const read = section.matches(UNREAD) ? [] : [...section.querySelectorAll(".gp-readout")];
  const found = seen.length ? seen : read;
  const words = found.map((one) => one.getAttribute("data-result") || unended(one.textContent.trim()));
  return words.filter(Boolean).join(" · ");
}

/**
 * What the sliders of the part that is shown have changed of the run, in words; "" where nothing is.
 *
 * @param {HTMLElement} section
 * @param {string} part as in `leaveOnly`
 */
function givenIn(section, part) {
  const within = (part && section.querySelector(`.gp-body ${part}`)) || section;
  const marked = within.matches("[data-given]") ? within : within.querySelector("[data-given]");
  return marked?.getAttribute("data-given") ?? "";
}

/**
 * The head that the page has chosen for a run: the one that directly writes most towards the answer.
 *
 * @param {Glass} inner
 * @param {string} link
 * @returns {Head | null} null where the link names one
 */
function chosenIn({ state: { layer, head } }, link) {
  const named = new URLSearchParams(link.slice(1));
  return named.has("layer") || named.has("head") ? null : { layer, head };
}

const FIELDS = ":is(input, select, textarea)";
const CHOICE = "button[aria-pressed]:not(.gp-holds)"; // other buttons are in no picture anyway
const CONTROLS = `${CHOICE}, :has(> ${CHOICE}), ${FIELDS}, :has(> ${FIELDS})`;
/** The cells of a table stay, empty, to be filled in. */
const ANSWERS = '[data-answer]:not(td, [data-answer="drawn"])';
const EMPTY = 80; // px: without a drawing no more than a line or two, which the question says as well

/**
 * Leaves of a panel's body only one part, and its legend; nothing of it that is there to be pressed or moved.
 *
 * @param {HTMLElement} section
 * @param {string} part ".name" of it; "": all of it stays
 * @param {{ covered: boolean; untitled: boolean }} how `covered`: what is covered takes no room; `untitled`: nor
 *   does the panel's title
 * @returns {() => void} brings the rest back
 */
function leaveOnly(section, part, { covered, untitled }) {
  const kept = part ? section.querySelector(`.gp-body ${part}`) : null;
  /** @type {HTMLElement[]} */
  const away = [];
  for (let one = kept; one && !one.matches(".gp-body"); one = one.parentElement)
    for (const other of /** @type {Iterable<HTMLElement>} */ (one.parentElement?.children ?? []))
      if (other !== one && !other.matches(".gp-samples")) away.push(other);
  /** @type {NodeListOf<HTMLElement>} */
  const titles = section.querySelectorAll(".gp-title");
  if (untitled) away.push(...titles);
  /** @type {NodeListOf<HTMLElement>} */
  const inside = section.querySelectorAll(".gp-body *");
  away.push(...[...inside].filter((one) => one.matches(covered ? `${CONTROLS}, ${ANSWERS}` : CONTROLS)));
  for (const one of away) one.style.setProperty("display", "none", "important");
  return () => {
    for (const one of away) one.style.removeProperty("display");
  };
}

/**
 * Whether every chart that is seen in a panel is drawn.
 *
 * @param {HTMLElement} section
 */
const hasCharts = (section) =>
  [...section.querySelectorAll(".gp-plot")].every(
    (one) => !one.getClientRects().length || one.querySelector(".main-svg"),
  );

/**
 * Shows a view in the copy.
 *
 * @param {Window & { glass?: Glass }} copy
 * @param {string} link
 * @param {View} view
 * @returns {Promise<{ inner: Glass; section: HTMLElement } | null>} once all of it is drawn; null where it does not
 *   come
 */
async function showIn(copy, link, { panel }) {
  if (!(await came(() => Boolean(copy.glass?.state.trace)))) return null;
  const inner = /** @type {Glass} */ (copy.glass);
  inner.state.presenting = true; // it has no history of its own
  await inner.visit(link);
  const { chapters } = window.glassConfig;
  if (!chapters[inner.state.chapter]?.panels.includes(panel))
    inner.open(Object.keys(chapters).find((name) => chapters[name].panels.includes(panel)) ?? "");
  inner.present(panel);
  /** @type {HTMLElement | null} */
  const section = copy.document.querySelector(`section.glass-panel[data-kind="${panel}"]`);
  if (!section) return null;
  section.scrollIntoView(); // a chart is drawn where it is in view
  const isDrawn = () => section.dataset.value !== undefined && hasCharts(section) && !inner.asking() && inner.drawn();
  return (await came(isDrawn)) ? { inner, section } : null;
}

/**
 * Shows a view in the copy, and takes its pictures. On paper that of a question has no title of its panel: the
 * question has a headline, and the title may name what another question of the same page asks.
 *
 * @param {Window & { glass?: Glass }} copy
 * @param {string} link
 * @param {View} view
 * @param {boolean} onPaper
 * @returns {Promise<Still | null>}
 */
async function takeOf(copy, link, view, onPaper) {
  const shown = await showIn(copy, link, view);
  if (!shown) return null;
  const { inner, section } = shown;
  const { panel, part } = view;
  const isRunless = section.hasAttribute("data-runless"); // then only its title says what it is of
  const { body } = copy.document;
  if (onPaper) body.classList.remove("dark"); // the copy's theme follows
  /** @param {boolean} covered */
  async function pictureOf(covered) {
    inner.state.covered = covered;
    inner.repaint();
    body.toggleAttribute("data-covered", covered);
    section.toggleAttribute("data-asks", covered);
    const due = performance.now() + LATE;
    await came(() => performance.now() > due && inner.drawn());
    const isQuestion = covered || !view.hidden;
    const bringBack = leaveOnly(section, part, { covered, untitled: onPaper && isQuestion && !isRunless });
    try {
      const box = section.querySelector(".gp-body");
      const drawn = [...(box?.querySelectorAll("canvas, .gp-chart") ?? [])].some((one) => one.getClientRects().length);
      if (covered && !drawn && (box?.clientHeight ?? 0) < EMPTY) return "";
      return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(await inner.picture(panel))}`;
    } finally {
      bringBack();
      inner.state.covered = false;
      body.removeAttribute("data-covered");
    }
  }
  section.classList.add("is-presented");
  section.toggleAttribute("data-apart-shown", Boolean(part && section.querySelector(part)?.matches("[data-apart]")));
  body.toggleAttribute("data-still", true);
  try {
    const asked = view.hidden && asksIn(section, part) ? await pictureOf(true) : "";
    const pieces = view.hidden && !asked ? labelsOf(inner.state.trace?.tokens.pieces ?? []) : [];
    const given = givenIn(section, part);
    const src = await pictureOf(false);
    return { src, asked, pieces, given, result: resultOf(section, part), chosen: chosenIn(inner, link) };
  } finally {
    section.classList.remove("is-presented");
    section.removeAttribute("data-apart-shown");
    body.removeAttribute("data-still");
  }
}

/**
 * The runs that a lesson's views show, and what their panels ask of the server: for a file of the lesson.
 *
 * @param {Glass} glass
 * @param {Lesson} lesson
 * @param {(at: number) => void} tell which view is on its way
 */
export async function collectViews(glass, lesson, tell) {
  const copy = createCopy(glass.state.language);
  const inside = /** @type {Window & { glass?: Glass }} */ (copy.contentWindow);
  const names = glass.models().map(({ name }) => name);
  const views = [];
  try {
    for (const [at, view] of everyView(lesson).entries()) {
      tell(at);
      const shown = await showIn(inside, linkOn(lesson, view, names), view);
      if (shown) views.push(...viewsOf(shown.inner));
    }
    return { views, calculations: inside.glass?.calculations() ?? [] };
  } finally {
    copy.remove();
  }
}

/**
 * @param {Glass} glass
 * @param {boolean} [onPaper] they are to be printed: in light colours, whatever the page's are
 * @returns {Stills}
 */
export function createStills(glass, onPaper = false) {
  /** @type {ReturnType<typeof createCopy> | null} */
  let copy = null;
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  /** @type {Map<string, Promise<Still | null>>} */
  const taken = new Map();
  return {
    take(lesson, view) {
      const link = linkOn(
        lesson,
        view,
        glass.models().map(({ name }) => name),
      );
      const key = `${view.panel} ${view.part} ${view.hidden} ${link}`;
      const found = taken.get(key);
      if (found) return found;
      copy ??= createCopy(glass.state.language, onPaper);
      const inside = /** @type {Window} */ (copy.contentWindow);
      const made = last.then(() => takeOf(inside, link, view, onPaper)).catch(() => null);
      last = made;
      taken.set(key, made);
      return made;
    },
    end() {
      copy?.remove();
      copy = null;
      taken.clear();
    },
  };
}
