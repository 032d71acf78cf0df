// The pieces that the model reads: the sentence cut into tokens, each in a colour of its own.

import { labelsOf, textOf } from "../../characters.js";
import { h } from "../../dom.js";
import { visible } from "../../draw.js";
import { sentences } from "../../panels/glance/words.js";
import { memo, reactive } from "../../reads.js";
import { bold, count } from "../words.js";

const HUES = ["q", "k", "v", "gate", "up"];
const FIRST = 40; // of a long text so many pieces are shown, the others once a reader asks for them

/**
 * Whether every piece of a text is one character of it.
 *
 * @param {string[]} pieces
 * @param {number} letters characters of the text
 */
export const isByCharacter = (pieces, letters) =>
  pieces.length === letters && pieces.every((piece) => [...piece].length === 1);

/**
 * What signs in the pieces mean: of the blank before a word, and of a character that several of them write.
 *
 * @param {import("../scene.js").Glass["text"]} text
 * @param {string[]} pieces
 */
function signsSaid(text, pieces) {
  const blank = pieces.some((piece) => piece.startsWith(" ")) ? text("story.pieces_blank") : "";
  const part = labelsOf(pieces).find((label, i) => label !== pieces[i]);
  return sentences(text, blank, part ? text("story.pieces_shared", { part }) : "");
}

/**
 * @param {import("../scene.js").Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createPieces(glass) {
  const { state, text } = glass;
  const list = h("ol.st-pieces", { dir: "auto" });
  const view = reactive({ isWhole: false }, glass.repaint);
  const showAll = () => {
    view.isWhole = true;
  };
  const rest = h("button.st-act", { "data-act": "all", click: showAll });
  const signs = h("p.st-note");
  const element = h("div", null, list, h("p.st-acts", null, rest), signs);
  const write = memo((/** @type {string[]} */ pieces, /** @type {number[]} */ ids) => {
    list.replaceChildren(
      ...labelsOf(pieces).map((label, i) =>
        h(
          "li",
          { style: `--hue: var(--glass-${HUES[i % HUES.length]})` },
          h("small", null, String(i)),
          h("span.st-piece", label === pieces[i] ? null : { title: pieces[i] }, visible(label)),
          h("small", null, String(ids[i])),
        ),
      ),
    );
  });
  /** @param {number} count of all pieces */
  function fold(count) {
    const isCut = count > FIRST && !view.isWhole;
    [...list.children].forEach((one, i) => one.toggleAttribute("hidden", isCut && i >= FIRST));
    /** @type {HTMLElement} */ (rest.parentElement).hidden = !isCut;
    rest.textContent = text("story.pieces_rest", { count: count - FIRST });
  }
  return {
    name: "pieces",
    behind: ["token", "merges"],
    element,
    draw() {
      const { trace, language } = state;
      if (!trace) return null;
      const { tokens, model } = trace;
      const [{ pieces, ids }, { eos_ids }] = [tokens, model];
      const read = pieces.filter((_, t) => !eos_ids.includes(ids[t]));
      const letters = [...textOf(read)].length;
      write(pieces, ids);
      fold(pieces.length);
      signs.textContent = signsSaid(text, read);
      return {
        form: isByCharacter(read, letters) ? "_single" : "",
        words: {
          letters: count(letters, language),
          pieces: bold(count(pieces.length, language)),
          vocabulary: count(model.vocab_size, language),
          d: count(model.d_model, language),
        },
        value: `tokens ${pieces.length} ids ${ids.join(",")}`,
      };
    },
  };
}
