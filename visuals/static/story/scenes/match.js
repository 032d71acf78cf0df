// How a head tells the word that the answer needs from its rival in the text: both scores as bars, what lower heads
// have brought to each word, and the same with another word put in. Of the heads that look there it is the one that
// shows this most plainly, mostly the head that all scenes follow (place.js).

import { labelsOf } from "../../characters.js";
import { attention } from "../../compute.js";
import { exact, h } from "../../dom.js";
import { chainOf, gapWritten, isWhole, marksOf, namesOf } from "../../panels/glance/matching.js";
import { memo, reactive } from "../../reads.js";
import { createFold } from "../fold.js";
import { kept } from "../kept.js";
import { looksBack, placeOf, toldApart } from "../place.js";
import { bold, few, named, shareSaid, told } from "../words.js";

/**
 * @typedef {import("../../panels/glance/matching.js").Matching} Matching
 *
 * @typedef {{ name: string; carries: string; score: number; said: string; role: "k" | "muted" }} Row
 *
 * @typedef {{ layer: number; head: number; query: number; key: number }} Cell where the head looks
 *
 * @typedef {NonNullable<ReturnType<typeof marksOf>>} Marks
 */

/**
 * Where on one scale a score's bar begins, and how wide it is, in per cent; the scale has 0 in it.
 *
 * @param {number} score
 * @param {number[]} all
 */
function barOf(score, all) {
  const [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
  const at = (/** @type {number} */ x) => (100 * (x - low)) / (high - low || 1);
  const from = at(Math.min(0, score));
  return { from, wide: at(Math.max(0, score)) - from };
}

/**
 * The two words with their scores.
 *
 * @param {import("../scene.js").Glass} glass
 */
function createScores(glass) {
  const body = h("tbody");
  const caption = h("caption.gp-hidden", { "data-text": "story.match_table" });
  const [word, carries, score] = ["match_word", "match_carries", "match_score"].map((key) =>
    h("th", { scope: "col", "data-text": `story.${key}` }),
  );
  score.setAttribute("colspan", "2");
  const element = h("table.st-match", null, caption, h("thead", null, h("tr", null, word, carries, score)), body);
  const paint = memo((/** @type {string} */ packed, /** @type {number[]} */ all) => {
    const rows = /** @type {Row[]} */ (JSON.parse(packed)); // as text, so that the same rows are not drawn again
    body.replaceChildren(
      ...rows.map(({ name, carries, score, said, role }) => {
        const { from, wide } = barOf(score, all);
        const style = `margin-left: ${from}%; width: ${wide}%; background: var(--glass-${role})`;
        return h(
          "tr",
          null,
          h("th", { scope: "row" }, name),
          h("td.st-carries", null, carries),
          h("td.st-track", null, h("span.st-bar", { style })),
          h("td.st-share", { title: exact(score, 6) }, said),
        );
      }),
    );
  });

  /**
   * @param {Matching} found
   * @param {[key: string, rival: string]} names
   * @param {Marks} marks
   * @param {boolean} swapped whether the scores are those with another word in the text
   */
  function draw(found, [key, rival], marks, swapped) {
    const { score, rival_score: against } = (swapped && found.other) || found;
    const said = swapped ? { score: few(score), rival_score: few(against) } : gapWritten(found);
    const quoted = (/** @type {string} */ one) => glass.text("why.token", { piece: one });
    /** @type {Row[]} */
    const rows = [
      { name: key, carries: quoted(marks.key_from), score, said: said.score, role: "k" },
      { name: rival, carries: quoted(marks.rival_from), score: against, said: said.rival_score, role: "muted" },
    ];
    const both = found.other ? [found, found.other] : [found];
    paint(
      JSON.stringify(rows),
      both.flatMap((one) => [one.score, one.rival_score]),
    );
  }
  return { element, draw };
}

/**
 * Which head this is, where it is not the one that the scenes follow; on which way the word came; and what makes
 * the difference between the head's scores.
 *
 * @param {import("../scene.js").Glass} glass
 * @param {{ found: Matching; cell: Cell; marks: Marks }} seen
 * @param {ReturnType<typeof namesOf>} names
 * @param {string[]} labels of the tokens
 */
function whenceOf(glass, { found, cell: { layer, head }, marks }, names, labels) {
  const { text } = glass;
  const { gap, from_asked: from, from_share: share, rest, query, key } = names;
  const given = { gap, from, share, query, rest: rest.startsWith("−") ? rest : `+${rest}` };
  const followed = placeOf(glass);
  const isOther = followed?.layer !== layer || followed.head !== head;
  const same = { head: text("story.head", { layer, head }), key, word: marks.key_from };
  return {
    which: isOther ? text("story.match_which", same) : "",
    way: text("story.match_way", { word: marks.key_from, key, way: chainOf(found.told, text, labels) }),
    share: text(`story.match_share${isWhole(found) ? "_all" : ""}`, given),
  };
}

/**
 * The text with the other word: whether that comes after both of the words, which then carry what they did.
 *
 * @param {Matching} found
 * @param {number} key
 */
const swappedForm = ({ other, rival }, key) =>
  other && other.position > Math.max(key, rival) ? "_swapped" : "_turned";

/**
 * Where the head looks, and the words that were brought to the tokens; null where these are not to be told apart.
 * The same object for the same run, since it is asked for at each drawing.
 */
const lookFor = kept(
  (
    /** @type {import("../../decode.js").Trace} */ trace,
    /** @type {import("../../messages.d.ts").ToldApartDetail} */ found,
  ) => {
    const [cell, labels] = [{ ...found, query: trace.T - 1 }, labelsOf(trace.tokens.pieces)];
    const marks = marksOf(found, cell, labels);
    return marks && { trace, found, cell, labels, marks };
  },
);

/**
 * The look that is told of, and what was found of it; null where there is none, or none yet.
 *
 * @param {import("../scene.js").Glass} glass
 */
function lookIn(glass) {
  const { trace, status } = glass.state;
  if (!trace || trace.generating || status === "generating" || !looksBack(glass)) return null;
  const found = toldApart(glass);
  return found && "rival" in found ? lookFor(trace, found) : null;
}

/**
 * Whether a head of this run tells the word from a rival; null until it is known.
 *
 * @param {import("../scene.js").Glass} glass
 */
export function isTold(glass) {
  if (lookIn(glass)) return true;
  const { trace, status } = glass.state;
  if (!trace || trace.generating || status === "generating") return null;
  const back = glass.detail("looks_back", { token: trace.T - 1 });
  const apart = back && "instead" in back ? toldApart(glass) : back; // where no word is needed, none has a rival
  return apart ? false : null;
}

/** Whether a network has what the scene is about. @param {import("../../types.d.ts").Model} model */
export const hasMatch = ({ parts: { latent } }) => !latent;

/**
 * @param {import("../scene.js").Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createMatch(glass) {
  const { text } = glass;
  const scores = createScores(glass);
  const swap = h("button.st-act", { click: () => (view.swapped = !view.swapped) });
  const [which, way, share] = ["", "", ""].map(() => h("p.st-note"));
  const element = h("div", null, scores.element, h("p.st-acts", null, swap));
  const view = reactive({ swapped: false }, glass.repaint);
  glass.on("run", () => {
    view.swapped = false;
  });

  return {
    name: "match",
    behind: ["attend", "score-terms"],
    element,
    notes: h("div", null, which, createFold("story.match_fold", way, share)),
    has: hasMatch,
    there: () => isTold(glass),
    draw() {
      const seen = lookIn(glass);
      const held = seen && glass.layerOf(seen.trace, seen.cell.layer);
      if (!seen || !held) return null;
      const { trace, found, cell, labels, marks } = seen;
      const { layer, head, query, key } = cell;
      const names = namesOf(found, cell, text, labels);
      const both = /** @type {[string, string]} */ ([key, found.rival].map((t) => named(text, labels, t)));
      scores.draw(found, both, marks, view.swapped);
      const put = { other: names.other ?? "", place: names.near_there };
      swap.textContent = text(`story.match_${view.swapped ? "back" : "swap"}`, put);
      const whence = view.swapped ? null : whenceOf(glass, seen, names, labels);
      which.textContent = whence?.which ?? "";
      way.textContent = whence?.way ?? "";
      share.textContent = whence?.share ?? "";
      const weight = attention(held, trace.model, head, query)[key] ?? 0;
      const now = (view.swapped && found.other) || found;
      const said = gapWritten(found);
      return {
        ...(view.swapped ? { question: "_other" } : {}),
        form: view.swapped ? swappedForm(found, key) : marks.asks === "asks_itself" ? "_itself" : "",
        words: {
          key: bold(both[0], "k"),
          rival: bold(both[1], "muted"),
          query: bold(names.query, "q"),
          head: bold(text("story.head", { layer, head })),
          key_from: bold(marks.key_from),
          rival_from: bold(marks.rival_from),
          asked_from: bold(marks.asked_from),
          weight: told(shareSaid(text, weight), weight),
          other: bold(put.other),
          place: put.place,
          score: told(said.score, found.score),
          rival_score: told(said.rival_score, found.rival_score),
          of: text(`story.match_of${isWhole(found) ? "_whole" : ""}`, {
            share: names.from_share, // what came to the two words counts for the rest
            word: marks.asked_from,
          }),
        },
        select: { layer, head, query, key },
        value: [
          `layer ${layer} head ${head} key ${key} rival ${found.rival}`,
          `score=${exact(now.score)} rival_score=${exact(now.rival_score)}`,
        ].join(" "),
      };
    },
  };
}
