// How the selected token was made: its bytes, and every merge of byte-pair encoding, in order, with its rank, as a
// ladder: a line for the single symbols, then one for each merge, the new symbol marked. And every token of the run
// with its id, bytes and merges: hovering a line looks at that token.

import { linkRows } from "../../controls.js";
import { count as asCount, h } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createTable } from "../../marks/table.js";
import { inView } from "../../pointing.js";
import { memo } from "../../reads.js";
import { countsOf, hex, kindOf, mergesReader, mergesTable } from "../../readings/merges.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../readings/merges.js").Merges} Merges
 *
 * @typedef {import("../../readings/merges.js").MergesReading} MergesReading
 */

/**
 * The ladder: a line for the single symbols, then one for each merge.
 *
 * @param {MergesReading | null} reading null before it has come
 * @param {Say} text
 */
function ladderView(reading, text) {
  const { base, steps, states } = reading?.made ?? { base: [], steps: [], states: [] };
  /** @type {(name: string, symbols: string[], fresh: number) => unknown} `fresh`: which of them is new */
  const line = (name, symbols, fresh) => html`
    <li class="tm-step">
      <span class="tm-rank" .textContent=${name}></span>
      <span class="tm-symbols">
        ${symbols.map(
          (symbol, i) =>
            html`<span class=${i === fresh ? "tm-symbol is-new" : "tm-symbol"} dir="auto">${visible(symbol)}</span>`,
        )}
      </span>
    </li>
  `;
  const lines = steps.map(({ at, rank }, i) => line(text("step", { step: i + 1, rank }), states[i + 1], at));
  return html`
    <ol class="tm-ladder" tabindex="0" aria-label=${text("ladder")} ?hidden=${!steps.length}>
      ${steps.length ? [line(text("start", { count: base.length }), base, -1), ...lines] : []}
    </ol>
  `;
}

const WHOLE = 24; // tokens up to which all lines stand in sight, without scrolling
const COLUMNS = ["position", "token", "id", "bytes", "merges", "last_rank"];

/**
 * @param {Glass} glass
 * @param {Say} text
 */
function createList(glass, text) {
  const table = createTable(
    "merges",
    COLUMNS.map((name) => [name, name === "token" ? "th.gp-token" : "td"]),
  );
  const { body } = table;
  const heading = h("h3.gp-subtitle");
  const split = h("p.gp-note");
  const box = h("div.gp-list", { tabindex: "0", "data-text-label": "merges.all" }, table.element);
  const element = h("div", null, heading, split, box);
  /** @type {HTMLElement[]} */
  let lines = [];

  linkRows(body, glass, ({ dataset }) => ({ query: Number(dataset.position) }), "tr");

  /**
   * @param {Trace} trace
   * @param {Merges} info
   * @param {number} position
   */
  function lineOf(trace, info, position) {
    const { keys, columns } = mergesTable(info, trace.tokens);
    const id = trace.tokens.ids[position];
    const plain = ["special", "none"].includes(kindOf(info, id));
    const cut = info.split.some(({ first, last }) => first <= position && position <= last);
    const [count, last] = [columns.merges[position], columns.last_rank[position]];
    const numbers = [id, keys.utf8_bytes[position], plain ? "–" : count, Number.isNaN(last) ? "–" : last];
    const contents = [String(position), visible(trace.tokens.pieces[position]), ...numbers.map(String)];
    return table.line(contents, { "data-position": position, ...(cut ? { class: "is-cut" } : {}) });
  }

  const fill = memo((/** @type {Trace} */ trace, /** @type {Merges} */ info) => {
    lines = trace.tokens.ids.map((_, position) => lineOf(trace, info, position));
    box.classList.toggle("is-whole", lines.length <= WHOLE);
    body.replaceChildren(...lines);
    heading.textContent = text("all_title", { tokens: trace.T, ...countsOf(trace.tokens.ids, info) });
    const { length } = info.split;
    split.textContent = length
      ? text("split", { count: length, list: info.split.map(({ character }) => `“${character}”`).join(" ") })
      : text("split_none");
  });

  /** @type {HTMLElement | null} */
  let marked = null;
  /** @type {Trace | null} */
  let begun = null;
  /**
   * @param {Trace} trace
   * @param {Merges} info
   * @param {number} query
   */
  function draw(trace, info, query) {
    fill(trace, info);
    marked?.classList.remove("is-chosen");
    marked?.removeAttribute("data-part");
    const line = (marked = lines[query]);
    line.classList.add("is-chosen");
    line.dataset.part = "token";
    if (begun !== trace) {
      begun = trace;
      box.scrollTop = 0; // a run is read from its first token, whichever is chosen
      return;
    }
    if (body.matches(":hover")) return; // the list does not run away from the pointer
    const [top, bottom] = [line.offsetTop, line.offsetTop + line.offsetHeight];
    if (top - 32 < box.scrollTop) box.scrollTop = top - 32;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
  }
  return { element, draw };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function merges(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, "merges", { parts: ["what", "formula", "myth"] });
  const list = createList(glass, panel.text);

  /** What it is, and how it was made. @param {MergesReading} reading */
  const wordsOf = ({ id, made, kind, info, across }) => ({
    facts: [[panel.text("bytes"), info.bytes[id] ? hex(info.bytes[id]) : panel.text("no_bytes")]],
    verdict: panel.text(`kind_${kind}`, { count: made.steps.length, total: asCount(info.merges), kind: info.kind }),
    note: across.map((one) => panel.text("across", { ...one })).join(" "),
  });
  /** @param {MergesReading | null} reading null before it has come */
  function view(reading) {
    const words = reading && wordsOf(reading);
    return html`
      <p class="gp-note" ?hidden=${Boolean(reading)} .textContent=${panel.text("waiting")}></p>
      <div class="tm-pair" ?hidden=${!reading}>
        <div>
          <p class="tm-facts">
            ${(words?.facts ?? []).map(
              ([name, value]) => html`<span class="tm-fact">${name} <strong .textContent=${value}></strong></span>`,
            )}
          </p>
          <p class="tm-verdict" .textContent=${words?.verdict ?? ""}></p>
          ${ladderView(reading, panel.text)}
          <p class="gp-note" .textContent=${words?.note ?? ""}></p>
        </div>
        ${list.element}
      </div>
    `;
  }
  render(view(null), panel.body);

  return inView(element, function draw() {
    const { trace, query } = state;
    const reading = readHere(glass, mergesReader, { query });
    render(view(reading), panel.body);
    if (!reading) return;
    const { info, id, made } = reading;
    const named = { query, piece: visible(trace.tokens.pieces[query]) };
    panel.title.textContent = panel.text("title", named);
    list.draw(trace, info, query);
    panel.show(reading, panel.text(info.merges ? "read" : "read_none", { ...named, id, count: made.steps.length }));
  });
}
