// What the tour reads of how the head tells its token from another: the score as a sum of terms.

import { isRefuted, matchingOf, namesOf } from "../panels/glance/matching.js";
import { named } from "../panels/glance/words.js";
import { sourceKey } from "../panels/attend/source-names.js";
import { writersOf } from "../readings/score-terms.js";
import { added, plain, whole, words } from "./numbers.js";

/** Of a score's terms the writer that adds most on one side, with all that it meets on the other. */
const strongest = (terms, side) => writersOf(terms, side).reduce((best, one) => (one.value > best.value ? one : best));

export function match(glass, { at, head: { layer, head, key } }) {
  const { pieces } = glass.state.trace.tokens;
  const place = { layer, head, query: at, key };
  const terms = glass.detail("score_terms", place);
  const { come, found } = matchingOf(glass, place);
  if (!terms || !come) return null;
  const nameOf = ({ source }) => words(glass.text(`score-terms.${sourceKey(source, layer)}`, source));
  const [ofKey, ofQuery] = [strongest(terms, "k"), strongest(terms, "q")];
  const names = found
    ? Object.entries(namesOf(found, place, glass.text, pieces)).filter(([name]) => name !== "same")
    : [];
  return {
    say: found ? "" : "_none",
    asks: found?.other ? "" : "_none",
    answers: found?.other ? (isRefuted(found) ? "_not" : "") : "_none",
    numbers: {
      layer: whole(layer),
      head: whole(head),
      n_terms: whole(terms.sources.length ** 2),
      key: words(named(glass.text, pieces, key)),
      query: words(named(glass.text, pieces, at)),
      score: plain(terms.score, 4),
      of_key: nameOf(ofKey),
      key_value: added(ofKey.value, 3),
      of_query: nameOf(ofQuery),
      query_value: added(ofQuery.value, 3),
      ...Object.fromEntries(
        names.filter(([name]) => name !== "score" && name !== "n_terms").map(([name, text]) => [name, words(text)]),
      ),
    },
  };
}
