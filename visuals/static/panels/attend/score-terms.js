// What made a head look where it looks: one score as a sum over what wrote to the query's stream and to the key's, and
// the bias by distance, which is added to the score itself and is written to no stream.

import { exact, h, signed } from "../../dom.js";
import { frame } from "../../frame.js";
import { normForms, scoreForms } from "../../parts.js";
import { inView } from "../../pointing.js";
import { createTerms } from "../glance/terms.js";
import { named } from "../glance/words.js";

/**
 * @typedef {{ kind: string; layer: number | null; head: number | null }} Source as model/analysis/score_terms.py
 *   has them
 *
 * @typedef {{ sources: Source[]; terms: { data: ArrayLike<number> } }} Terms
 */

/**
 * A source's text in section "score-terms". Biases in the score's own layer are those of its norm, of q and of k;
 * in a layer below, W_O's.
 */
export const sourceKey = ({ kind, layer }, ofLayer) =>
  `source_${kind === "bias" && layer < ofLayer ? "bias_below" : kind}`;

/**
 * Every pair of sources with its term.
 *
 * @param {Terms} found
 * @returns {{ q: Source; k: Source; value: number }[]}
 */
const pairsIn = ({ sources, terms: { data } }) =>
  Array.from(data, (value, i) => ({
    value,
    q: sources[Math.floor(i / sources.length)],
    k: sources[i % sources.length],
  }));

/**
 * What the bias by distance adds to the score; null where there is none.
 *
 * @param {Terms} found
 * @returns {number | null}
 */
export const biasIn = (found) =>
  pairsIn(found).find(({ q, k }) => q.kind === "position" && k.kind === "position")?.value ?? null;

/**
 * Each writer to one side's stream with all that it meets on the other.
 *
 * @param {Terms} found
 * @param {"q" | "k"} side
 */
export function writersOf(found, side) {
  const sums = new Map(found.sources.filter(({ kind }) => kind !== "position").map((source) => [source, 0]));
  for (const one of pairsIn(found)) if (sums.has(one[side])) sums.set(one[side], sums.get(one[side]) + one.value);
  return [...sums].map(([source, value]) => ({ source, value }));
}

const COUNT = 6;

export const about = {
  tensors: ["resid_in", "q", "k", "q_rot", "k_rot", "position_bias", "scores"],
  unused: "head",
  forms: (model) => [...scoreForms(model), ...normForms(model)],
};

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function scoreTerms(element, glass) {
  const { state } = glass;
  let found = null;
  const nameOf = (source) =>
    panel.text(sourceKey(source, state.locked.layer), { layer: source.layer, head: source.head });
  const panel = frame(element, glass, "score-terms", {
    csv: () => [
      ["query_source", "key_source", "term"],
      ...(found ? pairsIn(found).map(({ q, k, value }) => [nameOf(q), nameOf(k), value]) : []),
    ],
    parts: ["what", "formula", "myth"],
    pointed: false,
  });
  const say = h("p.wy-notice");
  const lists = ["at_key", "at_query", "terms"].map((name) => ({
    name,
    title: h("h3.gp-subtitle"),
    ...createTerms(glass, "score-terms"),
  }));
  const place = ({ name, title, element: list }) => h(`div.st-${name}`, { "data-part": name }, title, list);
  panel.body.append(say, h("div.gp-columns", null, ...lists.slice(0, 2).map(place)), place(lists[2]));

  /**
   * One term a source: its pairs with all sources of the other stream together.
   *
   * @param {"q" | "k"} side
   */
  const sumsBy = (side, at) =>
    writersOf(found, side).map(({ source, value }) => ({ value, words: nameOf(source), select: placeOf(source, at) }));
  const placeOf = ({ kind, layer, head }, at) => (kind === "head" ? { layer, head, query: at } : undefined);

  return inView(element, function draw() {
    const {
      trace,
      locked: { layer, head, query, key },
    } = state;
    const [from, to] = [query, key].map((t) => named(glass.text, trace.tokens.pieces, t));
    panel.title.textContent = panel.text("title", { layer, head, query: from, key: to });
    const came = glass.detail("score_terms", { layer, head, query, key });
    element.toggleAttribute("data-loading", !came);
    if (!came) return;
    found = came;
    const bias = biasIn(found);
    const given = {
      at_key: sumsBy("k", key),
      at_query: sumsBy("q", query),
      terms: pairsIn(found).map(({ q, k, value }) => ({
        value,
        words: panel.text(q.kind === "position" && k.kind === "position" ? "source_position" : "term", {
          q: nameOf(q),
          k: nameOf(k),
          query: from,
          key: to,
        }),
      })),
    };
    const [ofKey, ofQuery] = lists.map(({ name, title, draw: write }) => {
      title.textContent = panel.text(name, { query: from, key: to });
      const apart = bias !== null && name !== "terms"; // the bias is of neither side
      return write(
        given[name],
        found.total - (apart ? bias : 0),
        given[name].length,
        COUNT,
        apart ? "sum_written" : "sum",
      )[0];
    });
    const params = {
      score: signed(found.score, 4),
      key: to,
      query: from,
      of_key: ofKey.words,
      of_query: ofQuery.words,
    };
    const notice = panel.text("notice", {
      ...params,
      key_value: signed(ofKey.value, 3),
      query_value: signed(ofQuery.value, 3),
    });
    say.textContent =
      bias === null
        ? notice
        : glass.text("score-terms.notices", {
            notice,
            position: panel.text("notice_position", { position: signed(bias, 3) }),
          });
    const place = `layer ${layer} head ${head} query ${query} key ${key}`;
    panel.tell(`${place} score=${exact(found.score)} sum=${exact(found.total)} first=${exact(ofKey.value)}`);
  });
}
