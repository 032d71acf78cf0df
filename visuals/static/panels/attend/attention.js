// Attention (GQA): all heads of a layer under the K/V head that they share, and the selected row to the digit.

import { kvHead, row } from "../../compute.js";
import { exact, h, shown } from "../../dom.js";
import { cellNames } from "../../draw.js";
import { frame } from "../../frame.js";
import { scoreForms } from "../../parts.js";
import { across, inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { createMaps } from "./attention-maps.js";
import { createRow } from "./attention-row.js";

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @returns {(string | number)[][]} the selected query row of every head
 */
function table(glass) {
  const { trace, layer, query } = glass.state;
  const held = glass.layer();
  /** @type {(string | number)[][]} */
  const lines = [["layer", "head", "kv_head", "query", "key", "piece", "score", "weight"]];
  for (let head = 0; held && head < trace.model.n_heads; head++) {
    const { scores, weights } = row(held, trace.model, head, query);
    weights.forEach((weight, key) =>
      lines.push([layer, head, kvHead(trace.model, head), query, key, trace.tokens.pieces[key], scores[key], weight]),
    );
  }
  return lines;
}

export const about = {
  tensors: ["q", "k", "q_rot", "k_rot", "position_bias", "scores", "attention"],
  difference: "glance",
  unused: "head",
  forms: scoreForms,
};

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function attention(element, glass) {
  const maps = createMaps(glass, "attention.maps");
  const panel = frame(element, glass, "attention", {
    csv: () => table(glass),
    parts: ["what", "formula", "sinks", "myth"],
  });
  const hint = h("p.gp-note", { "data-text": "attention.hint" });
  const pooled = h("p.gp-note");
  const below = h("div.gp-row");
  panel.body.append(hint, h("div.gp-scroll", null, maps.element), pooled, below);
  const bars = createRow(below, glass, panel.text);
  bindPointer(bars.canvas, glass, bars.find);
  bindArrowKeys(bars.canvas, glass, across("key"));
  /** @typedef {{ label: string; scored: string; meaning: string; here: string }} Job */
  /** @type {{ jobOfHead: (glass: import("../../types.d.ts").Glass) => Job }} */
  const nobody = { jobOfHead: () => ({ label: "", scored: "", meaning: "", here: "" }) };
  const known = reactive(nobody, glass.repaint);
  // The names of heads are no part of what a page needs to open; they come when the browser has time.
  (globalThis.requestIdleCallback ?? setTimeout)(async () => {
    known.jobOfHead = (await import("./known.js")).jobOfHead;
  });

  /** The panel's heading, with the job that the selected head is known to do. */
  function entitle({ model }, { layer, head }, { label, meaning, here }) {
    const {
      n_heads,
      n_kv_heads,
      parts: { latent },
    } = model;
    const kind = latent ? "title_mla" : n_kv_heads === n_heads ? "title_mha" : n_kv_heads === 1 ? "title_mqa" : "title";
    panel.title.textContent = panel.text(kind, { layer, heads: n_heads, kv: n_kv_heads });
    if (label) panel.title.append(h("span.gp-job", { title: meaning }, panel.text("job", { head, label })));
    if (here) panel.title.append(h("span.gp-here", null, here));
  }

  function tell(drawn, job) {
    const { trace, layer, head, query, key } = glass.state;
    const { scores, weights } = drawn;
    entitle(trace, { layer, head }, job);
    bars.tell(drawn);
    const block = maps.block();
    pooled.textContent = block > 1 ? panel.text("pooled", { block }) : "";
    const reading = panel.text("read", {
      ...cellNames(glass.state),
      weight: shown(weights[key], 5),
      score: shown(scores[key], 5),
    });
    panel.tell(
      `head ${head} query ${query} key ${key} weight=${exact(weights[key])} score=${exact(scores[key])}`,
      job.scored ? `${reading} · ${job.scored}` : reading,
    );
  }

  return inWidth(element, widthOf(maps.element.parentElement, glass), function draw(width) {
    if (!glass.layer()) return null;
    const job = known.jobOfHead(glass);
    maps.draw([{ trace: glass.state.trace, held: glass.layer() }], width);
    const drawn = bars.draw(width);
    return () => tell(drawn, job);
  });
}
