// The copied sum that gives 128 GB where 8 GiB is right: both products, factor by factor.

import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { equals, exactBytes, product, scaled } from "./format.js";
import { bytesOf } from "./live-state.js";

const ASKED = { model: "Llama-2 7B", tokens: 1024, batch: 16, dtype: "fp16", n_kv_heads: 8 };

/** The copied sum: heads times the width of all heads, and one tensor where there are two. */
export const copiedFactors = ({ n_layers: layers, n_heads: heads, d_model }, { tokens, batch: sequences }) => [
  ...Object.entries({ sequences, tokens, layers, heads, d_model }).map(([code, value]) => ({ value, code })),
  { value: 2, code: "bytes", params: { format: "fp16" } },
];

export const about = { namesChanges: false };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function kvMyth(element, glass) {
  const panel = frame(element, glass, "kv-myth", { parts: ["what", "formula"], csv: () => table(), pointed: false });
  const view = reactive({ answer: null }, glass.repaint);
  const table = () => [
    ["sum", "bytes"],
    ["copied", view.answer ? bytesOf(copiedFactors(view.answer.card, view.answer)) : ""],
    ["right", view.answer?.bytes ?? ""],
  ];
  glass.calculate("kv", ASKED).then(({ data }) => {
    view.answer = data;
  });
  const body = h("div");
  panel.body.append(body);

  function show() {
    const { answer } = view;
    const { card, bytes, terms, kinds, tokens, batch, dtype } = answer;
    const { n_heads, d_model, head_dim } = card;
    const copied = copiedFactors(card, answer);
    const wrong = bytesOf(copied);
    const factor = (code, params) => glass.text(`kv.factor_${code}`, params);
    const grouped = kinds.find(({ kind }) => kind === "GQA");
    const params = {
      model: card.name,
      batch,
      tokens: tokens.toLocaleString("en-US"),
      dtype,
      d_model,
      heads: n_heads,
      head_dim,
      copied: exactBytes(wrong),
      binary: scaled(wrong, "binary"),
      decimal: scaled(wrong, "decimal"),
    };
    const side = (name, role, size, ...content) =>
      h(
        `div.kv-verdict-card.is-${role}`,
        null,
        h("h3.gp-subtitle", null, panel.text(name)),
        h("p.kv-total", null, h("strong", null, size)),
        ...content,
        h("p", null, panel.text(`${name}_text`, params)),
      );
    body.replaceChildren(
      h("p", null, panel.text("question", params)),
      h(
        "div.gp-columns",
        null,
        side("wrong", "wrong", scaled(wrong, "binary"), product(copied, factor, equals(wrong))),
        side(
          "right",
          "right",
          scaled(bytes, "binary"),
          ...terms.map((term) => product(term.factors, factor, equals(term.bytes))),
        ),
      ),
      h(
        "p",
        null,
        panel.text("ratio", {
          ...params,
          wrong: scaled(wrong, "binary"),
          right: scaled(bytes, "binary"),
          ratio: wrong / Number(bytes),
        }),
      ),
      h(
        "p",
        null,
        panel.text("gqa", {
          bytes: exactBytes(grouped.bytes),
          gib: scaled(grouped.bytes, "binary"),
          group: n_heads / grouped.n_kv_heads,
        }),
      ),
      h("p.gp-note", null, h("strong", null, panel.text("check"), ": "), panel.text("check_text")),
    );
    panel.tell(`wrong=${wrong} right=${bytes}`);
  }

  return inView(element, function draw() {
    panel.title.textContent = panel.text("title");
    if (view.answer) show();
  });
}
