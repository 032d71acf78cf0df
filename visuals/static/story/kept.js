// What was made last, as the same object, as long as it is made of the same: a drawing (reads.js) tells by that whether
// there is something new.

/**
 * @template {unknown[]} Given
 * @template Made
 * @param {(...given: Given) => Made} make
 * @returns {(...given: Given) => Made}
 */
export function kept(make) {
  /** @type {{ given: Given; made: Made } | null} */
  let last = null;
  return (...given) => {
    if (last?.given.length === given.length && given.every((one, i) => Object.is(one, last?.given[i])))
      return last.made;
    last = { given, made: make(...given) };
    return last.made;
  };
}
