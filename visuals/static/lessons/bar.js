// The bar under a presented panel: which view it is, the note, the class's guess while the answer is covered, and the
// ways.

import { h } from "../dom.js";
import { isColumn } from "./column.js";
import { asks, partsOfNote } from "./lesson.js";
import { pointsOf } from "./points.js";

/**
 * @typedef {import("./present.js").Acts} Acts
 *
 * @typedef {import("../types.d.ts").Say} Say
 */

/** @type {(name: string, sign: string, act: () => void, ...words: Node[]) => HTMLButtonElement} */
const button = (name, sign, act, ...words) =>
  h(
    `button.ls-button.ls-${name}`,
    { "data-text-label": `lessons.${name}`, "data-text-title": `lessons.${name}`, click: act },
    sign,
    ...words,
  );

/**
 * One of the tools: its sign, and in a narrow window what it does in words, too.
 *
 * @type {(name: string, sign: string, act: () => void) => HTMLButtonElement}
 */
const tool = (name, sign, act) =>
  button(name, sign, act, h("span.ls-word", { "aria-hidden": "true", "data-text": `lessons.${name}_word` }));

/**
 * What Enter does in the field of the class's guesses: it keeps the word that was written, with a comma for the
 * next one; where nothing more is written, it shows the answer. An input method's own Enter does neither.
 *
 * @param {HTMLInputElement} field
 * @param {KeyboardEvent} event
 * @param {{ comma: string; reveal: () => void }} how
 * @returns {boolean} whether a word was kept
 */
export function enterGuess(field, { key, isComposing }, { comma, reveal }) {
  if (key !== "Enter" || isComposing || field.disabled) return false;
  const written = field.value.trim();
  const isNew = written !== "" && !written.endsWith(comma.trim());
  if (isNew) field.value = written + comma;
  else reveal();
  return isNew;
}

/**
 * What the class answers before the answer is shown: a field for its guess, and the button that uncovers.
 *
 * @param {Acts} acts
 * @param {Say} text
 */
function makeGame(acts, text) {
  const asked = h("span", { "data-text": "lessons.asks" });
  const guess = h("input.ls-guess", {
    type: "text",
    maxlength: 80,
    autocomplete: "off",
    "data-text-label": "lessons.guess",
    "data-text-placeholder": "lessons.guess_hint",
    keydown(/** @type {KeyboardEvent} */ event) {
      const isKept = enterGuess(guess, event, { comma: text("guess_comma"), reveal: acts.reveal });
      if (isKept) guess.dispatchEvent(new Event("input"));
    },
  });
  const reveal = h("button.ls-button.ls-reveal", { click: acts.reveal });
  const label = h("label", null, h("span", { "data-text": "lessons.guess" }), " ", guess);
  return { asked, label, guess, reveal, game: h("div.ls-game", null, asked, label, reveal) };
}

/**
 * What is seldom pressed. A narrow window has room for one line, and these behind a button of it.
 *
 * @param {Acts} acts
 */
function makeTools(acts) {
  const full = document.fullscreenEnabled ? [tool("full", "⤢", acts.full)] : [];
  const tools = h(
    "div.ls-tools",
    { click: () => fold(true) },
    tool("add_shown", "+", acts.add),
    tool("notes", "✎", acts.notes),
    ...full,
    tool("list", "☰", acts.list),
    tool("help", "?", acts.help),
  );
  const isOpen = () => tools.classList.contains("is-open");
  const more = button("more", "⋯", () => fold(isOpen()));
  const leave = button("leave", "✕", acts.leave);
  /** Gives whether they were open. @param {boolean} closed */
  function fold(closed) {
    const wasOpen = isOpen();
    tools.classList.toggle("is-open", !closed);
    more.setAttribute("aria-expanded", String(!closed));
    return wasOpen;
  }
  fold(true);
  return { fold, tools: [more, tools, leave] };
}

/**
 * @param {Acts} acts
 * @param {Say} text
 */
function makeElements(acts, text) {
  const game = makeGame(acts, text);
  const { fold, tools } = makeTools(acts);
  const parts = {
    trouble: h("p.ls-trouble", { role: "status", hidden: "" }),
    note: h("div.ls-note", { "data-text-label": "lessons.note", role: "note", tabindex: "0" }),
    back: button("back", "‹", acts.back),
    count: h("output.ls-count"),
    next: button("next", "›", acts.next),
    part: h("output.ls-part"),
    keys: h("p.ls-keys", { "data-text": "lessons.keys", hidden: "" }),
    title: h("span.ls-title"),
    coming: h("p.ls-coming", { role: "status", "data-text": "lessons.coming" }),
    waiting: h("p.ls-waiting", { role: "status", "data-text": "lessons.press_waits" }),
    over: h("p.ls-over", { "data-text": "lessons.ends", hidden: "" }),
  };
  const { trouble, note, back, count, next, part, keys, title, coming, waiting, over } = parts;
  const element = h(
    "aside.ls-bar",
    { role: "region", "data-text-label": "lessons.bar", hidden: "" },
    coming,
    waiting,
    trouble,
    note,
    keys,
    over,
    h(
      "div.ls-line",
      null,
      game.game,
      h("div.ls-ways", null, back, h("div.ls-where", null, count, part), next, title, ...tools),
    ),
  );
  return { ...parts, ...game, fold, element };
}

/** @param {{ lead: string; rest: string }} point of the note */
const pointLine = ({ lead, rest }) => h("p", null, ...(lead ? [h("strong", null, lead)] : []), rest);

/** @type {(words: string, end: string) => string} */
const withoutEnd = (words, end) => (words.endsWith(end) ? words.slice(0, -end.length) : words);

/** @type {(...words: string[]) => string} */
const joined = (...words) => words.filter(Boolean).join(" · ");

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {Acts} acts
 */
export function createBar(glass, acts) {
  /** @type {Say} */
  const text = (name, params) => glass.text(`lessons.${name}`, params);
  const made = makeElements(acts, text);
  const { element, trouble, note, game, asked, label, guess, reveal, back, count, next, part, keys, title, fold } =
    made;

  let [isCovered, page, pages] = [false, 0, 1];
  let [isFirst, isLast] = [true, true]; // of the lesson's views
  /**
   * What the next press does: it uncovers, shows more of a tall panel, or goes on to the next view; and whether
   * there is nothing before this screen, or after it. Beside the buttons of a phone few words have room.
   */
  function tellPart() {
    const [begins, ends] = [isFirst && page === 0, isLast && page === pages - 1 && !isCovered];
    const screens = pages > 1 ? text(page < pages - 1 ? "part" : "part_last", { at: page + 1, pages }) : "";
    const then = page < pages - 1 ? "" : text(ends ? "ends" : "part_view");
    const words = isCovered ? text("part_covered") : joined(screens, then);
    part.dataset.brief = isCovered ? "" : ends ? text("ends") : screens && text("part_brief", { at: page + 1, pages });
    [part.textContent, back.disabled, next.disabled, made.over.hidden] = [words, begins, ends, !ends];
    return { words, begins, ends };
  }
  /**
   * @param {import("./lesson.js").Lesson} lesson
   * @param {{ at: number; covered: boolean; notes: boolean; moved: boolean }} now
   * @returns {ReturnType<typeof tellPart>}
   */
  function show({ title: name, views }, { at, covered, notes, moved }) {
    const view = views[at];
    if (moved) {
      guess.value = "";
      [page, pages] = [0, 1];
      fold(true);
      say("");
      note.scrollTop = 0;
    }
    count.textContent = text("count", { at: at + 1, views: views.length });
    [title.textContent, title.hidden] = [name, covered]; // it may name the answer
    const { before, after } = partsOfNote(view);
    note.replaceChildren(...pointsOf((covered && before) || after).map(pointLine));
    note.hidden = !notes || !view.note || (covered && !before); // what is for after it may name the answer
    document.body.toggleAttribute("data-notes", !note.hidden);
    element.classList.toggle("is-asking", covered);
    label.hidden = !covered && !(asks(view) && guess.value); // what nobody guessed leaves its room to the answer
    game.hidden = label.hidden && !(isColumn() && asks(view)); // else another button comes under the finger
    asked.hidden = !covered || Boolean(view.question); // which stands above the view
    if (!covered) {
      guess.blur();
      guess.value = withoutEnd(guess.value.trim(), text("guess_comma").trim());
    }
    guess.disabled = !covered; // it is made: from here on the keys are the lesson's
    reveal.textContent = text(covered ? "reveal" : "cover");
    [isFirst, isLast, isCovered] = [at === 0, at === views.length - 1, covered];
    return tellPart();
  }
  /** @param {string} words of a message; none: "" */
  function say(words) {
    trouble.textContent = words;
    trouble.hidden = !words;
  }
  /** Marks a press that is done once the view is there. @param {boolean} waits */
  const wait = (waits) => void element.classList.toggle("is-waiting", waits);
  /**
   * Which page of a tall panel is shown.
   *
   * @param {number} at
   * @param {number} all how many there are
   */
  function pageAt(at, all) {
    [page, pages] = [at, all];
    return tellPart();
  }
  /** Opens it in the page's language. */
  function open() {
    if (!element.isConnected) document.body.append(element);
    glass.translate(element);
    element.hidden = false;
  }
  const close = () => {
    element.hidden = keys.hidden = true;
    document.body.removeAttribute("data-notes");
  };
  /** Shows what the keys do, or hides it again. */
  const help = () => void (keys.hidden = !keys.hidden);
  /** Closes what was opened over the view; whether anything was. */
  function shut() {
    const wasShown = !keys.hidden;
    keys.hidden = true;
    return fold(true) || wasShown;
  }
  /** The class's guess, which the presenter's window has too. */
  const guessed = {
    now: () => guess.value,
    isAsked: () => !game.hidden && !guess.disabled,
    type(/** @type {string} */ words) {
      guess.value = words;
    },
    /** Calls `changed` when something was written on the page. @param {() => void} changed */
    follow(changed) {
      guess.addEventListener("input", changed);
    },
  };
  return { element, note, game, label, open, close, show, say, wait, help, shut, page: pageAt, guess: guessed };
}
