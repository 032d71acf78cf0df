// What a lesson is: views in an order, each with a note. Checks whatever a file, a link or the browser's storage holds,
// field by field, before anything uses it. Knows no page.

import { readLink } from "../link.js";

export const FORMAT = "glass-llama-lesson";
const VERSION = 1;
/** The most of each: characters of texts and of a view's link, views and plans of a lesson, bytes of a file. */
export const MOST = {
  title: 120,
  headline: 80,
  question: 200,
  answer: 1000,
  note: 3000,
  link: 100_000,
  views: 60,
  plans: 5,
  minutes: 240,
  bytes: 1_000_000,
};
/** What a view may say beside its note; left out where it says nothing. */
export const SAYINGS = /** @type {const} */ (["headline", "question", "answer"]);
const VIEW = /** @type {const} */ (["link", "panel", "part", "note", "hidden"]); // fields that each view has
const LESSON = /** @type {const} */ (["format", "version", "language", "title", "views"]);
const SAID = 40; // characters of a wrong value that a message repeats

/**
 * @typedef {{
 *   link: string;
 *   panel: string;
 *   part: string;
 *   note: string;
 *   hidden: boolean;
 *   headline?: string;
 *   question?: string;
 *   answer?: string;
 *   minutes?: number[];
 * }} View
 *   `link`: the part of an address after and with "#"; `panel`: the one that is presented; `part`: ".name" of what of
 *   it comes first, "" for its top; `note`: for the presenter alone, in paragraphs, as `partsOfNote` has them;
 *   `hidden`: covered until the presenter shows it; `headline` and `question`: shown above it; `answer`: of the
 *   question, which stands under that once the class has guessed, and on the worksheet; `minutes`: how long it is
 *   shown in each plan of the lesson, 0 where it is left out
 *
 * @typedef {{
 *   format: string;
 *   version: number;
 *   language: string;
 *   title: string;
 *   model?: string;
 *   views: View[];
 *   after?: View[];
 * }} Lesson
 *   `model`: which reads the views whose links name none; the one that a new visitor gets where it is left out;
 *   `after`: what the worksheet asks beside the questions of the views, for afterwards: no class sees these
 *
 * @typedef {{ panels: string[]; languages: string[] }} Known what the page has
 */

/**
 * Whether a view has something to be guessed before it is shown: what it shows, or the answer in words.
 *
 * @param {Pick<View, "hidden" | "question" | "answer">} view
 */
export const asks = ({ hidden, question, answer }) => hidden || Boolean(question && answer);

const PARAGRAPHS = /\n\s*\n/;

/**
 * A note's two parts: its first paragraph is for before the answer is shown, the others for after it. All of a note
 * of one paragraph, which may name the answer, is for after; so is that of a view that asks nothing.
 *
 * @param {Pick<View, "note" | "hidden" | "question" | "answer">} view
 */
export function partsOfNote(view) {
  const [first, ...others] = view.note.split(PARAGRAPHS);
  if (!asks(view) || !others.length) return { before: "", after: view.note };
  return { before: first, after: others.join("\n\n") };
}

/** Something that is no lesson. `code` is the end of a text "lessons.bad_<code>". */
export class Refused extends Error {
  /**
   * @param {string} code
   * @param {Record<string, unknown>} [params] of that text
   */
  constructor(code, params = {}) {
    super(code);
    this.code = code;
    this.params = params;
  }
}

/** @param {unknown} value */
const shortly = (value) => {
  const text = value === undefined ? "–" : (JSON.stringify(value) ?? String(value));
  return text.length > SAID ? `${text.slice(0, SAID)}…` : text;
};
/**
 * @param {string} field
 * @param {unknown} value
 * @param {string} expected the end of a text "lessons.expected_<name>"
 * @param {object} [params] of that text
 */
const wrong = (field, value, expected, params = {}) =>
  new Refused("field", { field, value: shortly(value), expected, ...params });

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The object, which has just these fields; refuses one that is missing and one that is not known.
 *
 * @template {string} Name
 * @param {Record<string, unknown>} value
 * @param {readonly Name[]} names
 * @param {string} at where it is; "" for the lesson itself
 * @returns {Record<Name, unknown>}
 */
function fieldsOf(value, names, at) {
  const place = (/** @type {string} */ name) => (at ? `${at}.${name}` : name);
  for (const name of Object.keys(value))
    if (!names.some((one) => one === name))
      throw wrong(place(name.slice(0, SAID)), value[name], "no_field", { names: names.join(", ") });
  for (const name of names)
    if (!Object.hasOwn(value, name)) throw wrong(place(name), undefined, "field", { names: names.join(", ") });
  return value;
}

/**
 * @param {unknown} value
 * @param {string} field
 * @param {number} most characters
 * @param {number} [least] of them that are no blanks
 */
function text(value, field, most, least = 0) {
  if (typeof value !== "string" || value.length > most || value.trim().length < least || !value.isWellFormed()) {
    throw wrong(field, value, least ? "words" : "text", { most });
  }
  return value;
}

/**
 * How long a view is shown, by plan.
 *
 * @param {unknown} value
 * @param {string} field
 * @returns {number[]}
 */
function minutesOf(value, field) {
  const most = MOST.minutes;
  const fits = (/** @type {unknown} */ one) => typeof one === "number" && one >= 0 && one <= most;
  if (!Array.isArray(value) || value.length > MOST.plans || !value.every(fits))
    throw wrong(field, value, "minutes", { plans: MOST.plans, most });
  return value;
}

/**
 * What a view may have beside the fields that each has.
 *
 * @param {Record<string, unknown>} given
 * @param {string} at
 */
function moreOf(given, at) {
  /** @type {Pick<View, "headline" | "question" | "answer" | "minutes">} */
  const more = {};
  for (const name of SAYINGS)
    if (given[name] !== undefined) more[name] = text(given[name], `${at}.${name}`, MOST[name]);
  if (given.minutes !== undefined) more.minutes = minutesOf(given.minutes, `${at}.minutes`);
  return more;
}

/**
 * A view; its link is read as a pasted one is.
 *
 * @param {unknown} given
 * @param {string} at
 * @param {Known} known
 * @returns {View}
 */
function viewOf(given, at, { panels }) {
  if (!isObject(given)) throw wrong(at, given, "object", { names: VIEW.join(", ") });
  const { headline: _h, question: _q, answer: _a, minutes: _m, ...plain } = given;
  const fields = fieldsOf(plain, VIEW, at);
  const { part, hidden } = fields;
  const link = text(fields.link, `${at}.link`, MOST.link, 2);
  if (!/^#[^\s#]+$/.test(link)) throw wrong(`${at}.link`, link, "link");
  const [fault] = readLink(link).faults;
  if (fault) throw wrong(`${at}.link: ${fault.field}`, fault.value, "number");
  const panel = panels.find((one) => one === fields.panel);
  if (panel === undefined) throw wrong(`${at}.panel`, fields.panel, "one_of", { names: panels.join(", ") });
  if (typeof part !== "string" || !/^(\.[a-zA-Z][\w-]{0,59})?$/.test(part)) throw wrong(`${at}.part`, part, "part");
  const note = text(fields.note, `${at}.note`, MOST.note);
  if (typeof hidden !== "boolean") throw wrong(`${at}.hidden`, hidden, "one_of", { names: "true, false" });
  return { link, panel, part, note, hidden, ...moreOf(given, at) };
}

/**
 * The views of a list, each checked.
 *
 * @param {unknown} given
 * @param {string} field that has them
 * @param {Known} known
 */
function viewsOf(given, field, known) {
  if (!Array.isArray(given) || given.length > MOST.views)
    throw wrong(field, Array.isArray(given) ? given.length : given, "views", { most: MOST.views });
  return given.map((one, i) => viewOf(one, `${field}[${i}]`, known));
}

/**
 * The lesson that a value is.
 *
 * @param {unknown} value
 * @param {Known} known
 * @returns {Lesson} Throws Refused, which names the first field that is wrong.
 */
export function checkLesson(value, known) {
  if (!isObject(value) || value.format !== FORMAT)
    throw wrong("format", isObject(value) ? value.format : value, "one_of", { names: FORMAT });
  if (value.version !== VERSION) throw wrong("version", value.version, "version", { names: String(VERSION) });
  const { model: named, after, ...others } = value;
  const { views, ...fields } = fieldsOf(others, LESSON, "");
  const language = known.languages.find((one) => one === fields.language);
  if (language === undefined) throw wrong("language", fields.language, "one_of", { names: known.languages.join(", ") });
  const title = text(fields.title, "title", MOST.title, 1);
  const model = named === undefined ? undefined : text(named, "model", MOST.title, 1);
  return {
    format: FORMAT,
    version: VERSION,
    language,
    title,
    ...(model !== undefined && { model }),
    views: viewsOf(views, "views", known),
    ...(after !== undefined && { after: viewsOf(after, "after", known) }),
  };
}

/** All that a lesson shows, to a class and on its worksheet. @param {Lesson} lesson */
export const everyView = ({ views, after = [] }) => [...views, ...after];

/** What the worksheet of a lesson asks. @param {Lesson} lesson */
export const tasksOf = (lesson) => everyView(lesson).filter(({ question }) => question);

/** What an error says of itself. @param {unknown} error */
export const reasonOf = (error) => (error instanceof Error ? error.message : String(error));

/**
 * The lesson in a file's text.
 *
 * @param {string} words
 * @param {Known} known
 * @returns {Lesson} Throws Refused.
 */
export function readLesson(words, known) {
  if (words.length > MOST.bytes) throw new Refused("size", { size: words.length, most: MOST.bytes });
  let value;
  try {
    value = JSON.parse(words.replace(/^\ufeff/, ""));
  } catch (error) {
    throw new Refused("json", { reason: reasonOf(error).slice(0, 100) });
  }
  return checkLesson(value, known);
}

/**
 * A lesson as a file's text.
 *
 * @param {Lesson} lesson
 */
export const writeLesson = (lesson) => `${JSON.stringify(lesson, null, 2)}\n`;

/**
 * @param {string} title
 * @param {string} language
 * @returns {Lesson} one without views
 */
export const newLesson = (title, language) => ({ format: FORMAT, version: VERSION, language, title, views: [] });

/**
 * The address of a page as a view keeps it: without the language, which belongs to the reader.
 *
 * @param {string} hash
 */
export function linkOf(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  for (const name of [...fields.keys()]) if (name === "lang" || name === "lesson") fields.delete(name);
  return `#${fields}`;
}

/**
 * The link of a view, with the lesson's model where it names none and that is on offer; where it is not, without
 * the tokens that this model wrote, whose numbers are other words to another.
 *
 * @param {Lesson} lesson
 * @param {View} view
 * @param {string[]} offered models by name
 */
export function linkOn({ model }, { link }, offered) {
  const fields = new URLSearchParams(link.slice(1));
  if (model === undefined || fields.has("model")) return link;
  if (offered.includes(model)) fields.set("model", model);
  else if (fields.has("more")) fields.delete("more");
  else return link;
  return `#${fields}`;
}

// Each gives a new lesson.

/** @type {(lesson: Lesson, view: View, at?: number) => Lesson} */
export const withView = (lesson, view, at = lesson.views.length) => ({
  ...lesson,
  views: lesson.views.toSpliced(at, 0, view),
});
/** @type {(lesson: Lesson, at: number) => Lesson} */
export const without = (lesson, at) => ({ ...lesson, views: lesson.views.toSpliced(at, 1) });
/** @type {(lesson: Lesson, at: number, change: Partial<View>) => Lesson} */
export const changed = (lesson, at, change) => ({
  ...lesson,
  views: lesson.views.with(at, { ...lesson.views[at], ...change }),
});
/**
 * A view one place up (-1) or down (1); at an end the lesson itself.
 *
 * @param {Lesson} lesson
 * @param {number} at
 * @param {number} by
 * @returns {Lesson}
 */
export function moved(lesson, at, by) {
  const to = at + by;
  if (to < 0 || to >= lesson.views.length) return lesson;
  const views = lesson.views.with(at, lesson.views[to]).with(to, lesson.views[at]);
  return { ...lesson, views };
}
