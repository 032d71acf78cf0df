// What tables get wrong about these families: the claim, what is so, where that was read, and the cell that shows it.

import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { hold } from "../../scroll-anchor.js";
import { leadTo } from "../glance/words.js";
import { whole } from "../kv/format.js";
import { chooseView, familiesOf, VIEWS } from "./answer.js";

/** Each claim's name in the texts, and the cell of the table that shows what is so: column, row. */
export const MYTHS = [
  ["falcon_norm", "falcon", "norm"],
  ["t5_norm", "t5", "norm"],
  ["glm_deepnorm", "glm", "place"],
  ["mixtral_size", "mixtral", "parameters"],
  ["deepseek_mha", "deepseek3", "attention"],
  ["llama2_gqa", "llama2", "attention"],
  ["silu", "llama3", "ffn"],
  ["pre_norm", "falcon", "place"],
  ["glm_causal", "glm", "mask"],
  ["glm_post", "glm", "place"],
  ["gpt_norm", "gpt3", "norm"],
  ["llama1_tokens", "llama1", "data"],
  ["llama3_context", "llama3", "context"],
  ["dense_experts", "mixtral", "sizes"],
];

export const about = { namesChanges: false };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function familyMyths(element, glass) {
  const panel = frame(element, glass, "family-myths", { csv: () => table(), pointed: false });
  const view = reactive({ answer: null }, glass.repaint);
  familiesOf(glass).then(({ data }) => {
    view.answer = data ?? null;
  });
  const cards = h("div.fa-cards");
  panel.body.append(h("p.gp-note.fa-notice", { "data-text": "family-myths.notice" }), cards);

  const parametersOf = (id) => view.answer.columns.find((column) => column.id === id).parameters;
  /** The numbers that the texts name: Mixtral's. */
  function numbers() {
    const { total, active, groups } = parametersOf("mixtral");
    const { weights } = groups.find(({ group }) => group === "experts");
    return { total: whole(total), active: whole(active), experts: whole(weights), rest: whole(total - weights) };
  }
  const said = (name, part) => panel.text(`${name}_${part}`, numbers());

  function table() {
    if (!view.answer) return [["claim", "right", "source", "parameters"]];
    const rows = MYTHS.map(([name, column]) => [
      said(name, "claim"),
      said(name, "right"),
      said(name, "source"),
      parametersOf(column).total,
    ]);
    return [["claim", "right", "source", "parameters"], ...rows];
  }

  async function look(column, row) {
    chooseView(
      glass,
      VIEWS.find((name) => view.answer.views[name].includes(column)),
    );
    await leadTo(glass, "families", "families");
    const found = document.querySelector(`.fa-cell[data-cell="${column} ${row}"]`);
    const cell = /** @type {HTMLElement | null} */ (found);
    if (cell) hold(() => cell.scrollIntoView({ block: "center", inline: "center" }));
    cell?.focus({ preventScroll: true });
  }

  const card = ([name, column, row]) =>
    h(
      "div.fa-card",
      { "data-myth": name },
      h("h3.gp-subtitle", null, said(name, "claim")),
      h("p", null, said(name, "right")),
      h("p.gp-note", null, panel.text("source", { source: said(name, "source") })),
      h(
        "button.gp-option",
        { "aria-label": `${panel.text("look")}: ${said(name, "claim")}`, click: () => look(column, row) },
        panel.text("look"),
      ),
    );

  let built = "";
  return inView(element, function draw() {
    panel.title.textContent = panel.text("title");
    const wanted = `${glass.state.language} ${Boolean(view.answer)}`;
    if (!view.answer || built === wanted) return;
    built = wanted;
    cards.replaceChildren(...MYTHS.map(card));
    panel.tell(
      `myths=${MYTHS.length} mixtral=${parametersOf("mixtral").total} active=${parametersOf("mixtral").active}`,
    );
  });
}
