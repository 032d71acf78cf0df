// Layer by layer: what the output head would read if the layers above were left out.

import { exact, h } from "../../dom.js";
import { glossed, glossOf } from "../../gloss.js";
import { headOff } from "../../off.js";
import { memo } from "../../reads.js";
import { readLens } from "../../readings/lens.js";
import { labelsOf } from "../../characters.js";
import { sentences } from "../../panels/glance/words.js";
import { shareBar } from "../bars.js";
import { looksBack, placeOf } from "../place.js";
import { answerOf, bold, chanceSaid, named, wordOf } from "../words.js";

const [MOST, NAMED] = [14, 6]; // rows, and layers that are named beside them
const HARDLY = 1e-5; // probabilities below it are written alike
const OTHERS = 2; // wrong choices beside the right one

/**
 * @typedef {import("../../readings/lens.js").Lens} Lens
 *
 * @typedef {ReturnType<typeof glossOf>} Gloss
 */

/**
 * The depths at which the answer's probability changes as it is read, the largest changes first.
 *
 * @param {number[]} own its probability by depth
 */
function changesOf(own) {
  const read = own.map((p) => Math.max(HARDLY, p || 0)); // what is less is written alike
  const by = (/** @type {number} */ depth) => Math.abs(Math.log(read[depth] / read[depth - 1]));
  const changes = [...own.keys()].filter((depth) => depth && by(depth) > 0);
  return changes.sort((a, b) => by(b) - by(a));
}

/**
 * The depths that are shown: all of them, or the first, the last, those at which the answer's probability changes
 * most, and the last ones at which another word comes first, as many as there is room for with a row for what is
 * left out between two.
 *
 * @param {number[]} first the most probable token by depth
 * @param {number} [marked] a depth that is shown, too
 * @param {number[]} [own] the answer's probability by depth
 */
export function depthsShown(first, marked = 0, own = []) {
  const all = [...first.keys()];
  if (all.length <= MOST) return all;
  const turns = all.filter((depth) => depth === 0 || first[depth] !== first[depth - 1]);
  const changes = changesOf(own);
  const end = all.length - 1;
  for (let most = changes.length; most >= 0; most--)
    for (let count = turns.length; count >= 0; count--) {
      const shown = new Set([0, marked, ...changes.slice(0, most), ...turns.slice(turns.length - count), end]);
      const some = all.filter((depth) => shown.has(depth) || (shown.has(depth - 1) && shown.has(depth + 1)));
      const gaps = some.filter((depth, i) => i && some[i - 1] < depth - 1);
      if (some.length + gaps.length <= MOST) return some;
    }
  return all;
}

/**
 * What is left out between two rows that are shown, as a row that says so; nothing where they are neighbours.
 *
 * @param {import("../scene.js").Glass["text"]} text
 * @param {number[]} first the most probable token by depth
 * @param {number} before
 * @param {number} depth
 * @param {string} word the most probable one of the row before
 */
function gapBetween(text, first, before, depth, word) {
  const [from, to] = [before, depth - 2]; // as layers: what is read at a depth comes after the layer below it
  if (to <= from) return []; // of one alone its row is shown
  const same = first.slice(before + 1, depth).every((id) => id === first[before]);
  const left = h("td.st-left", { colspan: 3 }, text(`story.layers_${same ? "same" : "left"}`, { word }));
  return [h("tr", null, h("th", { scope: "row" }, text("story.layers_between", { from, to })), left)];
}

/** A token's text as it is read. @param {Lens} lens @param {number} id */
const pieceOf = (lens, id) => lens.piece(id).replaceAll("·", " ");

/** The same as a word of a row. @type {(text: import("../scene.js").Glass["text"], piece: string) => string} */
const wordAt = (text, piece) => (piece.trim() ? wordOf(piece) : answerOf(text, piece));

/**
 * From which depth on a token comes first, to the end.
 *
 * @param {number[]} first
 * @param {number} answer
 */
function staysFrom(first, answer) {
  let from = first.length;
  while (from > 0 && first[from - 1] === answer) from--;
  return from;
}

/**
 * After which layer the answer comes first to stay, as a question: the depth where it does, and two others, as many
 * of them before it as the answer's number says, where there are so many on either side. None where the answer
 * comes first from the start, or there are too few layers.
 *
 * @param {number} from
 * @param {number} end the last depth
 * @param {number} answer the token's number
 */
export function depthsAsked(from, end, answer) {
  if (from < 1 || end < OTHERS + 1) return [];
  const before = Math.max(OTHERS - (end - from), Math.min(answer % (OTHERS + 1), from - 1));
  const after = OTHERS - before;
  const parts = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => i + 1);
  const lower = parts(before).map((i) => Math.round((from * i) / (before + 1)));
  const higher = parts(after).map((i) => from + Math.round(((end - from) * i) / after));
  return [...lower, from, ...higher];
}

/**
 * @param {import("../scene.js").Glass["text"]} text
 * @param {{ from: number; end: number; answer: number }} known as `depthsAsked` takes it
 * @param {{ of: string; answer: string; layers: number }} named the sentence, and what the question names
 * @returns {import("../guess.js").Guess | undefined}
 */
function guessOf(text, { from, end, answer }, { of, ...named }) {
  const asked = depthsAsked(from, end, answer);
  if (!asked.length) return undefined;
  const choices = asked.map((depth) => text("story.layers_after", { layer: depth - 1 }));
  return { hides: true, asks: text("story.layers_asks", named), choices, right: asked.indexOf(from), of };
}

/**
 * How many heads of each layer look at the word that is needed; nothing where those are too many layers to name.
 *
 * @param {import("../scene.js").Glass["text"]} text
 * @param {[layer: number, head: number][]} heads
 * @param {string} word
 */
function lookingSaid(text, heads, word) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const [layer] of heads) counts.set(layer, (counts.get(layer) ?? 0) + 1);
  if (!counts.size || counts.size > NAMED) return "";
  const each = [...counts]
    .sort(([a], [b]) => a - b)
    .map(([layer, count]) => text("story.layers_count", { layer, count }));
  return text("story.layers_looking", { word, each: each.join(text("why.list")) });
}

/**
 * What to make of the words that come first before the last layer.
 *
 * @param {import("../scene.js").Glass["text"]} text
 * @param {Lens} lens
 * @param {number[]} best the most probable token by depth
 * @param {Gloss} gloss
 */
function hintOf(text, lens, best, gloss) {
  const isOther = (/** @type {number} */ id) => gloss(wordOf(pieceOf(lens, id))) !== "";
  const isBlank = (/** @type {number} */ id) => !pieceOf(lens, id).trim();
  const blank = best.some(isBlank) ? text("story.layers_blank") : "";
  const isMixed = !isOther(best.at(-1) ?? -1) && best.some(isOther);
  return sentences(text, text("story.layers_hint"), blank, isMixed ? text("story.layers_tongues") : "");
}

/**
 * @param {import("../scene.js").Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createLayers(glass) {
  const { state, text } = glass;
  const body = h("tbody");
  const own = h("th", { scope: "col", colspan: 2 });
  const first = h("th", { scope: "col", "data-text": "story.layers_first" });
  const caption = h("caption.gp-hidden", { "data-text": "story.layers_table" });
  const down = h("th.st-down", { scope: "col", "data-text": "story.layers_down" });
  const head = h("thead", null, h("tr", null, down, first, own));
  const where = h("p.st-note");
  const element = h("div", null, h("table.st-layers", null, caption, head, body));
  /**
   * @param {Lens} lens
   * @param {number} token
   * @param {number} marked
   * @param {string} _language in another one the rows are written anew
   * @param {Gloss} gloss
   */
  function rowsIn(lens, token, marked, _language, gloss) {
    const first = Array.from({ length: lens.depths }, (_, depth) => lens.best(depth, token)[0].id);
    const answer = first.at(-1);
    const all = first.map((_, depth) => lens.own(depth, token));
    const depths = depthsShown(first, marked, all);
    const owns = depths.map((depth) => all[depth]);
    body.replaceChildren(
      ...depths.flatMap((depth, i, shown) => {
        const [{ id }] = lens.best(depth, token);
        const word = wordAt(text, pieceOf(lens, id));
        const name = depth ? text("story.layers_after", { layer: depth - 1 }) : text("story.layers_start");
        const gap = i
          ? gapBetween(text, first, shown[i - 1], depth, wordAt(text, pieceOf(lens, first[shown[i - 1]])))
          : [];
        const row = h(
          `tr${id === answer ? ".is-answer" : ""}${depth && depth === marked ? ".is-marked" : ""}`,
          null,
          h("th", { scope: "row" }, name),
          h("td.st-best", null, ...glossed(word, gloss(word))),
          h("td.st-track", null, shareBar(owns[i])),
          h("td.st-share", { title: exact(owns[i], 6) }, chanceSaid(text, owns[i])),
        );
        return [...gap, row];
      }),
    );
  }
  const paint = memo(rowsIn);
  return {
    name: "layers",
    behind: ["choice", "lens"],
    element,
    notes: where,
    draw() {
      const { trace, language } = state;
      if (!trace?.next) return null;
      const found = glass.detail("lens", { follow: false, token: trace.T - 1 });
      if (!found) return null;
      const [lens, token] = [readLens(found), 0]; // of the last token alone
      const place = placeOf(glass);
      if (!place) return null;
      const { layer, head, key, look } = place;
      const isMarked = Boolean(look) && !headOff(trace, layer, head);
      paint(lens, token, isMarked ? layer + 1 : 0, language, glossOf(glass));
      const word = named(text, labelsOf(trace.tokens.pieces), key);
      const marks = isMarked ? text("story.layers_head", { layer, head, word }) : "";
      const looking = isMarked ? lookingSaid(text, looksBack(glass)?.looking ?? [], word) : "";
      const said = answerOf(text, trace.next.pieces[0], trace.model.eos_ids.includes(trace.next.ids[0]));
      own.textContent = text("story.layers_own", { word: said });
      const best = Array.from({ length: lens.depths }, (_, depth) => lens.best(depth, token)[0].id);
      const answer = /** @type {number} */ (best.at(-1));
      const hint = hintOf(text, lens, best, glossOf(glass));
      where.textContent = sentences(text, sentences(text, marks, looking), hint);
      const [from, end] = [staysFrom(best, answer), best.length - 1];
      const { n_layers: layers } = trace.model;
      return {
        guess: guessOf(text, { from, end, answer }, { of: trace.prompt, answer: said, layers }),
        form: from === 0 ? "_ever" : from === end ? "_last" : "",
        words: {
          answer: bold(said),
          layer: bold(String(Math.max(0, from - 1))),
          layers: String(layers),
        },
        value: `answer ${answer} from ${from} first ${best.join(",")}`,
        select: { query: trace.T - 1 },
      };
    },
  };
}
