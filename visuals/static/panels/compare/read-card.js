// One network's half of a sentence that two read: the words, its head and layer, and its next tokens.

import { labelsOf } from "../../characters.js";
import { linkRows, stepper } from "../../controls.js";
import { shareSaid } from "../../counts.js";
import { h, share } from "../../dom.js";
import { ink, inkOn, shade, visible } from "../../draw.js";
import { WEIGHTS } from "../../marks/scales.js";
import { changesOf } from "../../off.js";
import { textRead } from "../../readings/read-by-two.js";
import { html, nothing, render } from "../../vendor/lit-html.js";

/**
 * @typedef {import("../../readings/read-by-two.js").ReadRun} ReadRun
 *
 * @typedef {import("../../readings/read-by-two.js").Pointed} Pointed
 *
 * @typedef {import("../../types.d.ts").Say} Say
 */

/**
 * The words, in the shade of what the head makes of them.
 *
 * @param {ReadRun} run
 */
function wordsView({ trace, look, query }) {
  const table = ink()[WEIGHTS.table];
  return labelsOf(textRead(trace).tokens.pieces).map((piece, token) => {
    const weight = look?.weights[token]; // none after the query: the mask hides it
    const place = weight === undefined ? null : WEIGHTS.place(weight);
    const style = place === null ? nothing : `background: ${shade(table, place)}; color: ${inkOn(table, place)}`;
    const looks = token === query && !trace.encoder ? "rbt-word is-query" : "rbt-word";
    return html`<span
      class=${looks}
      tabindex="0"
      data-token=${token}
      style=${style}
      .textContent=${visible(piece)}
    ></span>`;
  });
}

/**
 * What the network would write next.
 *
 * @param {Say} text of the panel
 * @param {import("../../types.d.ts").Glass["text"]} whole of the page
 * @param {ReadRun} run
 */
const nextView = (text, whole, { next }) =>
  html`<table class="gp-table">
    <thead>
      <tr>
        <th class="is-left" scope="col" .textContent=${text("token")}></th>
        <th scope="col" .textContent=${text("probability")}></th>
      </tr>
    </thead>
    <tbody>
      ${next.map(
        ({ piece, probability }) =>
          html`<tr>
            <th class="gp-token" scope="row" dir="auto" .textContent=${visible(piece)}></th>
            <td class="gp-number" title=${share(probability)} .textContent=${shareSaid(whole, probability)}></td>
          </tr>`,
      )}
    </tbody>
  </table>`;

/**
 * What the head reads most, in words.
 *
 * @param {Say} text of the panel
 * @param {ReadRun} run
 */
function mostText(text, { trace, look, query }) {
  if (!look) return text("coming");
  return text("most", {
    query: visible(labelsOf(trace.tokens.pieces)[query]),
    key: visible(labelsOf(textRead(trace).tokens.pieces)[look.most]),
    weight: share(look.weight),
  });
}

/**
 * How long the text is, and what was changed in the run.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {Say} text of the panel
 * @param {ReadRun} run
 */
function factsText(glass, text, { trace }) {
  const size = trace.encoder
    ? text("facts_source", { source: trace.encoder.T, count: trace.T })
    : text("facts", { count: trace.T });
  // of a head that is off, what it would read
  return [size, changesOf(trace, glass.text)].filter(Boolean).join(" · ");
}

/**
 * One network's half: its words in the shade of what a head makes of them, and what it would write next.
 *
 * @param {"A" | "B"} side
 * @param {import("../../types.d.ts").Glass} glass
 * @param {Say} text of the panel
 * @param {{
 *   step: (name: "layer" | "head", by: number) => void;
 *   point: (at: Pointed) => void;
 * }} act what
 *   buttons and words do: another layer or head, and which word the pointer is on
 */
export function createCard(side, glass, text, { step, point }) {
  const words = h("div.rbt-words", { role: "group", "data-text-label": `read-by-two.words_${side}`, dir: "auto" });
  const [layers, heads] = /** @type {const} */ (["layer", "head"]).map((name) =>
    stepper((by) => step(name, by), {
      label: `read-by-two.${name}`,
      back: `read-by-two.${name}_back`,
      on: `read-by-two.${name}_on`,
    }),
  );
  const own = { preview: point, focus: point, endPreview: () => point(null), select: point };
  linkRows(words, own, ({ dataset }) => ({ side, token: Number(dataset.token) }), ".rbt-word");
  words.addEventListener("focusout", () => point(null));

  /** @param {ReadRun | null} run null before there is one */
  return function view(run) {
    if (run) {
      const { n_layers, n_heads } = run.trace.model;
      const { layer, head } = run;
      layers.show(text("of", { value: layer, last: n_layers - 1 }), layer === 0, layer === n_layers - 1);
      heads.show(text("of", { value: head, last: n_heads - 1 }), head === 0, head === n_heads - 1);
      render(wordsView(run), words);
    }
    return html`<div class="cmp-run" data-side=${side}>
      <h3
        class="cmp-head"
        .textContent=${run ? text(`of_${side}`, { model: glass.modelName(run.trace.model.name) }) : ""}
      ></h3>
      <p class="gp-note" .textContent=${run ? factsText(glass, text, run) : ""}></p>
      <div class="cmp-row">${layers.element} ${heads.element}</div>
      ${words}
      <p class="gp-note" .textContent=${run ? mostText(text, run) : ""}></p>
      ${run ? nextView(text, glass.text, run) : nothing}
    </div>`;
  };
}
