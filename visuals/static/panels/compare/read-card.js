// One network's half of a sentence that two read: the words, its head and layer, and its next tokens.

import { labelsOf } from "../../characters.js";
import { topCandidates } from "../../compute.js";
import { linkRows, stepper } from "../../controls.js";
import { brief, h, share } from "../../dom.js";
import { ink, inkOn, shade, visible } from "../../draw.js";
import { WEIGHTS } from "../../marks/scales.js";
import { createTable } from "../../marks/table.js";
import { changesOf } from "../../off.js";
import { nextOf } from "../../readings/compare.js";
import { memo } from "../../reads.js";
import { textRead } from "./two.js";

/**
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {{ side: "A" | "B"; token: number } | null} Pointed which word the pointer is on
 */

/** Next tokens that are listed. */
export const NEXT = 5;

/**
 * One network's half: its words in the shade of what a head makes of them, and what it would write next.
 *
 * @param {"A" | "B"} side
 * @param {import("../../types.d.ts").Glass} glass
 * @param {import("../../types.d.ts").Say} text of the panel
 * @param {{
 *   step: (name: "layer" | "head", by: number) => void;
 *   point: (at: Pointed) => void;
 * }} act what
 *   buttons and words do: another layer or head, and which word the pointer is on
 */
export function createCard(side, glass, text, { step, point }) {
  const [title, facts, caption] = [h("h3.cmp-head"), h("p.gp-note"), h("p.gp-note")];
  const words = h("div.rbt-words", { role: "group", "data-text-label": `read-by-two.words_${side}`, dir: "auto" });
  const steps = Object.fromEntries(
    /** @type {const} */ (["layer", "head"]).map((name) => [
      name,
      stepper((by) => step(name, by), {
        label: `read-by-two.${name}`,
        back: `read-by-two.${name}_back`,
        on: `read-by-two.${name}_on`,
      }),
    ]),
  );
  const next = createTable(
    "read-by-two",
    [
      ["token", "th.gp-token"],
      ["probability", "td.gp-number"],
    ],
    { rows: NEXT },
  );
  const element = h(
    "div.cmp-run",
    { "data-side": side },
    title,
    facts,
    h("div.cmp-row", null, steps.layer.element, steps.head.element),
    words,
    caption,
    next.element,
  );
  const own = { preview: point, focus: point, endPreview: () => point(null), select: point };
  linkRows(words, own, ({ dataset }) => ({ side, token: Number(dataset.token) }), ".rbt-word");
  words.addEventListener("focusout", () => point(null));

  /**
   * @param {Trace} trace
   * @param {ArrayLike<number> | null} weights
   * @param {number} query
   */
  function shadeAll(trace, weights, query) {
    // a row's weights stay the same array: a word keeps the focus
    const table = ink()[WEIGHTS.table];
    words.replaceChildren(
      ...labelsOf(textRead(trace).tokens.pieces).map((piece, token) => {
        const weight = weights?.[token]; // none after the query: the mask hides it
        const place = weight === undefined ? null : WEIGHTS.place(weight);
        const style = place === null ? undefined : `background: ${shade(table, place)}; color: ${inkOn(table, place)}`;
        return h(
          `span.rbt-word${token === query && !trace.encoder ? ".is-query" : ""}`,
          { tabindex: "0", "data-token": token, style },
          visible(piece),
        );
      }),
    );
  }
  const shadeWords = memo(shadeAll);
  const fillNext = memo((/** @type {Trace} */ trace) => {
    const { rows } = topCandidates(nextOf(trace), NEXT);
    next.fill(rows, (fields, { piece, probability }) => {
      [fields[0].textContent, fields[1].textContent] = [visible(piece), brief(share(probability))];
    });
  });

  /** @param {import("./two.js").ReadRun} run */
  function draw({ trace, label, layer, head, query, found }) {
    title.textContent = text(`of_${side}`, { model: label });
    const size = trace.encoder
      ? text("facts_source", { source: trace.encoder.T, count: trace.T })
      : text("facts", { count: trace.T });
    // of a head that is off, what it would read
    facts.textContent = [size, changesOf(trace, glass.text)].filter(Boolean).join(" · ");
    const { n_layers: layers, n_heads: heads } = trace.model;
    steps.layer.show(text("of", { value: layer, last: layers - 1 }), layer === 0, layer === layers - 1);
    steps.head.show(text("of", { value: head, last: heads - 1 }), head === 0, head === heads - 1);
    caption.textContent = found
      ? text("most", {
          query: visible(labelsOf(trace.tokens.pieces)[query]),
          key: visible(labelsOf(textRead(trace).tokens.pieces)[found.most]),
          weight: share(found.weights[found.most]),
        })
      : text("coming");
    shadeWords(trace, found?.weights ?? null, query);
    fillNext(trace);
  }
  return { element, draw };
}
