// Every token of the run: position, piece, id, bytes, how many merges; hovering a line looks at that token.

import { linkRows } from "../../controls.js";
import { h } from "../../dom.js";
import { visible } from "../../draw.js";
import { createTable } from "../../marks/table.js";
import { hex, kindOf, madeOf } from "./made.js";

const COLUMNS = ["position", "token", "id", "bytes", "merges", "last_rank"];

/** Bytes of the run's text, and characters: all bytes that do not continue one in UTF-8. */
function countsOf(ids, info) {
  const all = ids.flatMap((id) => info.bytes[id] ?? []);
  return { bytes: all.length, characters: all.filter((byte) => (byte & 0xc0) !== 0x80).length };
}

/** @param {object} glass @param {Function} text */
export function createList(glass, text) {
  const table = createTable("merges", COLUMNS.map((name) => [name, name === "token" ? "th.gp-token" : "td"]));
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

  function fill(trace, info) {
    lines = trace.tokens.ids.map((_, position) => lineOf(trace, info, position));
    body.replaceChildren(...lines);
    heading.textContent = text("all_title", { tokens: trace.T, ...countsOf(trace.tokens.ids, info) });
    const { length } = info.split;
    split.textContent = length
      ? text("split", { count: length, list: info.split.map(({ character }) => `“${character}”`).join(" ") })
      : text("split_none");
  }

  let held = null;
  let marked = null;
  function draw(trace, info, query, fresh) {
    if (held !== info || fresh) fill(trace, info);
    held = info;
    marked?.classList.remove("is-chosen");
    marked = lines[query];
    marked.classList.add("is-chosen");
    const [top, bottom] = [marked.offsetTop, marked.offsetTop + marked.offsetHeight];
    if (body.matches(":hover")) return; // the list does not run away from the pointer
    if (top - 32 < box.scrollTop) box.scrollTop = top - 32;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
  }
  return { element, draw };
}
