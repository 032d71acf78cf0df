// What the shown run would hold as MHA, GQA, MQA and MLA, at the moment that the live panel shows.

import { frame } from "../../frame.js";
import { noCache } from "../../parts.js";
import { inView } from "../../pointing.js";
import { whole } from "./format.js";
import { kindsView } from "./kinds.js";
import { momentOf } from "./live-state.js";

export const about = { absent: noCache };

/** A row of one token as one of `tokens` tokens: every term grows with them alone, but for what is kept of a source. */
export function grown(row, tokens) {
  const terms = row.terms.map((term) => {
    const written = !term.label.startsWith("cross.");
    const factor = (one) => (written && one.code === "tokens" ? { ...one, value: tokens } : one);
    return { ...term, factors: term.factors.filter(({ code }) => code !== "sequences").map(factor), bytes: String(BigInt(term.bytes) * BigInt(written ? tokens : 1)) };
  });
  return { ...row, terms, bytes: String(terms.reduce((sum, { bytes }) => sum + BigInt(bytes), 0n)) };
}

/** @param {HTMLElement} element @param {object} glass */
export default function kvKinds(element, glass) {
  const { state } = glass;
  let rows = [];
  let tokens = 0;
  const table = () => [["kind", "tokens", "bytes"], ...rows.map(({ kind, bytes }) => [kind, tokens, bytes])];
  const panel = frame(element, glass, "kv-kinds", { csv: table, parts: ["what", "formula", "myth"], pointed: false });
  const view = kindsView(glass);
  view.element.firstChild.hidden = true; // the panel's own title says it
  panel.body.append(view.element);

  return inView(element, function draw() {
    const { trace, query } = state;
    const live = trace.generating ? null : glass.detail("kv_live");
    tokens = momentOf(trace, query).held;
    panel.title.textContent = panel.text("title", { tokens: whole(tokens) });
    if (!live) return;
    rows = live.kinds.map((row) => grown(row, tokens));
    view.show(rows);
    panel.tell(`tokens=${tokens} ${rows.map(({ kind, bytes }) => `${kind}=${bytes}`).join(" ")} own=${rows.find(({ own }) => own)?.kind}`);
  });
}
