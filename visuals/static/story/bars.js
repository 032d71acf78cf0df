// A few quantities one under the other, as bars to one scale.

import { exact, h } from "../dom.js";

/**
 * @typedef {{ name: string; value: number; words: string; strong?: boolean; aim?: number }} Bar `strong`: stands
 *   out
 */

/** @param {number} [most] what the longest bar stands for; the largest of the values else */
export function createBars(most) {
  const body = h("tbody");
  const element = h("table.st-quantities", null, body);
  /** @param {Bar[]} bars `aim`: a mark across the bar, in the unit of the values */
  function draw(bars) {
    const longest = most ?? Math.max(...bars.map(({ value }) => value));
    const part = (/** @type {number} */ value) => `${((100 * value) / longest).toFixed(3)}%`;
    body.replaceChildren(
      ...bars.map(({ name, value, words, strong, aim }) =>
        h(
          `tr${strong ? ".is-own" : ""}`,
          null,
          h("th", { scope: "row" }, name),
          h(
            "td.st-track",
            null,
            h(
              "span.st-scale",
              null,
              h("span.st-bar", { style: `width: ${part(value)}` }),
              ...(aim === undefined ? [] : [h("span.st-aim", { style: `left: ${part(aim)}` })]),
            ),
          ),
          h("td.st-share", { title: exact(value, 6) }, words),
        ),
      ),
    );
  }
  return { element, draw };
}
