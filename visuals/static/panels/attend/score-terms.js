// What made a head look where it looks: one score as a sum over what wrote to the query's stream and to the key's, and
// the bias by distance, which is added to the score itself and is written to no stream.

import { signed } from "../../dom.js";
import { frame } from "../../frame.js";
import { normForms, scoreForms } from "../../parts.js";
import { inView } from "../../pointing.js";
import { scoreTermsReader } from "../../readings/score-terms.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { createTerms } from "../glance/terms.js";
import { named } from "../glance/words.js";
import { sourceKey } from "./source-names.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../glance/terms.js").Term} Term
 *
 * @typedef {import("../../readings/score-terms.js").ScoreReading} ScoreReading
 *
 * @typedef {import("../../readings/score-terms.js").Source} Source
 */

const KIND = "score-terms";
const COUNT = 6;

/**
 * What the panel's reader is asked about.
 *
 * @param {Glass} glass
 * @returns {import("../../readings/score-terms.js").ScoreSelection}
 */
const select = ({ state: { locked } }) => ({
  layer: locked.layer,
  head: locked.head,
  query: locked.query,
  key: locked.key,
});

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["resid_in", "q", "k", "q_rot", "k_rot", "position_bias", "scores"],
  unused: "head",
  forms: (model) => [...scoreForms(model), ...normForms(model)],
};

/**
 * The lists: one term a writer to the key's stream and to the query's, its pairs with all writers to the other
 * together; and the single pairs.
 *
 * @param {Glass} glass
 * @param {import("../../frame.js").Panel} panel
 */
function createLists(glass, panel) {
  const lists = /** @type {const} */ (["at_key", "at_query", "terms"]).map((name) => ({
    name,
    ...createTerms(glass, KIND),
  }));
  /** @type {(source: Source, layer: number) => string} */
  const nameOf = (source, layer) => panel.text(sourceKey(source, layer), { layer: source.layer, head: source.head });
  /** @type {(pair: ScoreReading["terms"][number]) => boolean} */
  const isBias = ({ q, k }) => q.kind === "position" && k.kind === "position";

  /**
   * @param {ScoreReading} reading
   * @param {{ query: string; key: string }} tokens
   * @returns {Record<"at_key" | "at_query" | "terms", Term[]>}
   */
  function termsOf({ selection: { layer, query, key }, writers, terms }, tokens) {
    /** @type {(source: Source, token: number) => Term["select"]} */
    const placeOf = ({ kind, ...at }, token) =>
      kind === "head" && at.layer !== null && at.head !== null
        ? { layer: at.layer, head: at.head, query: token }
        : undefined;
    /** @type {(all: ScoreReading["writers"]["q"], token: number) => Term[]} */
    const sums = (all, token) =>
      all.map(({ source, value }) => ({ value, words: nameOf(source, layer), select: placeOf(source, token) }));
    /** @type {(pair: ScoreReading["terms"][number]) => string} */
    const words = (pair) =>
      panel.text(isBias(pair) ? "source_position" : "term", {
        q: nameOf(pair.q, layer),
        k: nameOf(pair.k, layer),
        ...tokens,
      });
    return {
      at_key: sums(writers.k, key),
      at_query: sums(writers.q, query),
      // Only the largest are named: thirty layers have eighty thousand of them.
      terms: terms.map((pair) => ({
        value: pair.value,
        get words() {
          return words(pair);
        },
      })),
    };
  }

  /**
   * @param {ScoreReading} reading
   * @param {{ query: string; key: string }} tokens
   * @returns {Term[]} the largest of each list
   */
  function fill(reading, tokens) {
    const { values, bias } = reading;
    const given = termsOf(reading, tokens);
    return lists.map(({ name, draw }) => {
      const apart = bias !== null && name !== "terms"; // the bias is of neither side
      const all = given[name];
      const total = values.sum - (apart ? bias : 0);
      return draw(all, total, all.length, COUNT, apart ? "sum_written" : "sum")[0];
    });
  }
  return { lists, fill };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function scoreTerms(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth"], pointed: false });
  const { lists, fill } = createLists(glass, panel);

  /** The locked query's and key's tokens, as they are named within a sentence. */
  function tokensNow() {
    const [query, key] = [state.locked.query, state.locked.key].map((t) =>
      named(glass.text, state.trace.tokens.pieces, t),
    );
    return { query, key };
  }
  /**
   * What is to be noticed, in words.
   *
   * @param {ScoreReading} reading
   * @param {Term[]} largest of the lists
   * @param {{ query: string; key: string }} tokens
   */
  function noticeOf({ values, bias }, [ofKey, ofQuery], tokens) {
    const notice = panel.text("notice", {
      ...tokens,
      score: signed(values.score, 4),
      of_key: ofKey.words,
      of_query: ofQuery.words,
      key_value: signed(ofKey.value, 3),
      query_value: signed(ofQuery.value, 3),
    });
    if (bias === null) return notice;
    const position = panel.text("notice_position", { position: signed(bias, 3) });
    return glass.text(`${KIND}.notices`, { notice, position });
  }

  /** @param {{ notice: string; titles: string[] }} told */
  function view({ notice, titles }) {
    const [atKey, atQuery, single] = lists.map(
      ({ name, element: list }, i) => html`
        <div class=${`st-${name}`} data-part=${name}>
          <h3 class="gp-subtitle" .textContent=${titles[i]}></h3>
          ${list}
        </div>
      `,
    );
    return html`
      <p class="wy-notice" .textContent=${notice}></p>
      <div class="gp-columns">${atKey} ${atQuery}</div>
      ${single}
    `;
  }
  render(view({ notice: "", titles: ["", "", ""] }), panel.body);

  return inView(element, function draw() {
    const reading = readHere(glass, scoreTermsReader, select(glass));
    return () => {
      const tokens = tokensNow();
      const { layer, head } = state.locked;
      panel.title.textContent = panel.text("title", { layer, head, ...tokens });
      element.toggleAttribute("data-loading", !reading);
      if (!reading) return;
      const notice = noticeOf(reading, fill(reading, tokens), tokens);
      render(view({ notice, titles: lists.map(({ name }) => panel.text(name, tokens)) }), panel.body);
      panel.show(reading, "");
    };
  });
}
