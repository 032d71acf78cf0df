// What the three panels show, asked for once (visuals/families.py), where its cells lead, and its counts in words.

import { writeLink } from "../../link.js";
import { shortCount } from "../../counts.js";
import { leadTo } from "../glance/words.js";
import { scaled, whole } from "../kv/format.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/families.js").Answer} Answer
 *
 * @typedef {import("../../readings/families.js").Column} Column
 *
 * @typedef {{ data?: Answer; message?: import("../../types.d.ts").Refusal }} Told
 */

/** @type {Promise<Told> | null} */
let asked = null;
/**
 * @param {Glass} glass
 * @returns {Promise<Told>} asked anew after a failure
 */
export function familiesOf(glass) {
  asked ??= glass.calculate("families").then((answer) => {
    if (!answer.data) asked = null;
    return answer;
  });
  return asked;
}

export const VIEWS = ["eight", "llamas", "kin"];
/**
 * The view that is chosen.
 *
 * @param {Glass} glass
 */
export function viewOf(glass) {
  const { view } = glass.settings.get("families");
  return VIEWS.includes(view) ? view : VIEWS[0];
}
/**
 * @param {Glass} glass
 * @param {string} view
 */
export const chooseView = (glass, view) =>
  glass.settings.set("families", { ...glass.settings.get("families"), view: view === VIEWS[0] ? "" : view });

/**
 * The model that is chosen, by its id: of it the parameters are summed, and a narrow table shows it.
 *
 * @param {Glass} glass
 */
export const modelOf = (glass) => glass.settings.get("families").model;
/**
 * @param {Glass} glass
 * @param {string} model
 */
export const chooseModel = (glass, model) =>
  glass.settings.set("families", { ...glass.settings.get("families"), model });

/**
 * The models on offer that a column's parts can be seen in.
 *
 * @param {Answer} answer
 * @param {Column} column
 * @returns {string[]}
 */
export const liveOf = ({ live }, { family }) => live[family] ?? [];

/**
 * Where a cell leads: that of its first marked line, else of its first line, else the row's.
 *
 * @param {Answer} answer
 * @param {Column} column
 * @param {string} row
 * @returns {[string, string]} chapter and panel
 */
export function placeOf(answer, column, row) {
  const { rowPlaces, codePlaces, elsewhere } = answer;
  const places = liveOf(answer, column).length ? codePlaces : { ...codePlaces, ...elsewhere };
  const lines = column.cells[row]?.lines ?? [];
  const own = [...lines.filter(({ differs }) => differs), ...lines].find(({ code }) => places[code]);
  return own ? places[own.code] : rowPlaces[row];
}

/**
 * Opens a panel; first runs the prompt in one of these models, where the shown run is of none of them.
 *
 * @param {Glass} glass
 * @param {string[]} models
 * @param {[string, string]} place chapter and panel
 */
export async function show(glass, models, [chapter, kind]) {
  const { trace, language, settings } = glass.state;
  if (trace && models.length && !models.includes(trace.model.name)) {
    await glass.visit(writeLink({ chapter, prompt: trace.prompt, language, model: models[0], settings }));
  }
  return leadTo(glass, chapter, kind);
}

/**
 * A count of parameters to three digits.
 *
 * @param {number} count
 * @param {string} language
 */
export const sized = (count, language) => shortCount(count, language, 3);

/** @param {number} share */
const percent = (share) => `${Math.round(100 * share)}%`;

/**
 * Parameters as lines: all, those that read a token, and by part the largest.
 *
 * @param {Column} column
 * @param {Say} text of the panel
 * @param {string} language
 * @returns {string[]}
 */
export function parameterLines({ parameters }, text, language) {
  const { total, active, groups, published } = parameters;
  if (total === null) return published ? [text("published", { count: sized(published.total, language) })] : [];
  const shares = groups
    .filter(({ weights }) => weights / total >= 0.005)
    .sort((a, b) => b.weights - a.weights)
    .map(({ group, weights }) => `${text(`group_${group}`)} ${percent(weights / total)}`);
  return [
    sized(total, language),
    ...(active ? [text("active", { count: sized(active, language) })] : []),
    shares.join(" · "),
  ];
}

/**
 * The cache of a token as lines: its bytes, the products that they are the sum of, and what an encoder's source
 * takes.
 *
 * @param {Column} column
 * @param {Say} text
 */
export function cacheLines({ cache }, text) {
  const products = cache.terms.map(({ factors }) => `${factors.map(({ value }) => whole(value)).join(" × ")} B`);
  return [
    `${scaled(cache.bytes, "binary")} (${whole(cache.bytes)} B)`,
    products.join(" + "),
    ...(cache.source ? [text("source_token")] : []),
  ];
}
