// What the maps of where the answer lives say, in words.

import { shown } from "../../dom.js";
import { arrivalOf, homesOf, moveOf } from "../../readings/causal-map.js";
import { word } from "../glance/words.js";

/**
 * @typedef {import("../../decoded.d.ts").Detail<"causal_map">} CausalMap
 *
 * @typedef {import("../../decoded.d.ts").NumArray} NumArray
 *
 * @typedef {import("../../readings/causal-map.js").Part} Part
 */

/** @param {number} x */
const percent = (x) => `${shown(100 * x, 3)}%`;

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {import("../../types.d.ts").Say} text the panel's own
 */
export function createWords(glass, text) {
  /**
   * Where most is lost, by word and position; of two places where about as much is, both.
   *
   * @param {import("../../readings/causal-map.js").Most} most
   * @param {string[]} pieces
   */
  function placesOf({ tokens: [first, second] }, pieces) {
    const named = (/** @type {number} */ at) => text("token", { piece: word(pieces[at]), at });
    return second === undefined
      ? text("at_one", { first: named(first) })
      : text("at_two", { first: named(first), second: named(second) });
  }

  /**
   * Where most is lost at the bottom and at the top, and at which depth that changes.
   *
   * @param {CausalMap} found
   * @param {string[]} pieces
   * @param {NumArray} left
   */
  function notice({ answer, other }, pieces, left) {
    const { moves, settles, stays, from, to, between: tokens } = moveOf(left);
    const top = left.shape[0] - 1;
    const moved = text(stays ? "notice_stays" : "notice", {
      first: placesOf(from, pieces),
      last: placesOf(to, pieces),
      moves,
      settles: settles === top ? text("before_final") : text("before_layer", { layer: settles }),
      lost: percent(from.lost),
      lost_last: percent(to.lost),
      answer: word(answer),
      other: word(other),
    });
    const named = tokens.map((at) => text("token", { piece: word(pieces[at]), at }));
    const between = !stays && named.length ? text("notice_between", { places: named.join(text("and")) }) : "";
    return glass.text("why.sentences", { one: moved, two: between, three: "" }).trim();
  }

  /**
   * Of one stack: of the stream as `notice`, of single parts the one that loses most; and where nothing can differ.
   *
   * @param {CausalMap} found
   * @param {string[]} pieces
   * @param {Part} part
   */
  function noticeOfOne(found, pieces, part) {
    const same = found.start > 0 ? text("same_before", { piece: word(pieces[found.start]) }) : "";
    const one = part === "stream" ? notice(found, pieces, found.left) : noticeOfPart(found, pieces, part);
    return glass.text("why.sentences", { one, two: same, three: "" }).trim();
  }

  /**
   * @param {CausalMap} found
   * @param {string[]} pieces
   * @param {Part} part
   */
  function noticeOfPart({ left: { shape, data } }, pieces, part) {
    const at = data.indexOf(Math.min(...data));
    const [layer, token] = [Math.floor(at / shape[1]), at % shape[1]];
    return text(`notice_${part}`, { layer, piece: word(pieces[token]), lost: percent(1 - data[at]) });
  }

  /**
   * Of two texts: how it stands in the source, and in which layer the decoder has it, where half of it arrives.
   *
   * @param {CausalMap} found
   * @param {NumArray} sourceLeft
   * @param {string[]} sourcePieces
   * @param {string[]} pieces of the decoder
   */
  function noticeOfTwo(found, sourceLeft, sourcePieces, pieces) {
    const one = notice(found, sourcePieces, sourceLeft);
    const arrival = arrivalOf(found.left);
    if (!arrival) return one;
    const { depth, before, after } = arrival;
    const home = homesOf(found.left)[depth];
    const place =
      home === 0 ? glass.text("why.from_start") : glass.text("why.from_token", { piece: word(pieces[home]) });
    const two = text("notice_decoder", { layer: depth - 1, before: percent(before), after: percent(after), place });
    return glass.text("why.sentences", { one, two, three: "" }).trim();
  }

  /**
   * What is lost at a place of a map.
   *
   * @param {string} name of the text
   * @param {import("../../readings/causal-map.js").LeftAt} place
   * @param {string[]} pieces
   */
  const readOf = (name, { depth, token, left }, pieces) =>
    text(name, { layer: depth, piece: word(pieces[token]), lost: percent(1 - left) });
  return { noticeOfOne, noticeOfTwo, readOf };
}
