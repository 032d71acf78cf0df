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
import { shownIn } from "../../run-for.js";
import { hex, kindOf, madeOf } from "./made.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("./made.js").Merges} Merges
 */

/** @param {Say} text */
function createLadder(text) {
  const element = h("ol.tm-ladder", { tabindex: "0", "data-text-label": "merges.ladder" });

  /**
   * @param {string} name
   * @param {string[]} symbols
   * @param {number} fresh which of them is new
   */
  function line(name, symbols, fresh) {
    const boxes = symbols.map((symbol, i) =>
      h(i === fresh ? "span.tm-symbol.is-new" : "span.tm-symbol", { dir: "auto" }, visible(symbol)),
    );
    return h("li.tm-step", null, h("span.tm-rank", null, name), h("span.tm-symbols", null, ...boxes));
  }

  /** @param {import("./made.js").Made} made */
  function draw({ base, steps, states }) {
    element.hidden = steps.length === 0;
    if (element.hidden) return;
    const lines = steps.map(({ at, rank }, i) => line(text("step", { step: i + 1, rank }), states[i + 1], at));
    element.replaceChildren(line(text("start", { count: base.length }), base, -1), ...lines);
  }
  return { element, draw };
}

const COLUMNS = ["position", "token", "id", "bytes", "merges", "last_rank"];

/**
 * Bytes of the run's text, and characters: all bytes that do not continue one in UTF-8.
 *
 * @param {number[]} ids
 * @param {Merges} info
 */
function countsOf(ids, info) {
  const all = ids.flatMap((id) => info.bytes[id] ?? []);
  return { bytes: all.length, characters: all.filter((byte) => (byte & 0xc0) !== 0x80).length };
}

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
    const id = trace.tokens.ids[position];
    const { steps } = madeOf(info, id);
    const plain = ["special", "none"].includes(kindOf(info, id));
    const cut = info.split.some(({ first, last }) => first <= position && position <= last);
    const numbers = [id, hex(info.bytes[id]), plain ? "–" : steps.length, steps.at(-1)?.rank ?? "–"];
    const contents = [String(position), visible(trace.tokens.pieces[position]), ...numbers.map(String)];
    return table.line(contents, { "data-position": position, ...(cut ? { class: "is-cut" } : {}) });
  }

  const fill = memo((/** @type {Trace} */ trace, /** @type {Merges} */ info) => {
    lines = trace.tokens.ids.map((_, position) => lineOf(trace, info, position));
    body.replaceChildren(...lines);
    heading.textContent = text("all_title", { tokens: trace.T, ...countsOf(trace.tokens.ids, info) });
    const { length } = info.split;
    split.textContent = length
      ? text("split", { count: length, list: info.split.map(({ character }) => `“${character}”`).join(" ") })
      : text("split_none");
  });

  /** @type {HTMLElement | null} */
  let marked = null;
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
    const [top, bottom] = [line.offsetTop, line.offsetTop + line.offsetHeight];
    if (body.matches(":hover")) return; // the list does not run away from the pointer
    if (top - 32 < box.scrollTop) box.scrollTop = top - 32;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
  }
  return { element, draw };
}

/**
 * @param {Trace} trace
 * @param {Merges} info
 * @returns {(string | number)[][]} a row for each token of the run
 */
function table({ tokens }, info) {
  const rows = tokens.ids.map((id, position) => {
    const made = madeOf(info, id);
    const merges = made.steps.map(({ left, right, rank }) => `${left}+${right} (${rank})`).join(" ");
    return [position, tokens.pieces[position], id, hex(info.bytes[id]), made.steps.length, merges];
  });
  return [["position", "piece", "id", "utf8_bytes", "merges", "merges_in_order_with_ranks"], ...rows];
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function merges(element, glass) {
  const state = shownIn(glass);
  /** @type {Merges | null} null until it has come */
  let info = null;
  const csv = () => (info ? table(state.trace, info) : [["position", "piece", "id"]]);
  const panel = frame(element, glass, "merges", { csv, parts: ["what", "formula", "myth"] });
  const waiting = h("p.gp-note", { "data-text": "merges.waiting" });
  const facts = h("p.tm-facts");
  const verdict = h("p.tm-verdict");
  const note = h("p.gp-note");
  const ladder = createLadder(panel.text);
  const list = createList(glass, panel.text);
  const shown = h("div.tm-pair", null, h("div", null, facts, verdict, ladder.element, note), list.element);
  panel.body.append(waiting, shown);

  /**
   * What the bytes say, and which characters they are: "E7 8C AB".
   *
   * @param {number} id
   * @param {number[] | null} bytes
   */
  function fillFacts(id, bytes) {
    const parts = [
      [panel.text("id"), String(id)],
      [panel.text("bytes"), bytes ? hex(bytes) : panel.text("no_bytes")],
    ];
    facts.replaceChildren(
      ...parts.map(([name, value]) => h("span.tm-fact", null, `${name} `, h("strong", null, value))),
    );
  }

  /**
   * @param {{ trace: Trace; query: number }} at
   * @param {Merges} found
   */
  function drawToken({ trace, query }, found) {
    const id = trace.tokens.ids[query];
    const made = madeOf(found, id);
    const kind = kindOf(found, id);
    const piece = visible(trace.tokens.pieces[query]);
    const count = made.steps.length;
    panel.title.textContent = panel.text("title", { query, piece });
    fillFacts(id, found.bytes[id]);
    verdict.textContent = panel.text(`kind_${kind}`, { count, total: asCount(found.merges), kind: found.kind });
    ladder.draw(made);
    const across = found.split.filter(({ first, last }) => first <= query && query <= last);
    note.textContent = across.map((one) => panel.text("across", { ...one })).join(" ");
    const reading = panel.text(found.merges ? "read" : "read_none", { query, piece, id, count });
    panel.tell(`token ${query} id=${id} bytes=${hex(found.bytes[id])} merges=${count}`, reading);
  }

  return inView(element, function draw() {
    const { trace, query } = state;
    const found = (info = glass.detail("merges", {}));
    waiting.hidden = Boolean(found);
    shown.hidden = !found;
    if (!found) return;
    drawToken(state, found);
    list.draw(trace, found, query);
  });
}
