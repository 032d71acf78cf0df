// What the tour says of its head where heads were measured one by one: how much it is missed beside the others, and
// where it looks beside the sinks.

import { share } from "../dom.js";
import { word } from "../panels/glance/words.js";
import { words } from "./numbers.js";

const LEAST = 0.0005; // a share of the weight that share() writes as more than nothing

/** Which head is missed most, and which one the tour follows, where that is another. */
function rankOf(glass, { pieces }, { at, head, found: { grid, parts } }) {
  const measured = grid.measured.data;
  const tried = measured.reduce((sum, one) => sum + one, 0);
  const [most] = parts;
  const isMost = most.layer === head.layer && most.index === head.head;
  const form = isMost ? "head_most" : head.key === at ? "head_reads_itself" : "head_reads";
  return glass.text(`tour.${form}`, {
    tried: glass.text(`tour.head_tried${tried === measured.length ? "_all" : ""}`, { tried }),
    layer: head.layer,
    head: head.head,
    key: word(pieces[head.key]),
    most_layer: most.layer,
    most_head: most.index,
    most: share(most.without),
  });
}

/** What share of its weight a head leaves at sinks, if any, and the token that it looks at most of the others. */
function looksOf(glass, { pieces }, { at, head: { key }, sinks }, weights) {
  const there = sinks.filter((sink) => sink < weights.length);
  const parked = there.reduce((sum, sink) => sum + weights[sink], 0);
  return glass.text(`tour.head_looks${parked >= LEAST ? "_parked" : ""}`, {
    query: word(pieces[at]),
    key: word(pieces[key]),
    weight: share(weights[key]),
    parked: share(parked),
    count: there.length,
    sinks: there
      .map((sink) => glass.text("why.token", { piece: word(pieces[sink]) }))
      .join(glass.text("tour.head_comma")),
  });
}

/**
 * The sentences of the stop on a head, as numbers of its text; empty where heads were not measured one by one.
 *
 * @param {import("../types.d.ts").Glass} glass
 * @param {import("../decode.js").Trace} trace
 * @param {import("./places.js").Places} found
 * @param {ArrayLike<number>} weights of the head from the tour's place, by key
 */
export function missedWords(glass, { tokens }, found, weights) {
  const there = found.found.grid && found.found.parts.length > 0;
  return {
    rank: words(there ? rankOf(glass, tokens, found) : ""),
    looks: words(there ? looksOf(glass, tokens, found, weights) : ""),
  };
}
