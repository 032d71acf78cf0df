// How the selected token was made: its bytes, and every merge of byte-pair encoding, in order, with its rank, as a
// ladder: a line for the single symbols, then one for each merge, the new symbol marked. And every token of the run
// with its id, bytes and merges: hovering a line looks at that token.

import { linkRows } from "../../controls.js";
import { h } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createTable } from "../../marks/table.js";
import { inView } from "../../pointing.js";
import { memo } from "../../reads.js";
import { hex, kindOf, madeOf } from "./made.js";

/** @param {Function} text */
function createLadder(text) {
  const element = h("ol.tm-ladder", { tabindex: "0", "data-text-label": "merges.ladder" });

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

/** Bytes of the run's text, and characters: all bytes that do not continue one in UTF-8. */
function countsOf(ids, info) {
  const all = ids.flatMap((id) => info.bytes[id] ?? []);
  return { bytes: all.length, characters: all.filter((byte) => (byte & 0xc0) !== 0x80).length };
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {Function} text
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
  let lines = [];

  linkRows(body, glass, ({ dataset }) => ({ query: Number(dataset.position) }), "tr");

  function lineOf(trace, info, position) {
    const id = trace.tokens.ids[position];
    const { steps } = madeOf(info, id);
    const plain = ["special", "none"].includes(kindOf(info, id));
    const cut = info.split.some(({ first, last }) => first <= position && position <= last);
    const numbers = [id, hex(info.bytes[id]), plain ? "–" : steps.length, steps.at(-1)?.rank ?? "–"];
    const contents = [String(position), visible(trace.tokens.pieces[position]), ...numbers.map(String)];
    return table.line(contents, { "data-position": position, ...(cut ? { class: "is-cut" } : {}) });
  }

  const fill = memo((trace, info) => {
    lines = trace.tokens.ids.map((_, position) => lineOf(trace, info, position));
    body.replaceChildren(...lines);
    heading.textContent = text("all_title", { tokens: trace.T, ...countsOf(trace.tokens.ids, info) });
    const { length } = info.split;
    split.textContent = length
      ? text("split", { count: length, list: info.split.map(({ character }) => `“${character}”`).join(" ") })
      : text("split_none");
  });

  let marked = null;
  function draw(trace, info, query) {
    fill(trace, info);
    marked?.classList.remove("is-chosen");
    marked?.removeAttribute("data-part");
    marked = lines[query];
    marked.classList.add("is-chosen");
    marked.dataset.part = "token";
    const [top, bottom] = [marked.offsetTop, marked.offsetTop + marked.offsetHeight];
    if (body.matches(":hover")) return; // the list does not run away from the pointer
    if (top - 32 < box.scrollTop) box.scrollTop = top - 32;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
  }
  return { element, draw };
}

/**
 * @param {object} trace
 * @param {object} info
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
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function merges(element, glass) {
  const { state } = glass;
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

  /** What the bytes say, and which characters they are: "E7 8C AB". */
  function fillFacts(id) {
    const bytes = info.bytes[id];
    const parts = [
      [panel.text("id"), String(id)],
      [panel.text("bytes"), bytes ? hex(bytes) : panel.text("no_bytes")],
    ];
    facts.replaceChildren(
      ...parts.map(([name, value]) => h("span.tm-fact", null, `${name} `, h("strong", null, value))),
    );
  }

  function drawToken({ trace, query }) {
    const id = trace.tokens.ids[query];
    const made = madeOf(info, id);
    const kind = kindOf(info, id);
    const piece = visible(trace.tokens.pieces[query]);
    const count = made.steps.length;
    panel.title.textContent = panel.text("title", { query, piece });
    fillFacts(id);
    verdict.textContent = panel.text(`kind_${kind}`, { count, total: info.merges, kind: info.kind });
    ladder.draw(made);
    const across = info.split.filter(({ first, last }) => first <= query && query <= last);
    note.textContent = across.map((one) => panel.text("across", one)).join(" ");
    const reading = panel.text(info.merges ? "read" : "read_none", { query, piece, id, count });
    panel.tell(`token ${query} id=${id} bytes=${hex(info.bytes[id])} merges=${count}`, reading);
  }

  return inView(element, function draw() {
    const { trace, query } = state;
    info = glass.detail("merges", {});
    waiting.hidden = Boolean(info);
    shown.hidden = !info;
    if (!info) return;
    drawToken(state);
    list.draw(trace, info, query);
  });
}
