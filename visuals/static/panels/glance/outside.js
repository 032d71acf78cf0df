// Where a prompt is not of the small world that the bundled model learnt: what is strange in it, measured in this run,
// an example that is of that world, and the way to a real LLaMA. Besides, where an answer is not as the text has it.

import { hasChinese, textOf } from "../../characters.js";
import { shareSaid } from "../../counts.js";
import { h, shown } from "../../dom.js";
import { isSettled } from "../../fetching.js";
import { isChanged } from "../../off.js";
import { memo, reactive } from "../../reads.js";
import { shownIn } from "../../run-for.js";
import { hold } from "../../scroll-anchor.js";
import { runPrompt } from "../attend/run-prompt.js";
import { sentences } from "./words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decoded.d.ts").Detail<"outside">} Answer
 *
 * @typedef {import("../../messages.d.ts").OutsideDetail} Outside the answer, where there is something to be told
 */

/** Whether there is something to be told. @type {(answer: Answer | null) => answer is Outside} */
const isTold = (answer) => answer !== null && "example" in answer;

/**
 * Which sentence says it.
 *
 * @param {Pick<Outside, "places" | "words" | "odd" | "misplaced">} found as app/chapters/glance.py answers
 */
export function sentenceOf({ places, words, odd, misplaced }) {
  if (!places.length) return odd ? "odd" : misplaced ? "misplaced" : "doubt";
  if (words === 1) return "one";
  return 3 * places.length >= words ? "many" : "some";
}

const NAMED = 4; // strange words that a sentence names

/**
 * The strange words by name, as many as a sentence has room for.
 *
 * @param {Say} text glass.text
 * @param {number[][]} places
 * @param {string[]} pieces
 */
function strangeWords(text, places, pieces) {
  const named = places.slice(0, NAMED).map(([first, end]) => textOf(pieces.slice(first, end)).trim());
  const listed = named.map((piece) => text("why.token", { piece })).join(text("why.list"));
  return places.length > NAMED ? `${listed}…` : listed;
}

/**
 * What a token is of: 1 inside a strange word, 2 at its end, 0 elsewhere.
 *
 * @param {number[][]} places first token and end
 * @param {number} t
 */
export const strangeAt = (places, t) =>
  places.reduce((most, [first, end]) => Math.max(most, t === end - 1 ? 2 : t >= first && t < end ? 1 : 0), 0);

/**
 * Leads to the answer above a remark, which is about to be another: the start of the scene or panel around it.
 *
 * @param {Element} remark
 */
function leadToAnswer(remark) {
  const home = /** @type {HTMLElement | null} */ (remark.closest(".st-scene, section.glass-panel"));
  if (!home) return;
  hold(() => home.scrollIntoView({ block: "start", behavior: "instant" }));
  home.focus({ preventScroll: true });
}

/**
 * Runs an example by its button above, which also opens it at what matters there; as a prompt where it has none.
 *
 * @param {Glass} glass
 * @param {string} example
 */
function tryExample(glass, example) {
  const chips = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".page-chips button"));
  const chip = [...chips].find(({ textContent }) => textContent === example);
  if (chip) chip.click();
  else runPrompt(glass, example, {});
}

/**
 * What is said of the real LLaMA under a text that it can read: how to get it, or the way to run the text on it.
 *
 * @param {Glass} glass
 */
function createReal(glass) {
  const element = h("div", { hidden: "" }, h("p", { "data-text": "real.knows" }));
  /** @type {{ getting: { draw: () => void } | null }} what is drawn of it, once it has come */
  const first = { getting: null };
  const view = reactive(first, glass.repaint);
  let asked = false;
  async function fetchGetting() {
    if (asked) return;
    asked = true;
    const { createGetting } = await import("../../getting.js");
    const made = createGetting(
      glass,
      () => shownIn(glass).trace.prompt,
      () => leadToAnswer(element),
    );
    element.append(made.element);
    glass.translate(element);
    view.getting = made;
  }
  /** @param {boolean} isWorth whether the model that is shown does not know what it takes */
  function draw(isWorth) {
    // the real LLaMA reads English
    element.hidden = !isWorth || hasChinese(shownIn(glass).trace.prompt) || !glass.real.where();
    if (element.hidden) return;
    fetchGetting();
    view.getting?.draw();
  }
  return { element, draw };
}

/** @param {Glass} glass */
export function createOutside(glass) {
  /** @type {Say} */
  const text = (name, params) => glass.text(`why.outside_${name}`, params);
  const said = h("div", { "aria-live": "polite" });
  const real = createReal(glass);
  const element = h("div.wy-outside", { hidden: "" }, said, real.element);
  let untrusted = false;
  const show = memo((/** @type {Outside | null} */ found, /** @type {boolean} */ isAsGiven) => {
    element.hidden = !found;
    if (!found) return said.replaceChildren();
    const { places, words, tokens, surprisal, usual, doubt, unsure, example } = found;
    const figures = usual
      ? text("surprise", {
          own: shown(surprisal ?? NaN, 3),
          count: usual.documents,
          middle: shown(usual.middle, 3),
          most: shown(usual.most, 3),
          tokens,
        })
      : "";
    const more = h("details.gp-note", null, h("summary", null, text("measured")), h("p", null, figures));
    const named = strangeWords(glass.text, places, shownIn(glass).trace.tokens.pieces);
    const params = { unknown: places.length, words, named, p: shareSaid(glass.text, doubt ?? NaN) };
    const name = sentenceOf(found);
    // that the model is not sure says by itself what to make of the answer
    const so = name === "doubt" ? "learned" : name === "some" && !unsure ? "careful" : "so";
    untrusted = so === "so";
    const first = text(name === "doubt" && !isAsGiven ? "doubt_before" : name, params);
    const whole = sentences(glass.text, first, text(so));
    const click = () => {
      leadToAnswer(element);
      tryExample(glass, example);
    };
    const ways = example ? [h("button.gp-option", { click }, text("try", { example }))] : [];
    return said.replaceChildren(h("p", null, whole), ...(figures ? [more] : []), ...ways);
  });
  /** @type {{ read: string | null; answer: Answer | null }} stays while a longer run of a reading has no answer */
  let last = { read: null, answer: null };
  const isKnown = () => last.answer !== null || isSettled(shownIn(glass).trace, "outside");
  return {
    element,
    /** Whether it is known if there is something to be told; it stays so while a longer run is asked. */
    isKnown,
    /** Whether there is something to be told, or may be. */
    mayTell: () => !isKnown() || !element.hidden,
    /** Whether it is said that the answer is not to be trusted. */
    isUntrusted: () => !element.hidden && untrusted,
    /** @returns {number[][]} the strange words' tokens; none until they have come */
    draw() {
      const { side, status, trace } = shownIn(glass);
      const read = `${trace.model.name} ${trace.prompt}`;
      const same = last.read === read;
      const answer =
        (same && status === "generating" ? null : glass.detail("outside", {})) ?? (same ? last.answer : null);
      last = { read, answer };
      const found = side !== "B-A" && isTold(answer) ? answer : null;
      show(found, !isChanged(trace) && trace.T === trace.nPrompt, glass.state.language);
      real.draw(found !== null && found.tokens > 0);
      return found?.places ?? NONE;
    },
  };
}
/** @type {number[][]} */
const NONE = [];
