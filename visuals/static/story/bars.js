// A few quantities one under the other, as bars to one scale; and the bar of one probability, which all scenes share.

import { exact, h } from "../dom.js";

/**
 * @typedef {{ name: string; value: number; words: string; strong?: boolean; aim?: number }} Bar `strong`: stands
 *   out; `aim`: a mark across the bar of a probability
 */

const percent = (/** @type {number} */ part) => `${(100 * part).toFixed(3)}%`;

/**
 * The bar of a probability, on a track that is as long as all of it, 1.
 *
 * @param {number} probability
 * @param {...Node} marks that stand across it
 */
export const shareBar = (probability, ...marks) =>
  h("span.st-whole", null, h("span.st-bar", { style: `width: ${percent(probability)}` }), ...marks);

/** @param {{ isShare?: boolean }} [how] `isShare`: the values are probabilities; else the longest bar is the largest */
export function createBars({ isShare = false } = {}) {
  const body = h("tbody");
  const element = h("table.st-quantities", null, body);
  /** @param {Bar[]} bars */
  function draw(bars) {
    const longest = Math.max(...bars.map(({ value }) => value));
    const barOf = (/** @type {Bar} */ { value, aim }) =>
      isShare
        ? shareBar(value, ...(aim === undefined ? [] : [h("span.st-aim", { style: `left: ${percent(aim)}` })]))
        : h("span.st-bar", { style: `width: ${percent(value / longest)}` });
    body.replaceChildren(
      ...bars.map((bar) =>
        h(
          `tr${bar.strong ? ".is-own" : ""}`,
          null,
          h("th", { scope: "row" }, bar.name),
          h("td.st-track", null, barOf(bar)),
          h("td.st-share", { title: exact(bar.value, 6) }, bar.words),
        ),
      ),
    );
  }
  return { element, draw };
}
