// Where the parameters of the families are: a bar for each, by part, and of one the products that its bar is the sum
// of.

import { h, percent, sample } from "../../dom.js";
import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { weightName, whole } from "../kv/format.js";
import { troubleText } from "../kv/trouble.js";
import { chooseModel, columnsOf, familiesOf, modelOf, sized, viewOf } from "./answer.js";
import { oneLine } from "../../one-line.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("./answer.js").Answer} Answer
 *
 * @typedef {import("./answer.js").Column} Column
 *
 * @typedef {Column["parameters"]["groups"][number]["parts"][number]} Part
 *
 * @typedef {Column & { parameters: { total: number } }} Counted of which every weight is known
 */

/**
 * The hue of each part.
 *
 * @type {Record<string, string>}
 */
const HUES = {
  embedding: "residual",
  attention: "q",
  ffn: "gate",
  experts: "up",
  shared_experts: "output",
  rest: "norm",
};

/** @type {import("../../frame.js").About} */
export const about = { namesChanges: false };

/**
 * A part's product as text: layers × experts × what each holds.
 *
 * @param {Pick<Part, "layers" | "copies" | "how" | "each">} part
 */
export function productOf({ layers, copies, how, each }) {
  const one = how || whole(each);
  const counts = [layers, copies].filter((count) => count > 1).map(whole);
  const isSum = one.replace(/\([^)]*\)/g, "").includes(" + ");
  return [...counts, counts.length && isSum ? `(${one})` : one].join(" × ");
}

/** @type {(glass: Glass, name: string) => string} */
const groupName = (glass, name) => glass.text(`families.group_${name}`);
/** @type {(part: number, total: number) => string} */
const percentOf = (part, total) => percent(part / total, 3);
/**
 * Each part of each model with its product.
 *
 * @param {Column[]} columns
 * @returns {(string | number)[][]}
 */
function tableOf(columns) {
  const rows = columns.flatMap(({ name, parameters }) =>
    parameters.groups.flatMap(({ group, parts }) =>
      parts.map((part) => [name, group, part.label, productOf(part), part.weights]),
    ),
  );
  return [["model", "group", "part", "product", "weights"], ...rows];
}

/**
 * The products of one model, by group, and what they sum to.
 *
 * @param {Glass} glass
 * @param {Say} text the panel's own
 * @param {Counted} column
 */
function termsOf(glass, text, { name, parameters: { groups, total, active, published } }) {
  const line = (/** @type {Part} */ part) =>
    h(
      "li",
      null,
      h("span.fa-part", null, weightName(glass.text, part.label)),
      h("span.fa-product", null, `${productOf(part)} = `, h("strong", null, whole(part.weights))),
    );
  const lists = groups.map(({ group: own, weights, parts }) =>
    h(
      "div.fa-group",
      null,
      h(
        "h4",
        null,
        `${groupName(glass, own)}${glass.text("marks.colon")}${whole(weights)}`,
        h("span.gp-note", null, ` ${percentOf(weights, total)}`),
      ),
      h("ul", null, ...parts.map(line)),
    ),
  );
  const said = [text("sum", { total: whole(total) })];
  if (published) said.push(text(published.exact ? "published_exact" : "published", { count: whole(published.total) }));
  if (active)
    said.push(
      text("active_text", { active: whole(active), share: percentOf(active, total) }),
      ...(published?.active && !published.exact ? [text("active_published", { count: whole(published.active) })] : []),
    );
  return [h("h3.gp-subtitle", null, text("of", { name })), ...lists, h("p", null, oneLine(said))];
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function familyParameters(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, "family-parameters", {
    csv: () => tableOf(view.answer ? counted(view.answer) : []),
    pointed: false,
  });
  /** @type {{ answer: Answer | null; trouble: import("../../types.d.ts").Refusal | null }} */
  const first = { answer: null, trouble: null };
  const view = reactive(first, glass.repaint);
  familiesOf(glass).then(({ data, message }) =>
    Object.assign(view, { answer: data ?? null, trouble: message ?? null }),
  );
  const legend = h(
    "p.gp-samples.fa-legend",
    null,
    ...Object.entries(HUES).map(([name, hue]) => sample("span.fa-swatch", `families.group_${name}`, hue)),
  );
  const bars = h("div.fa-bars");
  const sum = h("div.fa-sum");
  panel.body.append(h("p.gp-note.fa-notice", { "data-text": "family-parameters.notice" }), legend, bars, sum);

  /** @param {Answer} answer */
  const counted = (answer) =>
    columnsOf(answer, viewOf(glass)).filter(
      /** @type {(column: Column) => column is Counted} */ (({ parameters }) => parameters.total !== null),
    );
  /** @param {Counted[]} columns */
  const chosenOf = (columns) => columns.find(({ id }) => id === modelOf(glass)) ?? columns[0];

  /**
   * @param {Counted} column
   * @param {Counted} chosen
   */
  function bar(column, chosen) {
    const { groups, total, active } = column.parameters;
    const pieces = groups.map(({ group: name, weights }) =>
      h("span.fa-piece", {
        style: `flex-grow: ${weights / total}; background: var(--glass-${HUES[name]})`,
        title: `${groupName(glass, name)}${glass.text("marks.colon")}${whole(weights)} (${percentOf(weights, total)})`,
      }),
    );
    const size =
      panel.text("size", { total: sized(total, state.language) }) +
      (active ? ` · ${panel.text("active", { active: sized(active, state.language) })}` : "");
    const pressed = String(column.id === chosen.id);
    return h(
      "button.fa-model",
      { "data-model": column.id, "aria-pressed": pressed, click: () => chooseModel(glass, column.id) },
      h("span.fa-name", null, h("strong", null, column.name), h("span.fa-size", null, size)),
      h("span.fa-bar", { "aria-hidden": "true" }, ...pieces),
    );
  }

  return inView(element, function draw() {
    panel.title.textContent = panel.text("title");
    if (view.trouble) bars.replaceChildren(h("p.gp-note", null, troubleText(glass, view.trouble)));
    if (!view.answer) return;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.model;
    const columns = counted(view.answer);
    const chosen = chosenOf(columns);
    bars.replaceChildren(...columns.map((column) => bar(column, chosen)));
    sum.replaceChildren(...termsOf(glass, panel.text, chosen));
    const again = focused ? bars.querySelector(`[data-model="${focused}"]`) : null;
    /** @type {HTMLElement | null} */ (again)?.focus({ preventScroll: true });
    const { id, parameters } = chosen;
    const parts = parameters.groups.map(({ group: name, weights }) => `${name}=${weights}`);
    panel.tell(`${id} total=${parameters.total} ${parts.join(" ")}`);
  });
}
