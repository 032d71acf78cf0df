// The text as text: the place that is asked about, the token that is read there, and strange words are marked in it.

import { shownTokens } from "../../characters.js";
import { placeOfToken } from "../../chosen-step.js";
import { h } from "../../dom.js";
import { memo } from "../../reads.js";
import { shownIn } from "../../run-for.js";
import { createArcs } from "./over-text.js";
import { strangeAt } from "./outside.js";
import { partsLost } from "../../readings/rests.js";

const MOST = 120; // letters of a text before its words are written smaller
const HAN = /^\p{Script=Han}{2,4}$/u; // a word that a line could end within
const TINT = 45; // per cent of a colour: so the words on it are read as well in the light as in the dark

/**
 * A piece with its word in a frame; the blank before it stands outside.
 *
 * @param {string} piece
 * @param {string} marks classes
 * @param {Parameters<typeof h>[1]} [attributes]
 * @returns {(string | Element)[]}
 */
function framed(piece, marks, attributes = {}) {
  const blank = piece.length - piece.trimStart().length;
  const word = piece.slice(blank);
  return [piece.slice(0, blank), h(`span${marks}${HAN.test(word) ? ".is-whole" : ""}`, attributes, word)];
}

/**
 * How a part of the text is tinted: by that of its tokens whose loss is largest, and as a sink where one of them
 * is.
 *
 * @param {number[]} tokens
 * @param {(number | null)[]} parts of the largest loss, by token; null where none is drawn
 * @param {number[]} sinks
 */
function tintOf(tokens, parts, sinks) {
  const part = tokens.map((t) => parts[t] ?? 0).reduce((most, x) => (Math.abs(x) > Math.abs(most) ? x : most), 0);
  const signed = part > 0 ? ".is-lost" : part < 0 ? ".is-gained" : "";
  const kind = tokens.some((t) => sinks.includes(t)) ? ".is-sink" : signed;
  return { kind, style: `--part: ${Math.round(TINT * Math.sqrt(Math.abs(part)))}%` };
}

/**
 * A text as it is read, each part with the tokens that hold it.
 *
 * @param {string[]} pieces
 * @returns {{ text: string; tokens: number[] }[]}
 */
function partsOf(pieces) {
  const shown = shownTokens(pieces.map((piece, position) => ({ piece, position })));
  const endOf = (/** @type {number} */ i) => shown[i + 1]?.position ?? pieces.length;
  return shown.map(({ position, text }, i) => ({
    text,
    tokens: Array.from({ length: endOf(i) - position }, (_, t) => position + t),
  }));
}

/**
 * What is marked in the text.
 *
 * @typedef {object} Marks
 * @property {number} query the place that is asked about; -1: none
 * @property {number} key the token that is read there; -1: none
 * @property {boolean} inSource whether that is one of an encoder's source
 * @property {number[][]} strange the strange words' tokens
 * @property {import("../../readings/rests.js").Rests | null} rests what the answer rests on, where that is to be
 *   seen
 * @property {number} [arcs] to how many tokens, at most, arcs lead
 */

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {import("../../types.d.ts").Say} panelText
 * @param {...HTMLElement} after what stands after the text, in its line
 */
export function createReadText(glass, panelText, ...after) {
  const state = shownIn(glass);
  const [before, written] = [h("span"), h("span")];
  const arcs = createArcs(glass, () => requestAnimationFrame(follow));
  const element = h("p.wy-text", { dir: "auto" }, arcs.element, before, written, ...after);
  element.addEventListener("click", async ({ target }) => {
    const pressed = /** @type {Element} */ (target).closest?.("[data-position]");
    const position = /** @type {HTMLElement | null} */ (pressed)?.dataset.position;
    if (position === undefined) return;
    await glass.pace.hold(); // only of a text that rests is it said what a word was chosen from
    glass.select({ query: placeOfToken(state.trace, Number(position)) });
  });

  /**
   * Of two texts the one that was read stands before the one that is written, whose start token is none of it.
   *
   * @param {import("../../decode.js").Trace | null} encoder
   * @param {number} key
   */
  function writeSource(encoder, key) {
    if (!encoder) return before.replaceChildren();
    const { pieces, ids } = encoder.tokens;
    const hidden = (/** @type {number} */ t) => encoder.model.eos_ids.includes(ids[t]) && t !== key;
    const read = partsOf(pieces).flatMap(({ text: words, tokens }) =>
      tokens.every(hidden) ? [] : framed(words, tokens.includes(key) ? ".is-key" : ""),
    );
    return before.replaceChildren(h("span", null, ...read), " → ");
  }
  /**
   * @param {string[]} pieces
   * @param {number} nPrompt
   * @param {number} query
   * @param {number} key
   * @param {number[][]} strange
   * @param {number} begun the first token that is shown
   * @param {import("../../readings/rests.js").Rests | null} rests
   */
  function writeText(pieces, nPrompt, query, key, strange, begun, rests) {
    const parts = rests ? partsLost(rests) : [];
    written.replaceChildren(
      ...partsOf(pieces).flatMap(({ text: words, tokens }) => {
        const last = tokens.at(-1);
        if (last === undefined || last < begun) return [];
        const kind = tokens.includes(query) ? ".is-query" : tokens.includes(key) ? ".is-key" : "";
        const odd = Math.max(...tokens.map((t) => strangeAt(strange, t)));
        // for who hears the text
        const said = odd === 2 ? [h("span.gp-hidden.wy-aside", null, ` ${panelText("outside_mark")}`)] : [];
        const tint = tintOf(tokens, parts, rests?.sinks ?? []);
        const marks = `${kind}${last >= nPrompt ? ".is-written" : ""}${odd ? ".is-strange" : ""}${tint.kind}`;
        return [...framed(words, marks, { "data-position": last, ...(tint.kind && { style: tint.style }) }), ...said];
      }),
    );
    requestAnimationFrame(follow);
  }
  const [source, write] = [memo(writeSource), memo(writeText)];

  /**
   * Of a text that is longer than its room, what is seen ends with the place that is asked about, else with the
   * text.
   */
  function follow() {
    const last = /** @type {HTMLElement | null} */ (element.querySelector(".is-query") ?? written.lastElementChild);
    if (last) element.scrollTop += last.getBoundingClientRect().bottom - element.getBoundingClientRect().bottom;
  }

  /** @param {Marks} marks */
  function draw({ query, key, inSource, strange, rests, arcs: most }) {
    const { encoder, tokens, nPrompt } = state.trace;
    source(encoder, inSource ? key : -1);
    element.classList.toggle("is-long", tokens.pieces.join("").length > MOST);
    write(tokens.pieces, nPrompt, query, inSource ? -1 : key, strange, encoder ? nPrompt : 0, rests, state.language);
    arcs.draw(element, rests, most);
  }
  return { element, draw };
}
