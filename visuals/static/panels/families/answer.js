// What the three panels show, asked for once (visuals/families.py), where its cells lead, and its counts in words.

import { writeLink } from "../../link.js";
import { byteUnit, shortCount } from "../../counts.js";
import { decimalsToAddUp } from "../../readings/adding-up.js";
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
 * The model that stands left of all, by its id, where one is chosen.
 *
 * @param {Glass} glass
 */
export const leftOf = (glass) => glass.settings.get("families").left;
/**
 * @param {Glass} glass
 * @param {string} left
 */
export const chooseLeft = (glass, left) => glass.settings.set("families", { ...glass.settings.get("families"), left });

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

const LEAST = 0.5; // per cent from which on a part is named

/**
 * The parts of a whole in per cent, the largest first and the small ones as one, with as many decimals as they need
 * to add up as they are printed; where that would take more than one, it is said that each is rounded. Small ones
 * that are printed as 0 are left out.
 *
 * @param {[name: string, count: number][]} parts
 * @param {number} total
 * @param {{ others: string; rounded: string }} words the name of the small ones, and that each is rounded
 */
export function percentagesOf(parts, total, { others, rounded }) {
  const shares = parts.map(([name, part]) => /** @type {[string, number]} */ ([name, (100 * part) / total]));
  const named = shares.filter(([, share]) => share >= LEAST).sort(([, one], [, other]) => other - one);
  const rest = named.reduce((left, [, share]) => left - share, 100);
  const values = [...named.map(([, share]) => share), rest];
  const decimals = decimalsToAddUp(values, 100, [0, 1]);
  const printed = values.map((share) => share.toFixed(decimals));
  const sum = printed.reduce((all, one) => all + Number(one), 0);
  const told = [...named.map(([name]) => name), others].map((name, i) => `${name} ${printed[i]}%`);
  return [
    ...told.filter((_, i) => Number(printed[i])),
    ...(sum.toFixed(decimals) === (100).toFixed(decimals) ? [] : [rounded]),
  ];
}

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
  const parts = groups.map(({ group, weights }) => /** @type {[string, number]} */ ([text(`group_${group}`), weights]));
  return [
    sized(total, language),
    ...(active ? [text("active", { count: sized(active, language) })] : []),
    percentagesOf(parts, total, { others: text("group_others"), rounded: text("rounded") }).join(" · "),
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
  const products = cache.terms.map(
    ({ factors }) => `${factors.map(({ value }) => whole(value)).join(" × ")} ${byteUnit()}`,
  );
  return [
    `${scaled(cache.bytes, "binary")} (${whole(cache.bytes)} ${byteUnit()})`,
    products.join(" + "),
    ...(cache.source ? [text("source_token")] : []),
  ];
}
