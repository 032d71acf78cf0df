// How the first screen writes a token, and how a number leads to where it is seen.

import { labelsOf, shownTokens } from "../../characters.js";
import { shareSaid } from "../../counts.js";
import { exact, h } from "../../dom.js";
import { isolated, visible } from "../../draw.js";
import { shownIn } from "../../run-for.js";
import { hold } from "../../scroll-anchor.js";
import { isSpaced, spaceBetween } from "../../texts.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../selection.js").Selection} Selection
 *
 * @typedef {{ kind: PartKind; layer: number; head?: number; key?: number; query?: number }} Look a head's look at a
 *   token
 */

/**
 * A piece as a word within a sentence.
 *
 * @param {string} piece
 */
export const word = (piece) => isolated(piece.trim()) || visible(piece);

/**
 * The question why it is this token; of one that ends the text it is asked by what that does.
 *
 * @param {Say} text glass.text
 * @param {Pick<import("../../decode.js").Model, "eos_ids">} model
 * @param {{ id: number; piece: string } | null} token null until it is known
 */
export const askedWhy = (text, { eos_ids: ends }, token) =>
  token && ends.includes(token.id) ? text("why.ask_end") : text("why.ask", { piece: word(token?.piece ?? "…") });

/**
 * How each of several pieces is written: as its word; where an earlier one has the same, with what tells them
 * apart.
 *
 * @param {Say} text glass.text
 * @param {string[]} pieces
 */
export const apart = (text, pieces) =>
  pieces.map((piece, i) => {
    if (!pieces.slice(0, i).some((one) => word(one) === word(piece))) return word(piece);
    return piece.startsWith(" ") ? visible(piece) : text("why.joined", { word: word(piece) });
  });

/**
 * A token within a sentence, in quotes: where its word stands in the text more than once, with its position; one of
 * several that hold a character by that and which of them it is, such as 里(1/2).
 *
 * @param {Say} text
 * @param {string[]} pieces
 * @param {number} t
 * @param {"" | "_counted"} [how] "_counted": from where positions are counted is said, too
 */
export function named(text, pieces, t, how = "") {
  const names = labelsOf(pieces);
  const piece = word(names[t]);
  const isOneOf = names.filter((one) => word(one) === piece).length > 1;
  return text(isOneOf ? `why.token_at${how}` : "why.token", { piece, position: t });
}

const JOINS = /\p{Script=Latin}$/u;
const JOINED = /^\p{Script=Latin}/u;

/**
 * The pieces of the word that a token is one of: where letters go on without a space between.
 *
 * @param {string[]} pieces of the text
 * @param {number} t
 * @returns {{ word: string; first: number; count: number }} its first token, and how many they are
 */
export function wordAround(pieces, t) {
  const isOn = (/** @type {number} */ i) => i > 0 && JOINS.test(pieces[i - 1]) && JOINED.test(pieces[i] ?? "");
  let [first, end] = [t, t + 1];
  while (isOn(first)) first--;
  while (isOn(end)) end++;
  return { word: pieces.slice(first, end).join("").trim(), first, count: end - first };
}

/**
 * A token by name; of a word that is written in several pieces also which of them it is.
 *
 * @param {Say} text
 * @param {string[]} pieces of the text
 * @param {number} t
 * @param {"" | "_counted"} [how] as `named` takes it
 */
export function namedInWord(text, pieces, t, how) {
  const { word, first, count } = wordAround(pieces, t);
  const piece = named(text, pieces, t, how);
  return count === 1 ? piece : text("story.piece_of", { piece, word, number: t - first + 1, count });
}

/**
 * The other text that was chosen for the text up to a position; "" where none was.
 *
 * @param {Glass} glass
 * @param {number} at
 */
export function otherText(glass, at) {
  const { text = "", at: chosenAt } = glass.settings.get("why");
  return chosenAt === String(at) ? text : "";
}
/**
 * @param {Glass} glass
 * @param {string} text
 * @param {number} at
 */
export const chooseText = (glass, text, at) => {
  glass.settings.set("why", { ...glass.settings.get("why"), text, at });
  glass.repaint();
};

/**
 * Opens a panel of a chapter and brings it, or a part of it, into view; from there a way leads back.
 *
 * @param {Glass} glass
 * @param {string} chapter
 * @param {string} kind
 * @param {() => void} [select] what it is to show
 * @param {string} [part]
 */
export async function leadTo(glass, chapter, kind, select, part) {
  glass.way.remember();
  select?.();
  glass.way.led(() => glass.open(chapter));
  glass.reveal(kind);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const panel = /** @type {HTMLElement | null} */ (document.querySelector(`section[data-kind="${kind}"]`));
  const place = () => (part && panel?.querySelector(`[data-part="${part}"]`)) || panel;
  if (panel) hold(() => place()?.scrollIntoView({ block: "start", behavior: "instant" }));
  panel?.focus({ preventScroll: true });
}

/**
 * What a button does that selects a place: its layer is on its way as soon as the pointer comes.
 *
 * @param {Glass} glass
 * @param {Partial<Selection>} place
 * @param {() => void} [click]
 */
export const selecting = (glass, place, click = () => glass.select(place)) => ({
  pointerenter: () => glass.expect(place.layer ?? glass.state.layer),
  click,
});

/**
 * A number of a sentence that selects what it is of, and leads to the panel that shows it.
 *
 * @param {Glass} glass
 * @param {string} words
 * @param {Partial<Selection>} selection
 * @param {string} chapter
 * @param {string} kind
 */
export function lead(glass, words, selection, chapter, kind) {
  const click = () => leadTo(glass, chapter, kind, () => glass.select(selection));
  return h("button.wy-lead", selecting(glass, selection, click), words);
}

/** @typedef {"head" | "cross" | "neuron" | "encoder_head" | "encoder_neuron"} PartKind */

/**
 * The ending of texts on heads that look at a source, or are an encoder's, in the place of those that look back.
 *
 * @param {PartKind} kind
 */
export const formOf = (kind) => (kind === "cross" ? "_cross" : kind === "encoder_head" ? "_encoder" : "");

/**
 * Up to three sentences in a row, as the language sets them.
 *
 * @param {Say} text glass.text
 * @param {string} one
 * @param {string} two
 */
export const sentences = (text, one, two, three = "") => text("why.sentences", { one, two, three }).trim();

/**
 * The pieces of the text that a head of a kind looks at: of a decoder's look at it, and of an encoder, that is the
 * source.
 *
 * @param {import("../../decode.js").Trace} trace
 * @param {PartKind} kind
 */
export const readBy = (trace, kind) =>
  labelsOf(((kind === "cross" || kind === "encoder_head" ? trace.encoder : null) ?? trace).tokens.pieces);

/**
 * The changes of a run in which the heads that read the answer are off.
 *
 * @param {{ kind?: PartKind; heads: { layer: number; head: number }[] }} look
 */
export const readersOff = ({ kind, heads }) => ({
  [kind === "cross" ? "cross" : "heads"]: heads.map(({ layer, head }) => [layer, head]),
});

/**
 * Selects a head's look at a token: of an encoder's head in that stack. What a decoder looks at in the source is
 * its panel's own setting.
 *
 * @param {Glass} glass
 * @param {Look} look
 * @param {number} query from where a decoder's head looks
 * @param {(selection: Partial<Selection>) => void} [choose]
 */
export function selectLook(glass, { kind, layer, head, key, query: own }, query, choose = glass.select) {
  if (kind === "encoder_head") return glass.readStack("encoder", { layer, head, query: own, key });
  if (kind === "cross") glass.settings.set("cross", { source: String(key) });
  return choose({ layer, head, query, ...(kind !== "cross" && { key }) });
}

/** A probability or weight as it is read, exact on pointing. @param {Say} text glass.text @param {number} x */
export const shareWord = (text, x) => h("span", { title: exact(x) }, shareSaid(text, x));

/**
 * A number that leads to the cell of a head, of whichever kind.
 *
 * @param {Glass} glass
 * @param {Node | string} words
 * @param {Look} one
 * @param {number} query from where a decoder's head looks
 */
export function leadToCell(glass, words, one, query) {
  const click = () =>
    leadTo(glass, "attend", one.kind === "cross" ? "cross" : "cell", () => selectLook(glass, one, query));
  return h("button.wy-lead", one.kind === "encoder_head" ? { click } : selecting(glass, one, click), words);
}

const PLACES = /(\{\w+(?:\|[^|}]*\|[^|}]*)?\})/;
const PLACE = /^\{(\w+)(?:\|(.*)\|(.*))?\}$/;

/**
 * A text with elements in the place of its {placeholders}; one with two words (texts.js) has one of them.
 *
 * @param {string} template
 * @param {Object<string, Node | string>} given
 */
export function filled(template, given) {
  /** @type {Set<Node | string>} */
  const used = new Set();
  let before = ""; // what stands before a piece
  /** @param {string} piece */
  function fill(piece) {
    const [, name = "", one, several] = PLACE.exec(piece) ?? [];
    if (one !== undefined && given[name] !== undefined) return given[name] === "1" ? one : several;
    const part = given[name] ?? (piece.startsWith(" ") && !isSpaced(before, piece.slice(1)) ? piece.slice(1) : piece);
    // an element stands in one place alone
    if (used.has(part) && typeof part === "object") return again(part);
    used.add(part);
    return part;
  }
  return template.split(PLACES).flatMap((piece) => {
    const part = fill(piece);
    const words = typeof part === "string" ? part : (part.textContent ?? "");
    const space = spaceBetween(before, words);
    before = words || before;
    return space ? [space, part] : [part];
  });
}

/** An element once more, which does what the first one does. @param {Node} part */
function again(part) {
  const copy = part.cloneNode(true);
  copy.addEventListener("click", () => "click" in part && typeof part.click === "function" && part.click());
  return copy;
}

const LETTER = /[A-Za-z]/;
/**
 * Which one of several a word is in the text.
 *
 * @param {string} text
 * @param {string} one
 * @param {number} start in characters, as Python counts them
 * @returns {number} from 1; 0 where it stands there once
 */
export function whichOf(text, one, start) {
  const all = [...text];
  const here = (/** @type {number} */ i) =>
    all.slice(i, i + [...one].length).join("") === one &&
    !(LETTER.test(one) && (LETTER.test(all[i - 1] ?? "") || LETTER.test(all[i + [...one].length] ?? "")));
  const places = all.map((_, i) => i).filter(here);
  return places.length > 1 ? places.indexOf(start) + 1 : 0;
}

/**
 * The token that holds a character of a text; null where the pieces are not this text.
 *
 * @param {string[]} pieces
 * @param {string} text
 * @param {number} at in characters, as Python counts them
 */
export function positionAt(pieces, text, at) {
  const all = shownTokens(pieces.map((piece, position) => ({ piece, position })));
  const before = all
    .map((one) => one.text)
    .join("")
    .indexOf(text);
  let end = before < 0 ? NaN : -before;
  return all.find((one) => (end += [...one.text].length) > at)?.position ?? null;
}

/**
 * Words to change as buttons, which hand on the swap, with the text that then results.
 *
 * @param {Glass} glass
 *
 * @typedef {{
 *   start: number;
 *   word: string;
 *   other: string;
 *   text: string;
 *   answer: number;
 *   piece: string;
 *   probability: number;
 * }} Swap
 * @param {{ swaps: Swap[]; text: string }} found the detail "words"
 * @param {(swap: Swap) => void} choose
 * @param {import("../../gloss.js").Gloss} gloss
 * @param {boolean} [promises] whether it is said what the model would answer, which was worked out with nothing
 *   changed
 */
export const swapButtons = (glass, { swaps, text }, choose, gloss, promises = true) =>
  swaps.map((swap) => {
    const { trace } = shownIn(glass);
    const position = positionAt((trace.encoder ?? trace).tokens.pieces, text, swap.start);
    const which = position !== null && whichOf(text, swap.word, swap.start) ? "_one_of" : "";
    const [one, other, next] = [swap.word, swap.other, word(swap.piece)].map((piece) => piece + gloss(piece));
    const ends = trace.model.eos_ids.includes(swap.answer);
    const answer = ends ? glass.text("story.the_end") : glass.text("why.token", { piece: next });
    const given = { position, word: one, other, answer, p: shareSaid(glass.text, swap.probability) };
    const words = glass.text(`why.swap${promises ? "" : "_alone"}${which}`, given);
    return h("button.gp-option", { "data-swap": swap.text, title: swap.text, click: () => choose(swap) }, words);
  });
