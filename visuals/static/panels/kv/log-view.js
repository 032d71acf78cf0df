// A log beside the formula: three columns, the ladder of differences with their sources, and what was read where.

import { COLUMNS, formatOf } from "../../readings/kv-log.js";
import { html, nothing } from "../../vendor/lit-html.js";
import { exactBytes, scaled, whole } from "./format.js";

/**
 * @typedef {import("../../messages.d.ts").KvLogAnswer} Answer
 *
 * @typedef {import("../../messages.d.ts").LogCell} Cell
 *
 * @typedef {import("../../messages.d.ts").LogDifference} Difference
 *
 * @typedef {(name: string, params?: Record<string, unknown>) => string} Text
 */

/** Quantities that are bytes; the others are counts. */
const BYTES = new Set(["token", "bytes", "request", "state"]);
/** Particulars of differences that are bytes. */
const SIZES = new Set([
  "block_bytes",
  "state",
  "page_bytes",
  "own",
  "counted",
  "each",
  "mean",
  "stored",
  "decimal",
  "binary",
  "slack",
  "needed",
]);

/**
 * A figure: bytes in GiB with the exact ones below, a count with separators.
 *
 * @param {Cell | null} cell
 * @param {string} quantity
 * @param {string} mark what is wrong with it, "" for nothing
 * @param {Text} text
 */
function figure(cell, quantity, mark, text) {
  if (!cell) return html`<td class="kv-log-none">—</td>`;
  const bytes = BYTES.has(quantity);
  const number = /^-?\d+$/.test(cell.value);
  const main = bytes
    ? scaled(cell.value, "binary")
    : number
      ? whole(cell.value)
      : quantity === "concurrency"
        ? `${cell.value}×`
        : cell.value;
  const exact = bytes ? exactBytes(cell.value) : "";
  return html`<td>
    <strong .textContent=${main}></strong>
    ${exact ? html`<span class="kv-log-exact" .textContent=${exact}></span>` : nothing}
    ${cell.how ? html`<span class="kv-log-how" .textContent=${cell.how}></span>` : nothing}
    ${cell.worked_out ? html`<span class="kv-log-worked-out" .textContent=${text("worked_out")}></span>` : nothing}
    ${mark ? html`<span class="kv-log-differs" .textContent=${mark}></span>` : nothing}
  </td>`;
}

/**
 * A signed number of bytes, as people read it.
 *
 * @param {string} bytes
 */
function signedSize(bytes) {
  const size = bytes.replace("-", "");
  return Number(size) === 0 ? scaled(0, "binary") : `${bytes.startsWith("-") ? "−" : "+"}${scaled(size, "binary")}`;
}

/**
 * The same with the exact one.
 *
 * @param {string} bytes
 */
const signed = (bytes) => {
  const exact = `${bytes.startsWith("-") ? "−" : "+"}${exactBytes(bytes.replace("-", ""))}`;
  return Number(bytes) === 0 ? signedSize(bytes) : `${signedSize(bytes)} (${exact})`;
};

/**
 * Particulars as a text takes them: counts with separators, sizes with units.
 *
 * @param {Difference["params"]} params
 */
const told = (params) =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      typeof value !== "number" ? value : SIZES.has(name) ? scaled(value, "binary") : whole(value),
    ]),
  );

/**
 * @param {Difference[]} differences
 * @param {Text} text
 */
function ladder(differences, text) {
  return html`<ul class="kv-log-steps">
    ${differences.map(
      ({ code, bytes, params, source }) =>
        html`<li data-code=${code}>
          <strong .textContent=${text(`step_${code}`)}></strong>
          ${bytes === null ? nothing : html`<span class="kv-log-bytes" .textContent=${signed(bytes)}></span>`}
          <span .textContent=${text(`step_${code}_says`, told(params))}></span>
          ${source ? sourceOf(source, text) : nothing}
        </li>`,
    )}
  </ul>`;
}

/**
 * @param {NonNullable<Difference["source"]>} source
 * @param {Text} text
 */
const sourceOf = ({ text: name, address }, text) =>
  html`<span class="gp-note kv-log-source"
    >${text("from")}
    ${
      address
        ? html`<a href=${address} target="_blank" rel="noreferrer" .textContent=${name}></a>`
        : html`<span .textContent=${name}></span>`
    }</span
  >`;

/**
 * What the figures are of: engine, model, format, ranks; where the log names the model, the way to the chosen one.
 *
 * @param {Answer} answer
 * @param {Text} text
 * @param {(model: string) => string} named
 * @param {Ways} ways
 */
function heading(answer, text, named, { asChosen, choose }) {
  const { engine, ranks, dtype, dtype_v, stated, named: own, agrees } = answer;
  const notes = [
    text(`model_${answer.model_from}`, { model: named(answer.model), named: own, instead: named(answer.instead_of) }),
    dtype !== dtype_v && answer.dtype_from === "log"
      ? text("dtype_log_two", { k: dtype, v: dtype_v })
      : text(`dtype_${answer.dtype_from}`, { dtype: formatOf(answer), stated, model: named(answer.model) }),
    nameNote(answer, text, named),
    answer.unread && !agrees ? text("unread", { reason: answer.unread }) : "",
    ranks > 1 ? text("ranks", { ranks }) : "",
  ].filter(Boolean);
  return html`<p class="kv-total"><strong .textContent=${engine}></strong></p>
    ${notes.map((note) => html`<p class="gp-note" .textContent=${note}></p>`)}
    ${
      answer.instead_of
        ? html`${button(text("named_set", { model: named(answer.model) }), () => choose(answer.model))}
          ${button(text("another_take", { another: named(answer.instead_of) }), asChosen)}`
        : nothing
    }`;
}

/**
 * What the log calls its model, where that is not the one that is compared.
 *
 * @param {Answer} answer
 * @param {Text} text
 * @param {(model: string) => string} named
 */
function nameNote({ named: own, listed, alike, agrees, another, model, model_from: from }, text, named) {
  if (!own || from !== "chosen") return "";
  if (!listed) return text("named_unknown", { named: own, model: named(model) });
  const known = listed === model ? "named_too" : alike ? "named_alike" : "named_only";
  if (agrees) return text(known, { named: own, listed, model: named(model) });
  return another ? "" : text("named", { named: own });
}

/**
 * @param {string} said
 * @param {() => void} press
 */
const button = (said, press) =>
  html`<p><button type="button" class="kv-button kv-log-take" @click=${press} .textContent=${said}></button></p>`;

/**
 * Where the log ends within a number, which is not read.
 *
 * @param {Answer} answer
 * @param {Text} text
 */
const cutView = ({ cut }, text) =>
  cut ? html`<p class="kv-log-cut" role="note" .textContent=${text("cut", { ...cut })}></p>` : nothing;

/**
 * Lines that contradict each other or the model, before any figure that rests on them.
 *
 * @param {Answer} answer
 * @param {Text} text
 * @param {(model: string) => string} named
 */
function conflictsView({ conflicts, model }, text, named) {
  if (!conflicts.length) return nothing;
  return html`<div class="kv-log-conflicts" role="note">
    <h3 class="gp-subtitle" .textContent=${text("conflicts")}></h3>
    <ul>
      ${conflicts.map(({ code, quantity, ...params }) => {
        const what = quantity ? text(`quantity_${quantity}`) : "";
        return html`<li .textContent=${text(`conflict_${code}`, { ...params, what, model: named(model) })}></li>`;
      })}
    </ul>
  </div>`;
}

/**
 * Whether all of the log is explained: its last step leaves nothing, of a request either, no line contradicts it,
 * and none was left unchecked.
 *
 * @param {Answer} answer
 * @param {Difference[]} pool
 * @param {Text} text
 */
function verdictView({ conflicts, differences }, pool, text) {
  const last = pool.filter(({ bytes }) => bytes !== null).at(-1);
  if (!last || !["rounding", "whole_blocks"].includes(last.code)) return nothing;
  if (differences.some(({ code }) => code === "unexplained" || code === "tokens_unchecked")) return nothing;
  const verdict = text(conflicts.length ? "verdict_conflict" : "verdict_whole");
  return html`<p class="kv-log-verdict" .textContent=${verdict}></p>`;
}

/**
 * @typedef {object} Ways to another comparison of the same log, and from it
 * @property {(model: string) => void} choose sets the calculator to a model of the list, and compares with it
 * @property {() => void} asChosen compares with the calculator's model, whatever the log names
 * @property {() => void} asNamed compares with the model that the log names
 * @property {() => void} weigh takes the log's weights over to what fits on a GPU
 */

/**
 * The whole answer.
 *
 * @param {Answer} answer
 * @param {Text} text of the panel
 * @param {(model: string) => string} named a model as the page calls it
 * @param {Ways} ways
 * @param {boolean} weighed whether the panel on GPUs has the log's weights
 */
export function logView(answer, text, named, ways, weighed) {
  const { facts } = answer;
  return html`${heading(answer, text, named, ways)} ${cutView(answer, text)} ${conflictsView(answer, text, named)}
    ${answer.another ? anotherView(answer, text, named, ways) : nothing} ${figuresView(answer, text)}
    ${weightsView(answer, text)} ${weighView(answer, text, named(answer.model), ways, weighed)}
    ${besideView(answer, text)}
    <details class="kv-log-facts">
      <summary .textContent=${text("read", { count: facts.length })}></summary>
      <ul>
        ${facts.map(
          ({ code, value, line }) =>
            html`<li .textContent=${text("fact", { line, fact: text(`fact_${code}`), value })}></li>`,
        )}
      </ul>
    </details>`;
}

/**
 * The weights as counted, as the engine says, and the difference; nothing where the log says nothing of them.
 *
 * @param {Answer} answer
 * @param {Text} text
 */
function weightsView({ engine, weights }, text) {
  if (!weights) return nothing;
  const {
    counted,
    dtype,
    stated,
    computed,
    logged,
    text: printed,
    slack,
    more,
    line,
    whole: ofFile,
    measured,
  } = weights;
  const note =
    counted === null
      ? text(stated ? "weights_mixed" : "weights_unknown", { format: dtype })
      : text(measured ? "weights_measured" : ofFile ? "weights_whole" : "weights_each", { engine });
  const within = more !== null && Math.abs(Number(more)) <= Number(slack) ? text("weights_within") : "";
  const cells = [
    [
      counted === null ? text("weights_uncounted") : text("weights_counted", { format: dtype }),
      counted,
      stated ? "" : text(computed ? "weights_as_files" : "weights_as_config", { computed }),
    ],
    [text("weights_logged"), logged, text("weights_line", { line, printed })],
    [text("weights_difference"), more, within],
  ];
  const cell = (/** @type {string} */ head, /** @type {string | null} */ bytes, /** @type {string} */ how) =>
    html`<td data-head=${head}>
      <strong
        .textContent=${bytes === null ? "—" : bytes === more ? signedSize(bytes) : scaled(bytes, "binary")}
      ></strong>
      ${bytes === null ? nothing : html`<span class="kv-log-exact" .textContent=${exactBytes(bytes)}></span>`}
      ${how && bytes !== null ? html`<span class="kv-log-how" .textContent=${how}></span>` : nothing}
    </td>`;
  return html`<h3 class="gp-subtitle" .textContent=${text("weights")}></h3>
    <div class="kv-scroll kv-stacked">
      <table class="gp-table kv-log-table kv-log-weights">
        <thead>
          <tr>
            ${cells.map(([head]) => html`<th scope="col" .textContent=${head}></th>`)}
          </tr>
        </thead>
        <tbody>
          <tr>
            ${cells.map(([head, bytes, how]) => cell(String(head), bytes, String(how)))}
          </tr>
        </tbody>
      </table>
    </div>
    <p class="gp-note" .textContent=${note}></p>`;
}

/**
 * The button that takes the log's weights over to what fits on a GPU, where they are of all of the model that is
 * compared; else why there is none.
 *
 * @param {Answer} answer
 * @param {Text} text
 * @param {string} model as the page calls it
 * @param {Ways} ways
 * @param {boolean} weighed
 */
function weighView({ weights, ranks, config, ...answer }, text, model, { weigh }, weighed) {
  const own = ["metadata", "printed"].includes(answer.model_from);
  const others = answer.another || answer.conflicts.some(({ code }) => ["model", "size", "name"].includes(code));
  if (!weights || others || (own && !config)) return nothing;
  const told = { size: weights.text, model, ranks };
  if (ranks > 1 && !weights.whole) return html`<p class="gp-note" .textContent=${text("weigh_part", told)}></p>`;
  return html`${button(text("weigh", told), weigh)}
    <p class="gp-note kv-log-weighed" role="status" .textContent=${weighed ? text("weighed", told) : ""}></p>`;
}

/**
 * Buffers beside weights and cache that the log tells of, each with its line.
 *
 * @param {Answer} answer
 * @param {Text} text
 */
function besideView({ beside }, text) {
  if (!beside.length) return nothing;
  const said = (/** @type {Answer["beside"][number]} */ { code, value, line }) =>
    text("fact", { line, fact: text(`fact_${code}`), value });
  return html`<h3 class="gp-subtitle" .textContent=${text("beside")}></h3>
    <ul class="kv-log-beside">
      ${beside.map((one) => html`<li .textContent=${said(one)}></li>`)}
    </ul>`;
}

/**
 * The log names a model of the list, and is compared with another one that is chosen. Or its bytes are those of one
 * of the list, and not of the chosen one.
 *
 * @param {Answer} answer
 * @param {Text} text
 * @param {(model: string) => string} named
 * @param {Ways} ways
 */
function anotherView({ named: own, another, another_by: by, another_params: params, model }, text, named, ways) {
  const names = { ...told(params), named: own, another: named(another), model: named(model) };
  const take = by === "name" ? ways.asNamed : () => ways.choose(another);
  return html`<div class="kv-log-another" role="note">
    <p .textContent=${text(by === "name" ? "another" : `another_${by}`, names)}></p>
    <button
      type="button"
      class="kv-button is-primary"
      @click=${take}
      .textContent=${text("another_take", names)}
    ></button>
  </div>`;
}

/**
 * Three columns, and the ladders from the formula to the log.
 *
 * @param {Answer} answer
 * @param {Text} text
 */
function figuresView(answer, text) {
  const { rows, differences } = answer;
  const [pool, request] = ["pool", "request"].map((of) => differences.filter((one) => one.of === of));
  const rounded = request.every(({ code }) => code === "rounding"); // a request takes what the formula says
  return html`<div class="kv-scroll" tabindex="0" role="region" aria-label=${text("table")}>
      <table class="gp-table kv-log-table">
        <thead>
          <tr>
            <th scope="col" .textContent=${text("quantity")}></th>
            ${COLUMNS.map((name) => html`<th scope="col" .textContent=${text(`column_${name}`)}></th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) =>
              html`<tr data-quantity=${row.quantity}>
                <th scope="row" .textContent=${text(`quantity_${row.quantity}`)}></th>
                ${COLUMNS.map((name) => {
                  const mark = row.differs && name === "logged" ? text("differs") : "";
                  return figure(row[name], row.quantity, mark, text);
                })}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <h3 class="gp-subtitle" .textContent=${text("why")}></h3>
    ${ladder(pool, text)} ${verdictView(answer, pool, text)}
    ${
      request.length && !rounded
        ? html`<h3 class="gp-subtitle" .textContent=${text("why_request")}></h3>
            ${ladder(request, text)}`
        : nothing
    }`;
}
