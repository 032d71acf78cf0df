// What stands in the presenter's window.

import { html, nothing } from "../vendor/lit-html.js";
import { enterGuess } from "./bar.js";
import { asks, partsOfNote } from "./lesson.js";
import { pointsOf } from "./points.js";
import { clockOf } from "./timing.js";

/**
 * @typedef {import("./lesson.js").View} View
 *
 * @typedef {{ lesson: number; view: number; planned: number[]; clock: Date }} Time seconds since each began,
 *   minutes that are planned for each view, and what a clock shows
 *
 * @typedef {{
 *   lesson: import("./lesson.js").Lesson;
 *   now: import("./speaker.js").Now;
 *   part: { words: string; begins: boolean; ends: boolean };
 *   trouble: string;
 *   time: Time;
 *   guess: ReturnType<typeof import("./bar.js").createBar>["guess"];
 *   picture: string;
 * }} Shown
 *   `picture`: of the next view; "" before it is taken
 */

const sum = (/** @type {number[]} */ numbers) => numbers.reduce((all, one) => all + one, 0);

/**
 * A time beside what is planned for it.
 *
 * @param {import("../types.d.ts").Say} text
 * @param {string} name
 * @param {number} seconds
 * @param {number} minutes planned; 0: none
 */
function timeLine(text, name, seconds, minutes) {
  const over = minutes > 0 && seconds > 60 * minutes;
  const of = minutes > 0 ? text(over ? "over" : "of_minutes", { minutes }) : "";
  return html`<p class="ls-time ${over ? "is-over" : ""}">
    <span .textContent=${text(name)}></span> <strong .textContent=${clockOf(seconds)}></strong>
    <span .textContent=${of}></span>
  </p>`;
}

/**
 * @param {import("../types.d.ts").Say} text
 * @param {Time} time
 * @param {number} at
 * @param {string} language
 */
function timeOf(text, { lesson, view, planned, clock }, at, language) {
  const shown = clock.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });
  return html`<div class="ls-times">
    <p class="ls-clock" .textContent=${shown}></p>
    ${timeLine(text, "elapsed", lesson, sum(planned))}${timeLine(text, "this_view", view, planned[at])}
  </div>`;
}

/**
 * One text of a view under its name.
 *
 * @param {string} name
 * @param {string | undefined} words
 * @param {string} look
 */
const saying = (name, words, look) =>
  words
    ? html`<section class=${look}>
        <h2 .textContent=${name}></h2>
        <p .textContent=${words}></p>
      </section>`
    : nothing;

/**
 * What the presenter says, point by point.
 *
 * @param {string} name
 * @param {string} note
 */
const noteOf = (name, note) =>
  note
    ? html`<section class="ls-notes-said">
        <h2 .textContent=${name}></h2>
        ${pointsOf(note).map(
          ({ lead, rest }) => html`<p>${lead ? html`<strong .textContent=${lead}></strong>` : nothing}${rest}</p>`,
        )}
      </section>`
    : nothing;

/**
 * The class's guess, to be written here: the page shows it.
 *
 * @param {import("../types.d.ts").Say} text
 * @param {Shown["guess"]} guess
 * @param {Object<string, () => void>} acts
 */
function guessOf(text, guess, acts) {
  const write = (/** @type {Event} */ { target }) => guess.type(/** @type {HTMLInputElement} */ (target).value);
  const enter = (/** @type {KeyboardEvent} */ event) => {
    const field = /** @type {HTMLInputElement} */ (event.target);
    if (enterGuess(field, event, { comma: text("guess_comma"), reveal: acts.reveal })) write(event);
  };
  return html`<label class="ls-guesses">
    <span .textContent=${text("guess")}></span>
    <input
      class="ls-guess"
      type="text"
      maxlength="80"
      autocomplete="off"
      placeholder=${text("guess_hint")}
      .value=${guess.now()}
      @input=${write}
      @keydown=${enter}
    />
  </label>`;
}

/**
 * The view that follows.
 *
 * @param {import("../types.d.ts").Glass} glass
 * @param {View | undefined} view undefined: this is the last
 * @param {string} picture
 */
function nextOf(glass, view, picture) {
  const panel = view ? glass.text(`panel.${view.panel}`) : glass.text("lessons.no_next");
  return html`<section class="ls-then">
    <h2 .textContent=${glass.text("lessons.then")}></h2>
    <p>
      <strong .textContent=${view?.headline ?? panel}></strong>
      ${view?.headline ? html`<span class="ls-then-panel" .textContent=${panel}></span>` : nothing}
    </p>
    ${view?.question ? html`<p .textContent=${view.question}></p>` : nothing}
    ${picture ? html`<img class="ls-picture" src=${picture} alt=${view?.headline ?? panel} />` : nothing}
  </section>`;
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {Shown} shown
 * @param {Object<string, () => void>} acts
 */
export function speakerView(glass, { lesson, now, part, trouble, time, guess, picture }, acts) {
  /** @type {import("../types.d.ts").Say} */
  const text = (name, params) => glass.text(`lessons.${name}`, params);
  const { at, covered } = now;
  const view = lesson.views[at];
  /**
   * @type {(
   *   name: string,
   *   label: string,
   *   sign: string,
   *   off?: boolean,
   * ) => import("../vendor/lit-html.js").TemplateResult}
   */
  const button = (name, label, sign, off = false) =>
    html`<button
      type="button"
      class="ls-button ls-${name}"
      title=${label}
      aria-label=${label}
      ?disabled=${off}
      @click=${acts[name]}
      .textContent=${sign}
    ></button>`;
  const uncovers = text(covered ? "reveal" : "cover");
  const { before, after } = partsOfNote(view);
  const following = nextOf(glass, lesson.views[at + 1], picture);
  return html`<header class="ls-speaker-head">
      ${timeOf(text, time, at, glass.state.language)}
      <div class="ls-does">
        ${button("back", text("back"), "‹", part.begins)}
        <output class="ls-at" .textContent=${text("count", { at: at + 1, views: lesson.views.length })}></output>
        ${button("next", text("next"), "›", part.ends)} ${asks(view) ? button("reveal", uncovers, uncovers) : nothing}
        <span class="ls-part" .textContent=${part.words}></span>
        ${button("add", text("add_shown"), "+")} ${button("again", text("again"), text("again"))}
        ${button("leave", text("leave"), "✕")} ${guess.isAsked() ? guessOf(text, guess, acts) : nothing}
      </div>
    </header>
    <div class="ls-spoken" tabindex="0">
      ${trouble ? html`<p class="ls-trouble" role="status" .textContent=${trouble}></p>` : nothing}
      <h1 .textContent=${view.headline ?? glass.text(`panel.${view.panel}`)}></h1>
      ${saying(text("asked"), view.question, "ls-asked")} ${noteOf(text("note_before"), before)}
      ${saying(text("answer"), view.answer, "ls-answered")} ${noteOf(text(before ? "note_after" : "note"), after)}
      <p class="ls-hint" .textContent=${text("keys_speaker")}></p>
    </div>
    ${following}`;
}
