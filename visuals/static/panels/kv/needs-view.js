// What so many users need: weights and cache in all, and a table of how many of each GPU hold them.

import { remarkIn } from "../../remark.js";
import { html, nothing } from "../../vendor/lit-html.js";
import { notesView } from "./answer.js";
import { OWN_GPU } from "./fit-questions.js";
import { both, exactBytes, inGibibytes, scaled, whole } from "./format.js";

/** @typedef {import("../../decoded.d.ts").Calculation<"kv_needs">} Needs */

/** @typedef {import("../../types.d.ts").Say} Say */

/** Whose figure a GPU's memory is. @param {Needs["gpus"][number]} gpu */
const figureOf = ({ own, reported }) => (own ? "own" : reported ? "reported" : "stated");

/**
 * An Apple chip's GB are GiB: a memory as it is stated that is whole GiB is one.
 *
 * @param {Needs["gpus"][number]} gpu
 * @returns {"binary" | "decimal"}
 */
const unitsOf = (gpu) => (figureOf(gpu) === "stated" && BigInt(gpu.memory) % 2n ** 30n === 0n ? "binary" : "decimal");

/**
 * How much of one GPU weights and cache may take, and whose figure its memory is.
 *
 * @param {Needs["gpus"][number]} gpu
 * @param {Say} text of the section "kv-fit"
 */
function roomCell(gpu, text) {
  const { room, percent, memory, reporter } = gpu;
  const told = { memory: scaled(memory, unitsOf(gpu)), reporter };
  const whose = text(`room_${figureOf(gpu)}`, told);
  const said = percent < 100 ? text("room_percent", { percent, whose }) : whose;
  return html`<td data-head=${text("room_each")}>
    <span title=${exactBytes(room)} .textContent=${scaled(room, "decimal")}></span>
    <div class="kv-how" .textContent=${said}></div>
  </td>`;
}

/**
 * What of a memory counts, the division behind the least count, and where each memory was read.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {Needs} needs
 * @param {string} chosen the GPU that the panel above is of
 * @param {Say} text of the section "kv-fit"
 */
function roomView(glass, { by, total, users, gpus }, chosen, text) {
  const from = (/** @type {Needs["gpus"][number]} */ { name, reported, reported_in: report, reporter, source }) => {
    const told = {
      ...{ name, reporter, reported: whole(reported), in: report },
      source: remarkIn(source, glass.state.language),
    };
    return html`<li .textContent=${text(reported ? "room_from_report" : "room_from", told)}></li>`;
  };
  const one = gpus.find(({ name, own }) => (own ? OWN_GPU : name) === chosen) ?? gpus[0];
  const told = one.room_tp > 1 && {
    tp: one.room_tp,
    gpu: one.own ? text("own_gpu") : one.name,
    room: scaled(one.room, "decimal"),
    alone: scaled(one.alone, "decimal"),
    users: whole(users),
  };
  const none = gpus.some(({ at_least: least, one_server: server }) => least === null || !server);
  return html`<p class="gp-note" .textContent=${text(`room_${by}`, { total: scaled(total, "decimal") })}></p>
    ${told ? html`<p class="gp-note kv-room-shared" .textContent=${text("room_shared", told)}></p>` : nothing}
    ${none ? html`<p class="gp-note kv-no-server" .textContent=${text("one_server_none")}></p>` : nothing}
    <details class="kv-source">
      <summary .textContent=${text("room_sources")}></summary>
      <ul>
        ${gpus.filter(({ own }) => !own).map(from)}
      </ul>
    </details>`;
}

const IN_LESSON = 6; // kinds of GPU that a hall sees (lessons/style.css)

/**
 * What a card has that is for neither weights nor cache: of the kinds that a hall sees the least, and where they
 * differ the most as well.
 *
 * @param {Needs["gpus"]} gpus
 */
function keptBack(gpus) {
  const kept = gpus.slice(0, IN_LESSON).map(({ memory, alone }) => BigInt(memory) - BigInt(alone));
  const [least, most] = [kept.reduce((a, b) => (b < a ? b : a)), kept.reduce((a, b) => (b > a ? b : a))];
  return [...new Set([least, most].map((bytes) => scaled(bytes, "binary")))].join("–");
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {Needs} needs
 * @param {string} model its name
 * @param {string} chosen the GPU that the panel above is of
 */
export function needsView(glass, needs, model, chosen) {
  const { users, tokens, weights, cache, total, gpus, notes } = needs;
  /** @type {Say} */
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
      ${head(gpu)} ${roomCell(gpu, text)}
      <td data-head=${text("at_least")} .textContent=${least === null ? "—" : whole(least)}></td>
      <td data-head=${text("found")} .textContent=${layout(found)}></td>
      <td data-head=${text("one_server")} .textContent=${one ? String(one) : "—"}></td>
    </tr>`;
  };
  /**
   * What a class needs for a sum, and of each GPU how much it holds, what of that is for both, and how many it
   * takes.
   */
  const inLesson = glass.state.presenting === true;
  const remarks = notes.filter(({ code }) => inLesson || code !== "beyond_context"); // else it stands beside the field
  const lessonRow = (/** @type {Needs["gpus"][number]} */ gpu) =>
    html`<tr data-result=${gpu.layout ? `${whole(gpu.layout.gpus)} × ${gpu.name}` : ""}>
      ${head(gpu)}
      <td data-head=${text("memory")}>
        <span .textContent=${inGibibytes(gpu.memory)}></span>
        <span class="gp-note" .textContent=${text(`memory_${figureOf(gpu)}`)}></span>
      </td>
      <td data-head=${text("for_both")} .textContent=${inGibibytes(gpu.alone)}></td>
      <td data-head=${text("needed")} data-answer .textContent=${gpu.layout ? whole(gpu.layout.gpus) : "—"}></td>
    </tr>`;
  const each = scaled(BigInt(cache) / BigInt(users), "binary");
  const given = text("given", { users: whole(users), each, weights: sum.weights });
  const room = html`<p class="gp-note" .textContent=${text("lesson_room", { rest: keptBack(gpus) })}></p>`;
  const columns = inLesson ? ["memory", "for_both", "needed"] : ["room_each", "at_least", "found", "one_server"];
  return html`<h3
      class="gp-subtitle"
      .textContent=${text("reverse_title", { model, users: whole(users), tokens: whole(tokens) })}
    ></h3>
    <p data-result data-answer .textContent=${text("reverse_sum", sum)}></p>
    <p class="gp-note" .textContent=${inLesson ? given : means}></p>
    <div class="kv-scroll kv-stacked">
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
    ${inLesson ? room : roomView(glass, needs, chosen, text)} ${notesView(glass, remarks)}`;
}
