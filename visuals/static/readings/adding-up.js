// Sums whose terms add up as they are printed.

/** With so many decimals the largest has three digits. @param {number} most */
const forThree = (most) => Math.min(3, Math.max(0, 2 - Math.floor(Math.log10(most || 1))));

/**
 * Some terms of a sum, the rest of it, and the sum, rounded so that what is shown adds up.
 *
 * @param {number[]} terms those that are shown one by one
 * @param {number} whole the sum of all
 * @param {(most: number) => number} [decimalsFor] how many decimals all have, by the largest of them
 */
export function addingUp(terms, whole, decimalsFor = forThree) {
  const together = terms.reduce((sum, term) => sum + term, 0);
  const decimals = decimalsFor(Math.max(...[...terms, together, whole - together, whole].map(Math.abs)));
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
