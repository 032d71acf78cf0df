// What tables get wrong about these families: the claim, what is so, where that was read, and the cell that shows it.

import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { hold } from "../../scroll-anchor.js";
import { leadTo } from "../glance/words.js";
import { whole } from "../kv/format.js";
import { chooseModel, chooseView, familiesOf, VIEWS } from "./answer.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("./answer.js").Answer} Answer
 *
 * @typedef {import("./answer.js").Column} Column
 */

/**
 * Each claim's name in the texts, and the cell of the table that shows what is so: column, row.
 *
 * @type {[name: string, column: string, row: string][]}
 */
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

/** @type {import("../../frame.js").About} */
export const about = { namesChanges: false };

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function familyMyths(element, glass) {
  const panel = frame(element, glass, "family-myths", { csv: () => table(), pointed: false });
  /** @type {{ answer: Answer | null }} */
  const first = { answer: null };
  const view = reactive(first, glass.repaint);
  familiesOf(glass).then(({ data }) => {
    view.answer = data ?? null;
  });
  const cards = h("div.fa-cards");
  panel.body.append(h("p.gp-note.fa-notice", { "data-text": "family-myths.notice" }), cards);

  /**
   * All of a model's weights, those that read a token, and those of experts.
   *
   * @param {Answer} answer
   * @param {string} id
   */
  function weightsOf({ columns }, id) {
    const { total, active, groups } = /** @type {Column} */ (columns.find((column) => column.id === id)).parameters;
    const experts = groups.find(({ group }) => group === "experts")?.weights ?? 0;
    return { total: total ?? 0, active: active ?? 0, experts };
  }
  /**
   * A part of a claim, with the numbers that the texts name: Mixtral's.
   *
   * @param {Answer} answer
   * @param {string} name
   * @param {"claim" | "right" | "source"} part
   */
  function said(answer, name, part) {
    const { total, active, experts } = weightsOf(answer, "mixtral");
    const numbers = { total, active, experts, rest: total - experts };
    const written = Object.entries(numbers).map(([number, count]) => [number, whole(count)]);
    return panel.text(`${name}_${part}`, Object.fromEntries(written));
  }

  function table() {
    const { answer } = view;
    if (!answer) return [["claim", "right", "source", "parameters"]];
    const rows = MYTHS.map(([name, column]) => [
      said(answer, name, "claim"),
      said(answer, name, "right"),
      said(answer, name, "source"),
      answer.columns.find(({ id }) => id === column)?.parameters.total ?? "",
    ]);
    return [["claim", "right", "source", "parameters"], ...rows];
  }

  /**
   * Shows a claim's cell in the table.
   *
   * @param {Answer} answer
   * @param {string} column
   * @param {string} row
   */
  async function look({ views }, column, row) {
    chooseView(glass, VIEWS.find((name) => views[name].includes(column)) ?? VIEWS[0]);
    chooseModel(glass, column);
    await leadTo(glass, "families", "families");
    const found = document.querySelector(`.fa-cell[data-cell="${column} ${row}"]`);
    const cell = /** @type {HTMLElement | null} */ (found);
    if (cell) hold(() => cell.scrollIntoView({ block: "center", inline: "center" }));
    cell?.focus({ preventScroll: true });
  }

  /** @type {(answer: Answer, myth: (typeof MYTHS)[number]) => HTMLElement} */
  const card = (answer, [name, column, row]) =>
    h(
      "div.fa-card",
      { "data-myth": name },
      h("h3.gp-subtitle", null, said(answer, name, "claim")),
      h("p", null, said(answer, name, "right")),
      h("p.gp-note", null, panel.text("source", { source: said(answer, name, "source") })),
      h(
        "button.gp-option",
        {
          "aria-label": `${panel.text("look")}: ${said(answer, name, "claim")}`,
          click: () => look(answer, column, row),
        },
        panel.text("look"),
      ),
    );

  let built = "";
  return inView(element, function draw() {
    panel.title.textContent = panel.text("title");
    const { answer } = view;
    const wanted = `${glass.state.language} ${Boolean(answer)}`;
    if (!answer || built === wanted) return;
    built = wanted;
    cards.replaceChildren(...MYTHS.map((myth) => card(answer, myth)));
    const { total, active } = weightsOf(answer, "mixtral");
    panel.tell(`myths=${MYTHS.length} mixtral=${total} active=${active}`);
  });
}
