// Sums whose terms add up as they are printed.

/**
 * Some terms of a sum, the rest of it, and the sum, rounded so that what is shown adds up, and so that the sum that
 * is shown, times `scale`, is what is shown of the true product in three digits.
 *
 * @param {number[]} terms those that are shown one by one
 * @param {number} whole the sum of all
 * @param {{ scale?: number; decimalsFor?: (most: number) => number }} [shown] `decimalsFor` says how many decimals
 *   all have, by the largest of them; more where the scaled sum needs them
 */
export function addingUp(
  terms,
  whole,
  { scale = 0, decimalsFor = (most) => (most >= 100 ? 1 : most >= 1 ? 2 : 3) } = {},
) {
  let decimals = decimalsFor(Math.max(...terms.map(Math.abs), Math.abs(whole)));
  const scaled = (/** @type {number} */ x) => (x * scale).toPrecision(3);
  while (decimals < 7 && scaled(Number(whole.toFixed(decimals))) !== scaled(whole)) decimals++;
  const unit = 10 ** decimals;
  const [units, all] = [terms.map((term) => Math.round(term * unit)), Math.round(whole * unit)];
  const drawn = units.reduce((sum, one) => sum + one, 0);
  const said = (/** @type {number} */ count) => ((count || 0) / unit).toFixed(decimals).replace("-", "−");
  return { terms: units.map(said), drawn: said(drawn), rest: said(all - drawn), whole: said(all) };
}

/**
 * How many decimals terms have, so that they add up as they are printed: as few as will do, else the fewest.
 *
 * @param {number[]} terms
 * @param {number} sum
 * @param {[fewest: number, most: number]} [range]
 */
export function decimalsToAddUp(terms, sum, [fewest, most] = [3, 5]) {
  const rounded = (/** @type {number} */ x, /** @type {number} */ decimals) => Math.round(x * 10 ** decimals);
  for (let decimals = fewest; decimals <= most; decimals++) {
    const added = terms.reduce((all, term) => all + rounded(term, decimals), 0);
    if (added === rounded(sum, decimals)) return decimals;
  }
  return fewest;
}
