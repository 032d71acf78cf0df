// The answer itself: the sentence with the next word in its gap, an arc to what it rests on, and something to try.

import { partOfCharacter } from "../../characters.js";
import { topCandidates } from "../../compute.js";
import { exact, h } from "../../dom.js";
import { counterpart } from "../../examples.js";
import { glossed, glossOf } from "../../gloss.js";
import { createFar } from "../../how-far.js";
import { askRests, isKept, isLittle, leftWithout, nearlyNeeded, partsLost, restsOf } from "../../readings/rests.js";
import { memo } from "../../reads.js";
import { createOutside } from "../../panels/glance/outside.js";
import { createReadText } from "../../panels/glance/read-text.js";
import { namedInWord, sentences, wordAround } from "../../panels/glance/words.js";
import { createExperiment } from "../experiment.js";
import { looksBack } from "../place.js";
import { createRemarks } from "../remarks.js";
import { answerOf, bold, shareSaid, signInSentence, told } from "../words.js";

/** @typedef {import("../../decode.js").Trace} Trace */

/**
 * @typedef {import("../experiment.js").Answer} Answer
 *
 * @typedef {{
 *   best: import("../remarks.js").Candidate;
 *   rows: import("../remarks.js").Candidate[];
 *   answer: string;
 *   found: import("../../decoded.d.ts").Detail<"rests"> | null;
 *   part: import("../../readings/rests.js").Part | null;
 *   rests: import("../../readings/rests.js").Rests | null;
 *   key: number | undefined;
 *   instead: (Answer & { piece: string }) | null;
 *   hidden: (Answer & { piece: string }) | null;
 *   off: { count: number; before: Answer; left: number | null } | null;
 *   left: number;
 * }} ToldOf
 *   an answer: `rows` are the candidates, it first; `part`: how far "rests" is, of a long text; `hidden`: what stands
 *   there while the token is hidden
 */

const NAMED = 4; // candidates: the answer, and what else was possible
const NEAR = 2; // words that are named beside the one that is needed most

/**
 * Whether a token ends the text.
 *
 * @param {Trace} trace
 * @param {number} id
 */
const endsWith = ({ model }, id) => model.eos_ids.includes(id);

/**
 * Whether an answer is a word, and not a space, a sign or a piece that goes on with the word before it.
 *
 * @param {string} piece
 * @param {string} [before] the last piece of the text
 */
const isWhole = (piece, before = "") =>
  !partOfCharacter(piece) &&
  /[\p{L}\p{N}]/u.test(piece) &&
  !(/^\p{Script=Latin}/u.test(piece) && /\p{Script=Latin}$/u.test(before));

const FEW = 3; // tokens that a habit goes by (model/analysis/form.py)

/**
 * In which form the answer is told: by what it rests on, as far as that has come and can be measured. A copy is
 * spoken of where the token that is needed most is the one that is copied, and that a word stands nowhere in the
 * text where it does not; of a space, of a sign and of a piece that goes on with a word neither is. Where most of
 * the probability is left without a look at the word, it is not said to be copied. The words just before are spoken
 * of where the token that is needed most is one of them, and a need only where much is lost.
 *
 * @param {{
 *   found: import("../../decoded.d.ts").Detail<"rests"> | null;
 *   rests: import("../../readings/rests.js").Rests | null;
 *   best: { piece: string; probability: number };
 *   left: number;
 * }} it
 *   `left`: the probability without a look at the token that is needed most
 * @param {string[]} pieces of the text
 */
export function formOf({ found, rests, best, left }, pieces) {
  if (!found) return "_waits";
  if (!rests) return "_other";
  if (!rests.tokens.length) return "_none";
  if (rests.form !== "copied" && isLittle(best.probability, left)) return "_little";
  if (rests.form === "habit") return rests.tokens[0] >= pieces.length - FEW ? "_habit" : "_needs";
  const isAnswer = (/** @type {string} */ piece) => piece.trim().toLowerCase() === best.piece.trim().toLowerCase();
  if (!isWhole(best.piece, pieces.at(-1))) return "_needs";
  const copiedFromElsewhere = rests.form === "copied" && !isAnswer(pieces[rests.tokens[0]]);
  const recalledThoughThere = rests.form === "recalled" && pieces.some(isAnswer);
  if (copiedFromElsewhere || recalledThoughThere) return "_needs";
  return rests.form === "copied" && isKept(best.probability, left) ? "_there" : `_${rests.form}`;
}

/**
 * Whether a hidden token changes what comes first.
 *
 * @param {{ id: number }} instead
 * @param {{ id: number }} best
 */
const hiddenForm = (instead, best) => (instead.id === best.id ? "_still" : "_hidden");

/**
 * The same of heads that are off.
 *
 * @param {{ id: number }} before
 * @param {{ id: number }} best
 */
const offForm = (before, best) => (before.id === best.id ? "_off_still" : "_off");

/**
 * What would come first with no look at the token that the answer needs most; null while that has not come.
 *
 * @param {import("../scene.js").Glass} glass
 * @param {Trace} trace
 */
function insteadIn(glass, trace) {
  const back = looksBack(glass);
  if (!back) return null;
  const { id, piece, probability: p } = back.instead;
  return { id, piece, word: answerOf(glass.text, piece, endsWith(trace, id)), p };
}

/**
 * What the colours over the sentence mean.
 *
 * @param {import("../scene.js").Glass} glass
 */
function createColours({ text }) {
  const element = h("p.st-note");
  /**
   * @param {import("../../readings/rests.js").Rests | null} rests what is drawn there
   * @param {boolean} held whether its room is kept while nothing is drawn there
   * @param {string[]} pieces of the text
   */
  function draw(rests, held, pieces) {
    const isKept = !rests && held;
    element.classList.toggle("is-kept", isKept);
    const colours = isKept || (rests && partsLost(rests).some(Boolean)) ? text("story.answer_colours") : "";
    const arrow = isKept || rests?.tokens.length ? text("story.answer_colours_arrow") : "";
    const near = (rests ? nearlyNeeded(rests) : []).slice(0, NEAR).map((t) => namedInWord(text, pieces, t));
    const second = { count: near.length, others: near.join(text("why.list")) };
    const also = near.length ? text("story.answer_near", second) : "";
    const count = rests?.sinks.length;
    const sinks = count ? text("story.answer_colours_sinks", { count }) : "";
    element.textContent = sentences(text, colours, sentences(text, arrow, also, sinks));
    element.hidden = !element.textContent;
  }
  return { element, draw };
}

/**
 * What was written since the sentence was drawn; the steps before stand in the sentence.
 *
 * @param {Trace} trace
 */
const freshIn = ({ generating, steps, T, nPrompt }) => (generating ? steps.slice(T - nPrompt) : []);

/**
 * The gap, and before it the blank, where the piece has one.
 *
 * @param {import("../scene.js").Glass} glass
 */
function createGap(glass) {
  const gap = h("strong.wy-gap.st-gap");
  const blank = h("span");
  const write = memo((/** @type {string} */ word, /** @type {string} */ meaning) => {
    gap.replaceChildren(...glossed(word, meaning));
  });
  /**
   * The next word stands in the gap; while the model writes, what it has written since the sentence was drawn.
   *
   * @param {Trace} trace
   * @param {string} piece of the next word
   * @param {string} answer the same by name
   */
  function fillGap(trace, piece, answer) {
    const bare = piece.trim();
    const written = freshIn(trace)
      .map((step) => step.piece)
      .join("");
    blank.textContent = !written && bare && bare === piece ? "" : " ";
    if (written) return write(written, "");
    write(...(signInSentence(glass.text, piece) ?? [answer, glossOf(glass)(piece)]));
  }
  return { gap, blank, fillGap };
}

/**
 * Where the text is still an example in the other language of the page, the example in the reader's.
 *
 * @param {import("../scene.js").Glass} glass
 */
function createOtherExample({ text, state }) {
  const element = h("p.st-acts");
  const put = memo((/** @type {HTMLElement | null} */ chip, /** @type {string} */ language) => {
    if (!chip) return element.replaceChildren();
    const words = text("story.other_example", { example: chip.textContent });
    element.replaceChildren(h("button.st-act", { lang: language, click: () => chip.click() }, words));
  });
  const draw = () => put(state.trace && counterpart(state.trace.prompt, state.language), state.language);
  return { element, draw };
}

/**
 * Of which candidates something is remarked: while something is tried, of none; and of the answer alone where it is
 * not to be trusted, since what else was possible is no better.
 *
 * @param {import("../remarks.js").Candidate[]} rows the answer first
 * @param {boolean} isPlain
 * @param {boolean} isReliable
 */
const toRemark = (rows, isPlain, isReliable) => (isPlain ? rows.slice(0, isReliable ? NAMED : 1) : []);

/**
 * In which form the scene is told, what is tried there included.
 *
 * @param {Trace} trace
 * @param {ToldOf} it
 * @param {boolean} over whether the text has ended
 */
function formNow(trace, it, over) {
  if (over) return "_ended";
  if (trace.generating) return "_writes";
  if (it.off) return offForm(it.off.before, it.best);
  return it.hidden ? hiddenForm(it.hidden, it.best) : formOf(it, trace.tokens.pieces);
}

/**
 * What the texts name.
 *
 * @param {import("../scene.js").Glass} glass
 * @param {Trace} trace
 * @param {ToldOf} it
 */
function wordsOf(glass, { tokens: { pieces } }, { best, answer, rests, hidden, off, key, left }) {
  const { text } = glass;
  const all = off ? [off.before.p, off.left ?? NaN, best.probability] : [best.probability, left, hidden?.p ?? NaN];
  const open = off?.left === null ? "…" : ""; // it is on its way
  const [p, without, q] = all.map((x) => told(Number.isFinite(x) ? shareSaid(text, x) : open, x));
  const gloss = glossOf(glass);
  const withGloss = (/** @type {string} */ word) => bold(word + gloss(word));
  return {
    answer: withGloss(off?.before.word ?? answer),
    instead: withGloss(off ? answer : (hidden?.word ?? "")),
    count: String(off?.count ?? 0),
    ...{ p, q, left: without },
    apart: rests?.sinks.length ? text("story.looks_apart") : "",
    key: bold(key === undefined ? "" : namedInWord(text, pieces, key, "_counted") + gloss(pieces[key])),
    // of a copy the text tells whether a word goes on with it
    unit: text(`story.unit_${key !== undefined && wordAround(pieces, key).count > 1 ? "piece" : "word"}`),
  };
}

/**
 * @param {import("../scene.js").Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createAnswer(glass) {
  const { state, text } = glass;
  const { gap, blank, fillGap } = createGap(glass);
  const sentence = createReadText(glass, (/** @type {string} */ name) => text(`why.${name}`), blank, gap);
  const [colours, outside, experiment] = [createColours(glass), createOutside(glass), createExperiment(glass)];
  const far = createFar(glass);
  const other = createOtherExample(glass);
  const element = h("div.st-answer", null, sentence.element, other.element);
  // What to make of the answer stands under its sentence, and before what to try: that waits for it, so that nothing
  // moves away from a thumb.
  const remarks = createRemarks(glass);
  const remarked = [remarks.first, outside.element, remarks.element];
  const below = h("div.st-below", null, far.element, ...remarked, colours.element, experiment.element);

  /**
   * What is told of the answer.
   *
   * @param {Trace} trace
   * @returns {ToldOf | null}
   */
  function toldOf(trace) {
    const { next } = trace;
    if (!next) return null;
    const { rows } = topCandidates(next, NAMED);
    const [best] = rows;
    const asked = state.status === "generating" ? null : askRests(glass, { token: trace.T - 1 });
    const found = asked?.found ?? null;
    const rests = restsOf(found);
    const [key] = rests?.tokens ?? [];
    const instead = key === undefined ? null : insteadIn(glass, trace);
    const hidden = experiment.hides() ? instead : null; // what stands there while the token is hidden
    const left = rests && key !== undefined ? leftWithout(rests, key) : NaN;
    return {
      best,
      rows,
      off: experiment.headsOff(),
      answer: answerOf(text, best.piece, endsWith(trace, best.id)),
      found,
      part: asked?.part ?? null,
      rests,
      key,
      instead,
      hidden,
      left,
    };
  }
  return {
    name: "answer",
    behind: ["glance", "why"],
    opens() {
      glass.settings.set("why", { ...glass.settings.get("why"), open: "1" });
      if (state.trace) glass.selectByPage({ query: state.trace.T - 1 }); // so that the story's head is followed there
    },
    element,
    notes: below,
    draw() {
      const { trace } = state;
      const it = trace && toldOf(trace);
      if (!it) return null;
      const { best, answer, found, rests, key, instead, hidden, left } = it;
      const over = endsWith(trace, trace.tokens.ids[trace.T - 1]);
      fillGap(trace, hidden?.piece ?? best.piece, hidden?.word ?? answer);
      for (const part of [blank, gap, experiment.element]) part.hidden = over;
      element.classList.toggle("is-hiding", Boolean(hidden));
      const marked = hidden ? { key: key ?? -1, rests: null } : { key: -1, rests };
      colours.draw(marked.rests, !found, trace.tokens.pieces);
      other.draw();
      far.draw(found ? null : it.part);
      sentence.draw({ query: -1, inSource: false, strange: outside.draw(), arcs: 1, ...marked });
      const last = freshIn(trace).at(-1); // the bar is of what stands last in the gap
      const word = last ? answerOf(text, last.piece, endsWith(trace, last.id)) : answer;
      const { id, probability: p } = last ?? best;
      const isReliable = !outside.isUntrusted();
      experiment.draw({ id, word, p }, outside.isKnown() ? rests : null, instead, isReliable);
      const isEnd = (/** @type {number} */ one) => endsWith(trace, one);
      const isPlain = !over && !hidden && !trace.generating;
      remarks.draw(trace, toRemark(it.rows, isPlain, isReliable), isEnd, outside.mayTell());
      const place = `key ${found ? (key ?? "-") : "?"} without=${exact(left)}`;
      return {
        form: formNow(trace, it, over),
        words: wordsOf(glass, trace, it),
        value: `answer ${best.id} '${best.piece}' probability=${exact(best.probability)} ${place}`,
      };
    },
  };
}
