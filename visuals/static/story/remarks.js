// What is remarked of an answer beside its scene's sentence: that the text ends with a space, what bytes it is of where
// it is no whole character, what else was possible where it has less than half, and that a model of English was given
// Chinese.

import { hasChinese, partOfCharacter } from "../characters.js";
import { h } from "../dom.js";
import { glossOf } from "../gloss.js";
import { forAnotherText } from "../off.js";
import { HALF } from "../readings/rests.js";
import { memo } from "../reads.js";
import { sentences } from "../panels/glance/words.js";
import { answerQuoted, shareSaid } from "./words.js";

const OTHERS = 3;

/**
 * @typedef {{ id: number; piece: string; probability: number }} Candidate
 *
 * @typedef {import("../types.d.ts").Texts["text"]} Say
 */

/**
 * What else was possible, and that the model is not sure; nothing where the answer has half or more.
 *
 * @param {Say} text
 * @param {Candidate[]} rows the answer first; none where nothing is to be said
 * @param {(id: number) => boolean} ends whether a token ends the text
 * @param {boolean} warned whether it is said elsewhere what to make of the answer
 * @param {import("../gloss.js").Gloss} [gloss]
 */
export function othersSaid(text, [best, ...others], ends, warned, gloss = () => "") {
  if (!others.length || best.probability >= HALF) return "";
  const named = others.slice(0, OTHERS).map(({ id, piece, probability }, i) => {
    const earlier = [best, ...others.slice(0, i)].map((one) => one.piece);
    return `${answerQuoted(text, piece, earlier, ends(id))}${gloss(piece)} ${shareSaid(text, probability)}`;
  });
  const unsure = warned ? "" : text("why.outside_doubt", { p: shareSaid(text, best.probability) });
  return sentences(text, unsure, text("story.answer_others", { others: named.join(text("why.list")) }));
}

/**
 * What a piece of bytes is; nothing of one of whole characters.
 *
 * @param {Say} text
 * @param {string} piece
 */
function bytesSaid(text, piece) {
  const part = partOfCharacter(piece);
  if (!part) return "";
  const kind = !part.whole ? "on" : part.isChinese ? "chinese" : "begin";
  return text(`story.answer_bytes_${kind}`, { answer: piece.trim(), have: part.have, whole: part.whole });
}

/**
 * The prompt without the spaces at its end, where a space by itself is the last token that was read of it; else
 * null.
 *
 * @param {Pick<import("../decode.js").Trace, "prompt" | "tokens" | "T" | "nPrompt">} trace
 */
export function withoutBlankEnd({ prompt, tokens, T, nPrompt }) {
  const isGiven = T === nPrompt && tokens.pieces[T - 1] === " "; // and not written by the model
  const rest = prompt.replace(/ +$/, "");
  return isGiven && rest.trim() && rest !== prompt ? rest : null;
}

/**
 * A remark, and the button that goes another way.
 *
 * @param {string} said
 * @param {string} way
 * @param {() => unknown} click
 */
const withWay = (said, way, click) => [
  h("p.st-note", null, said),
  h("p.st-acts", null, h("button.st-act", { click }, way)),
];

/**
 * That the text ends with a space, which is a token by itself, and the way to the run without it.
 *
 * @param {import("../types.d.ts").Glass} glass
 */
function createBlankEnd(glass) {
  const element = h("div.st-blank");
  const put = memo((/** @type {string | null} */ rest, _language) => {
    if (rest === null) return element.replaceChildren();
    const read = () => {
      const { run } = glass.state; // the same text may have been run again, with something changed
      return glass.read(rest, run?.model.name, { changes: forAnotherText(run?.changes ?? {}) });
    };
    return element.replaceChildren(
      ...withWay(glass.text("story.answer_blank"), glass.text("story.answer_unblank"), read),
    );
  });
  /** @param {import("../decode.js").Trace} trace */
  const draw = (trace) => put(withoutBlankEnd(trace), glass.state.language);
  return { element, draw };
}

/**
 * That a model of English reads Chinese, and the way to the bundled one, which has learned both.
 *
 * @param {import("../types.d.ts").Glass} glass
 */
function createEnglish(glass) {
  const element = h("div");
  const put = memo((/** @type {string | null} */ bundled, /** @type {string} */ model, _language) => {
    if (!bundled) return element.replaceChildren();
    const read = () => glass.read(glass.state.trace?.prompt ?? "", bundled);
    const said = glass.text("story.answer_english", { model: glass.modelName(model) });
    return element.replaceChildren(
      ...withWay(said, glass.text("story.answer_back", { model: glass.modelName(bundled) }), read),
    );
  });
  /** @param {import("../decode.js").Trace} trace */
  function draw({ model, prompt }) {
    const isForeign = model.name === glass.realModel() && hasChinese(prompt);
    put(isForeign ? glass.bundledModel() : null, model.name, glass.state.language);
  }
  return { element, draw };
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @returns what is remarked, and `first`, what is remarked before anything else
 */
export function createRemarks(glass) {
  const [bytes, others] = [h("p.st-note"), h("p.st-note.st-others")];
  const [blankEnd, english] = [createBlankEnd(glass), createEnglish(glass)];
  const element = h("div", null, bytes, others, english.element);
  /**
   * @param {import("../decode.js").Trace} trace
   * @param {Candidate[]} rows the answer first; none where nothing is to be said of it
   * @param {(id: number) => boolean} ends whether a token ends the text
   * @param {boolean} warned whether it is said elsewhere what to make of the answer
   */
  function draw(trace, rows, ends, warned) {
    bytes.textContent = rows.length ? bytesSaid(glass.text, rows[0].piece) : "";
    others.textContent = othersSaid(glass.text, rows, ends, warned, glossOf(glass));
    english.draw(trace);
    blankEnd.draw(trace);
  }
  return { first: blankEnd.element, element, draw };
}
