// LLaMA's rule for the width of its feed-forward, step by step, and what it says of this run's network.

/**
 * @typedef {import("../messages.d.ts").PublishedWidth} Published
 *
 * @typedef {import("../types.d.ts").Model} Model
 *
 * @typedef {{ four: number; exact: number; thirds: number; scaled: number; width: number }} Steps `exact`: ⅔ of 4d
 *   before it is cut to a whole number
 *
 * @typedef {object} WidthSelection
 * @property {number} layer
 * @property {string} model a published one; "" is this run's
 * @property {number | null} d null: the chosen model's own, as of the next two
 * @property {number | null} multiplier
 * @property {number | null} multiple
 *
 * @typedef {{ d: number; width: number; gated: boolean; active: number }} Own `active`: neurons that a token passes
 *
 * @typedef {import("./reading.js").Reading<WidthSelection> & {
 *   rule: { d: number; multiplier: number; multiple: number };
 *   published: Published[];
 *   steps: Steps;
 *   own: Own;
 *   fits: number[];
 *   actual: { name: string; width: number; gated: boolean } | null;
 * }} WidthReading
 *   `rule`: what the sliders stand at; `fits`: powers of two with which the rule gives the run's own width; `actual`:
 *   what the chosen model has, null where a slider was moved away from it
 */

const POWERS = Array.from({ length: 9 }, (_, power) => 2 ** power);

/**
 * The rule of llama-models, models/llama3/model.py (model/replaced/width.py).
 *
 * @param {number} d
 * @param {number} multiplier
 * @param {number} multiple
 * @returns {Steps}
 */
export function llamaWidth(d, multiplier, multiple) {
  const four = 4 * d;
  const exact = (2 * four) / 3;
  const thirds = Math.trunc(exact);
  const scaled = Math.trunc(multiplier * thirds);
  return { four, exact, thirds, scaled, width: multiple * Math.ceil(scaled / multiple) };
}

/**
 * Numbers in a feed-forward's matrices.
 *
 * @param {number} d
 * @param {number} width
 * @param {boolean} gated
 */
export const ffnParameters = (d, width, gated) => (gated ? 3 : 2) * d * width;

/**
 * Of this run's layer: the width of its feed-forward, or of one expert.
 *
 * @param {Model} model
 * @param {number} layer
 * @returns {Own}
 */
function ownOf({ d_model: d, parts: { ffn } }, layer) {
  const { width, gated, experts, top_k: count, shared } = ffn[layer];
  return { d, width, gated, active: experts ? count * width + shared : width };
}

/**
 * What the sliders stand at: where nothing is chosen, what the chosen model has; of this run's the coarsest power
 * of two that gives its width, or 256.
 *
 * @param {WidthSelection} selection
 * @param {Published | undefined} row
 * @param {Own} own
 * @param {number[]} fits
 */
function numbersOf(selection, row, own, fits) {
  const first = row
    ? { d: row.d_model, multiplier: row.multiplier ?? 1, multiple: row.multiple_of ?? 256 }
    : { d: own.d, multiplier: 1, multiple: fits.at(-1) ?? 256 };
  const { d, multiplier, multiple } = selection;
  return { d: d ?? first.d, multiplier: multiplier ?? first.multiplier, multiple: multiple ?? first.multiple };
}

/**
 * @param {Published[]} published
 * @returns {import("./reading.js").Table}
 */
function tableOf(published) {
  const rule = published.map(({ d_model: d, multiplier, multiple_of: multiple }) =>
    llamaWidth(d, multiplier ?? 1, multiple ?? 256),
  );
  return {
    keys: {
      model: published.map(({ model }) => model),
      rule_stated: published.map(({ multiplier }) => (multiplier === null ? "no" : "yes")),
    },
    columns: {
      d: published.map(({ d_model: d }) => d),
      width: published.map(({ width }) => width),
      matrices: published.map(({ gated }) => (gated ? 3 : 2)),
      multiplier: published.map(({ multiplier }) => multiplier ?? 1),
      multiple_of: published.map(({ multiple_of: multiple }) => multiple ?? 256),
      rule_gives: rule.map(({ width }) => width),
    },
  };
}

/** @type {import("./reading.js").Reader<WidthReading>} */
export const ffnWidth = {
  needs: () => ({ found: ["ffn_widths", {}] }),
  read({ trace: { model }, details: { found } }, selection) {
    /** @type {Published[]} */
    const published = found.rows;
    const own = ownOf(model, selection.layer);
    const fits = own.gated ? POWERS.filter((one) => llamaWidth(own.d, 1, one).width === own.width) : [];
    const row = published.find((one) => one.model === selection.model);
    const { d, multiplier, multiple } = numbersOf(selection, row, own, fits);
    const steps = llamaWidth(d, multiplier, multiple);
    const chosen = row ? { name: row.model, d: row.d_model, ...row } : { name: model.name, ...own };
    const { name, width, gated } = chosen;
    return {
      selection: { ...selection, model: row ? row.model : "" },
      rule: { d, multiplier, multiple },
      published,
      steps,
      own,
      fits,
      actual: chosen.d === d ? { name, width, gated } : null,
      at: `layer ${selection.layer} model ${row ? row.model.replaceAll(" ", "_") : "own"}`,
      digits: 12,
      values: {
        d,
        four: steps.four,
        exact: steps.exact,
        thirds: steps.thirds,
        scaled: steps.scaled,
        width: steps.width,
        two: ffnParameters(d, steps.four, false),
        three: ffnParameters(d, steps.width, true),
        actual: width,
      },
      rows: { published: () => tableOf(published) },
    };
  },
};
