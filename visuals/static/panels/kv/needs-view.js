// What so many users need: weights and cache in all, and a table of how many of each GPU hold them.

import { html, nothing } from "../../vendor/lit-html.js";
import { notesView } from "./answer.js";
import { both, inGibibytes, scaled, whole } from "./format.js";

/** @typedef {import("../../decoded.d.ts").Calculation<"kv_needs">} Needs */

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {Needs} needs
 * @param {string} model its name
 */
export function needsView(glass, { users, tokens, weights, cache, total, gpus, notes }, model) {
  /** @type {import("../../types.d.ts").Say} */
  const text = (name, params) => glass.text(`kv-fit.${name}`, params);
  const means = text(gpus.some(({ layout: one }) => one && one.dcp > 1) ? "layout_dcp_means" : "layout_means");
  /** @param {Needs["gpus"][number]["layout"]} found */
  const layout = (found) => (found ? text(found.dcp > 1 ? "layout_dcp" : "layout", found) : text("beyond"));
  const sum = { weights: scaled(weights, "binary"), cache: scaled(cache, "binary"), total: both(total) };
  const head = (/** @type {Needs["gpus"][number]} */ { name, own }) =>
    html`<th class="gp-token" scope="row" dir="auto" .textContent=${own ? text("own_gpu") : name}></th>`;
  const row = (/** @type {Needs["gpus"][number]} */ gpu) => {
    const { at_least: least, layout: found, one_server: one } = gpu;
    return html`<tr>
      ${head(gpu)}
      <td .textContent=${least === null ? "—" : whole(least)}></td>
      <td .textContent=${layout(found)}></td>
      <td .textContent=${one ? String(one) : "—"}></td>
    </tr>`;
  };
  /**
   * What a class needs for a sum, and of each GPU how much it holds, what of that is for both, and how many it
   * takes.
   */
  const inLesson = glass.state.presenting === true;
  const lessonRow = (/** @type {Needs["gpus"][number]} */ gpu) =>
    html`<tr>
      ${head(gpu)}
      <td .textContent=${inGibibytes(gpu.memory)}></td>
      <td .textContent=${inGibibytes(gpu.alone)}></td>
      <td data-answer .textContent=${gpu.layout ? whole(gpu.layout.gpus) : "—"}></td>
    </tr>`;
  const each = scaled(BigInt(cache) / BigInt(users), "binary");
  const given = text("given", { users: whole(users), each, weights: sum.weights });
  const [{ name: gpu, memory, alone }] = gpus;
  const rest = scaled(BigInt(memory) - BigInt(alone), "binary");
  const room = html`<p class="gp-note" .textContent=${text("lesson_room", { gpu, rest })}></p>`;
  const columns = inLesson ? ["memory", "for_both", "needed"] : ["at_least", "found", "one_server"];
  return html`<h3
      class="gp-subtitle"
      .textContent=${text("reverse_title", { model, users: whole(users), tokens: whole(tokens) })}
    ></h3>
    <p data-result data-answer .textContent=${text("reverse_sum", sum)}></p>
    <p class="gp-note" .textContent=${inLesson ? given : means}></p>
    <div class="kv-scroll">
      <table class="gp-table">
        <thead>
          <tr>
            <th class="is-left" scope="col" .textContent=${text("gpu")}></th>
            ${columns.map((name) => html`<th scope="col" .textContent=${text(name)}></th>`)}
          </tr>
        </thead>
        <tbody>
          ${gpus.map(inLesson ? lessonRow : row)}
        </tbody>
      </table>
    </div>
    ${inLesson ? room : nothing} ${notesView(glass, notes)}`;
}
