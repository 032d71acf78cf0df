// The bar under a presented panel: which view it is, the note, the class's guess while the answer is covered, and the
// ways.

import { h } from "../dom.js";
import { asks, partsOfNote } from "./lesson.js";

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
 * What the class answers before the answer is shown: a field for its guess, and the button that uncovers.
 *
 * @param {Acts} acts
 */
function makeGame(acts) {
  const asked = h("span", { "data-text": "lessons.asks" });
  const guess = h("input.ls-guess", {
    type: "text",
    maxlength: 80,
    autocomplete: "off",
    "data-text-label": "lessons.guess",
    "data-text-placeholder": "lessons.guess_hint",
    keydown: (/** @type {KeyboardEvent} */ { key }) => {
      if (key === "Enter" && !guess.disabled) acts.reveal();
    },
  });
  const reveal = h("button.ls-button.ls-reveal", { click: acts.reveal });
  const label = h("label", null, h("span", { "data-text": "lessons.guess" }), " ", guess);
  return { asked, guess, reveal, game: h("div.ls-game", null, asked, label, reveal) };
}

/** @param {Acts} acts */
function makeTools(acts) {
  const full = document.fullscreenEnabled ? [button("full", "⤢", acts.full)] : [];
  return h(
    "div.ls-tools",
    null,
    button("add_shown", "+", acts.add),
    button("notes", "✎", acts.notes, h("span.ls-word", { "data-text": "lessons.notes_word" })),
    ...full,
    button("list", "☰", acts.list),
    button("help", "?", acts.help),
    button("leave", "✕", acts.leave),
  );
}

/** @param {Acts} acts */
function makeElements(acts) {
  const game = makeGame(acts);
  const parts = {
    trouble: h("p.ls-trouble", { role: "status", hidden: "" }),
    note: h("p.ls-note", { "data-text-label": "lessons.note", role: "note", tabindex: "0" }),
    back: button("back", "‹", acts.back),
    count: h("output.ls-count"),
    next: button("next", "›", acts.next),
    part: h("output.ls-part"),
    keys: h("p.ls-keys", { "data-text": "lessons.keys", hidden: "" }),
    title: h("span.ls-title"),
  };
  const { trouble, note, back, count, next, part, keys, title } = parts;
  const element = h(
    "aside.ls-bar",
    { role: "region", "data-text-label": "lessons.bar", hidden: "" },
    trouble,
    note,
    keys,
    h("div.ls-line", null, game.game, h("div.ls-ways", null, back, count, next, part, title, makeTools(acts))),
  );
  return { ...parts, ...game, element };
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {Acts} acts
 */
export function createBar(glass, acts) {
  /** @type {Say} */
  const text = (name, params) => glass.text(`lessons.${name}`, params);
  const { element, trouble, note, game, asked, guess, reveal, back, count, next, part, keys, title } =
    makeElements(acts);

  let [isCovered, page, pages] = [false, 0, 1];
  let [isFirst, isLast] = [true, true]; // of the lesson's views
  /**
   * What the next press does first, where it does not go on: it uncovers, or shows more of a tall panel; and
   * whether there is nothing before this screen, or after it.
   */
  function tellPart() {
    const [begins, ends] = [isFirst && page === 0, isLast && page === pages - 1 && !isCovered];
    const screens = pages > 1 ? text(page < pages - 1 ? "part" : "part_last", { at: page + 1, pages }) : "";
    const words = isCovered ? text("part_covered") : [screens, ends ? text("ends") : ""].filter(Boolean).join(" · ");
    [part.textContent, back.disabled, next.disabled] = [words, begins, ends];
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
      say("");
      note.scrollTop = 0;
    }
    count.textContent = text("count", { at: at + 1, views: views.length });
    title.textContent = name;
    title.hidden = covered; // it may name the answer
    const { before, after } = partsOfNote(view);
    note.textContent = (covered && before) || after;
    note.hidden = !notes || !view.note || (covered && !before); // what is for after it may name the answer
    document.body.toggleAttribute("data-notes", !note.hidden);
    element.classList.toggle("is-asking", covered);
    game.hidden = !covered && !(asks(view) && guess.value); // what nobody guessed leaves its room to the answer
    asked.hidden = !covered || Boolean(view.question); // which stands above the view
    if (!covered) guess.blur();
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
  const help = () => {
    keys.hidden = !keys.hidden;
  };
  /** The class's guess, which the presenter's window has too. */
  const guessed = {
    now: () => guess.value,
    isAsked: () => !game.hidden && !guess.disabled,
    type(/** @type {string} */ words) {
      guess.value = words;
    },
  };
  return { element, note, open, close, show, say, help, page: pageAt, guess: guessed };
}
