// One head's attention: words that look back are rows, words that are looked at columns.

import { attention, rotatedPair, scores } from "../../compute.js";
import { dot } from "../../arrays.js";
import { exact, h } from "../../dom.js";
import { askRests, leftOf, leftWithout, NEEDED, restsOf } from "../../readings/rests.js";
import { sentences } from "../../panels/glance/words.js";
import { hasMatch, isTold } from "./match.js";
import { createFold } from "../fold.js";
import { createAttentionMap, gridFor, heightFor, shownFor } from "../attention-map.js";
import { looksBack, placeOf } from "../place.js";
import { answerOf, bold, few, fewOut, named, shareSaid, signed } from "../words.js";

/** @typedef {import("../../decode.js").Trace} Trace */

const NAMED = 3; // tokens that the map has no room for
const HARDLY = ["shared", "same", "little", "little_same"]; // forms in which one head is hardly missed
const FAR_BELOW = 1 / 2; // of a loss: a direct part that is less does not account for it

/**
 * In which form it is told what the answer loses without one head: that it gains, that it loses, or hardly either.
 * That others may do the same is said only where what they add together has the sign of what this one adds.
 *
 * @param {import("../../messages.d.ts").LookingMessage} look
 * @param {Pick<import("../place.js").LooksBack, "looking" | "together">} back
 * @param {boolean} same whether both probabilities are written alike
 */
export function aloneForm({ layer, head, adds, missed }, { looking, together }, same) {
  if (missed >= NEEDED) return "missed";
  if (missed < 0 && !same) return "gains";
  const isOne = looking.some((one) => one[0] === layer && one[1] === head);
  const others = together - (isOne ? adds : 0);
  if (looking.length - Number(isOne) < 1) return "only";
  if (others * adds > 0) return same ? "same" : "shared";
  return same ? "little_same" : "little";
}

/**
 * In which form it is told why the scenes follow a head that tells no word from a rival.
 *
 * @param {import("../../messages.d.ts").LookingMessage} look
 * @param {Pick<import("../place.js").LooksBack, "looking" | "together">} back
 */
export function followsForm({ layer, head, adds }, { looking: [first], together }) {
  if (first && (first[0] !== layer || first[1] !== head)) return "_missed";
  if (adds <= 0) return "_less";
  return adds > together ? "_others" : "";
}

/**
 * Why the scenes follow this head: that more is brought from there, how many look there, what it adds, and what the
 * answer loses without it, and without any look.
 *
 * @param {import("../scene.js").Glass} glass
 * @param {import("../place.js").Place} place
 * @param {string[]} pieces of the text
 */
function reasonOf(glass, { layer, head, query, key, look, rival }, pieces) {
  const { text, state } = glass;
  const which = text("story.head", { layer, head });
  const counted = text("story.looks_counted");
  const [next, T] = [state.trace?.next, state.trace?.T ?? 0];
  const rests = restsOf(askRests(glass, { token: T - 1 }).found);
  const back = look && looksBack(glass);
  if (!back || !next || !rests) return sentences(text, text("story.looks_head", { head: which }), counted);
  const { looking, together, token, from_token: direct } = back;
  const to = named(text, pieces, key);
  const answer = answerOf(text, next.pieces[0], Boolean(state.trace?.model.eos_ids.includes(next.ids[0])));
  const found = text(`story.looks_heads${looking.length ? "" : "_none"}`, {
    count: looking.length,
    from: named(text, pieces, query),
    to,
    apart: rests.sinks.length ? text("story.looks_apart") : "",
    together: signed(together),
    answer,
    logit: few(next.logits.data[0]),
  });
  const follows = text(`story.looks_follows${rival === undefined ? followsForm(look, back) : "_tells"}`, {
    head: which,
    adds: signed(look.adds),
    together: signed(together),
    to,
    rival: rival === undefined ? "" : named(text, pieces, rival),
  });
  const chances = [rests.probability, leftOf(rests, look.missed), leftWithout(rests, key)];
  const [p, left, none] = chances.map((x) => shareSaid(text, x));
  // a logit that falls by x costs at most x nats of ln p: the rest is not what these add directly
  const lost = rests.lost.data[key];
  const later = looking.length && lost >= NEEDED && together < lost * FAR_BELOW;
  const costs = later ? text("story.looks_heads_later", { to }) : "";
  const needed = { needed: named(text, pieces, token), adds: signed(direct), to, answer };
  const elsewhere = key === token ? "" : text(`story.looks_elsewhere${direct > 0 ? "" : "_none"}`, needed);
  const form = aloneForm(look, back, p === left);
  const alone = text(`story.looks_alone_${form}`, { answer, p, left, none });
  return sentences(
    text,
    sentences(text, elsewhere, found),
    sentences(text, follows, costs),
    sentences(text, alone, counted),
  );
}

/**
 * That a head is one of many, and is hardly missed alone, where that is so.
 *
 * @param {import("../../types.d.ts").Say} text
 * @param {import("../../messages.d.ts").LookingMessage} look
 * @param {Pick<import("../place.js").LooksBack, "looking" | "together">} back
 * @param {import("../../readings/rests.js").Rests} rests
 * @param {string} to where they look, by name
 * @param {string} [rival] from what the head tells that, by name
 * @returns {string[]} one text of each
 */
export function amongOthers(text, look, back, rests, to, rival) {
  const count = back.looking.length;
  const isOne = back.looking.some((one) => one[0] === look.layer && one[1] === look.head);
  const [p, left] = [rests.probability, leftOf(rests, look.missed)].map((x) => shareSaid(text, x));
  const isHardlyMissed = HARDLY.includes(aloneForm(look, back, p === left));
  return [
    ...(isOne && count > 1 ? [text(`story.looks_many${rival ? "_tells" : ""}`, { count, to, rival })] : []),
    ...(isHardlyMissed ? [text("story.looks_hardly", { p, left })] : []),
  ];
}

/**
 * Which tokens of the text the map has, where it has not all: by name those that it has not, where they are few.
 *
 * @param {import("../../types.d.ts").Say} text
 * @param {number[]} tokens that it has
 * @param {string[]} pieces of the text
 * @returns {string[]} one text, or none
 */
export function shownSaid(text, tokens, pieces) {
  const lacking = pieces.map((_, t) => t).filter((t) => !tokens.includes(t));
  if (!lacking.length) return [];
  const counts = { shown: tokens.length, all: pieces.length };
  if (lacking.length > NAMED) return [text("story.looks_some", counts)];
  const others = lacking.map((t) => named(text, pieces, t)).join(text("why.list"));
  return [text("story.looks_all_but", { ...counts, others })];
}

/**
 * Which tokens are attention sinks; of the one that looks that it is one itself.
 *
 * @param {import("../../types.d.ts").Say} text
 * @param {number[]} sinks
 * @param {number} from the token that looks
 * @param {string[]} pieces of the text
 */
export const sinksSaid = (text, sinks, from, pieces) =>
  sinks.map((t) => text(`story.looks_sink${t === from ? "_itself" : ""}`, { word: named(text, pieces, t) }));

/**
 * @param {import("../scene.js").Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createLooks(glass) {
  const { state, text } = glass;
  const map = createAttentionMap(glass);
  const caption = h("p.st-note");
  const read = h("p.st-note", { "aria-live": "off" });
  const sum = h("p.st-formula");
  const which = h("p.st-note");
  const untold = h("p.st-note", { "data-text": "story.looks_untold" });
  const element = h("div", null, map.element, caption, map.steps, read, map.scale, sum);
  return {
    name: "looks",
    behind: ["attend", "cell"],
    element,
    notes: h("div", null, untold, createFold("story.looks_which", which)),
    draw(width) {
      const { trace, theme } = state;
      const place = placeOf(glass);
      const held = trace && place && glass.layerOf(trace, place.layer);
      if (!trace || !place || !held) return null;
      const { layer, head, query } = place;
      const row = attention(held, trace.model, head, query);
      const best = row.reduce((most, weight, t) => (weight > row[most] ? t : most), 0);
      const key = row[place.key] === undefined ? best : place.key;
      const grid = gridFor(trace, held, head, query, key, width);
      map.element.setAttribute("aria-label", text("story.looks_map", { layer, head }));
      const [from, to] = map.draw(
        shownFor(grid, trace.tokens.pieces, width, heightFor(map.element)),
        [query, key],
        theme,
      );
      const weight = attention(held, trace.model, head, from)[to] ?? 0;
      const share = shareSaid(text, weight);
      const { pieces } = trace.tokens;
      const [looks, seen] = [from, to].map((t) => named(text, pieces, t));
      const said = text("story.looks_read", { from: looks, to: seen, weight: share });
      const [early, late] = (map.later() ?? []).map((t) => named(text, pieces, t));
      const later = late ? [text("story.looks_later", { from: early, to: late })] : [];
      const some = shownSaid(text, grid.tokens, pieces);
      const rests = restsOf(askRests(glass, { token: trace.T - 1 }).found);
      const sinks = rests?.sinks ?? [];
      const [back, needed] = [looksBack(glass), named(text, pieces, place.key)];
      const rival = place.rival === undefined ? undefined : named(text, pieces, place.rival);
      const among = place.look && back && rests ? amongOthers(text, place.look, back, rests, needed, rival) : [];
      caption.textContent = [text("story.looks_caption", { layer, head }), ...among].join(" · ");
      const parked = Array.from(sinks).filter((t) => grid.tokens.includes(t));
      const sink = sinksSaid(text, parked, from, pieces);
      read.textContent = [...later, said, ...some, ...sink, text("story.looks_point")].join(" · ");
      const [q, k] = rotatedPair(held, trace.model, { head, query: from, key: to });
      const [product, score] = [dot(q, k), scores(held, trace.model, head, from)[to]];
      const dim = q.length;
      const isRoot = Math.abs(product / Math.sqrt(dim) - score) < 1e-3; // and nothing is added to it
      /** @type {import("../../equation.js").Step<"product" | "score">[]} */
      const steps = isRoot ? [["score", ["product"], (x) => x / Math.sqrt(dim)]] : [];
      const weighed = { ...fewOut({ product, score }, steps), dim, weight: share };
      sum.textContent = text(`story.looks_sum${isRoot ? "_root" : ""}`, weighed);
      sum.title = [product, score, weight].map((x) => exact(x, 6)).join(" · ");
      untold.hidden = !hasMatch(trace.model) || isTold(glass) !== false;
      which.textContent = reasonOf(glass, place, pieces);
      return {
        select: { layer, head, query: from, key: to },
        words: {
          from: bold(looks, "q"),
          to: bold(seen, "k"),
        },
        value: `layer ${layer} head ${head} query ${from} key ${to} weight=${exact(weight)} qk=${exact(product)}`,
      };
    },
  };
}
