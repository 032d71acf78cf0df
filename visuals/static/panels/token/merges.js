// How the selected token was made: its bytes, and every merge of byte-pair encoding, in order, with its rank, as a ladder:
// a line for the single symbols, then one for each merge, the new symbol marked.

import { h } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { createList } from "./list.js";
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

/** @param {object} trace @param {object} info @returns {(string|number)[][]} a row for each token of the run */
function table({ tokens }, info) {
  const rows = tokens.ids.map((id, position) => {
    const made = madeOf(info, id);
    const merges = made.steps.map(({ left, right, rank }) => `${left}+${right} (${rank})`).join(" ");
    return [position, tokens.pieces[position], id, hex(info.bytes[id]), made.steps.length, merges];
  });
  return [["position", "piece", "id", "utf8_bytes", "merges", "merges_in_order_with_ranks"], ...rows];
}

/** @param {HTMLElement} element @param {object} glass */
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
    const parts = [[panel.text("id"), String(id)], [panel.text("bytes"), bytes ? hex(bytes) : panel.text("no_bytes")]];
    facts.replaceChildren(...parts.map(([name, value]) => h("span.tm-fact", null, `${name} `, h("strong", null, value))));
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
    note.textContent = across
      .map(({ character, first, last }) => panel.text("across", { character, first, last }))
      .join(" ");
    const read = info.merges
      ? panel.text("read", { query, piece, id, count })
      : panel.text("read_none", { query, piece, id });
    panel.tell(`token ${query} id=${id} bytes=${hex(info.bytes[id])} merges=${count}`, read);
  }

  return inView(element, function draw(fresh) {
    const { trace, query } = state;
    info = glass.detail("merges", {});
    waiting.hidden = Boolean(info);
    shown.hidden = !info;
    if (!info) return;
    drawToken(state);
    list.draw(trace, info, query, fresh);
  });
}
