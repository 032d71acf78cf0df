// What the tour reads from the run where a decoder looks at a source: the head that matters, its scores, softmax, what
// comes of it.

import { readBy } from "../panels/glance/words.js";
import { crossReader } from "../readings/cross.js";
import { readHere } from "../run-for.js";
import { added, chance, list, piece, plain, times, whole } from "./numbers.js";

const NONE = { layer: 0, head: 0, key: 0, without: null }; // every such head is off: the first stands for them

/**
 * Where the tour looks at the source.
 *
 * @param {import("./places.js").Places} found
 */
export const acrossOf = ({ cross }) => cross ?? NONE;

/** What is selected there: the token of the source is the panel's own, which opens at the one that gets most. */
export const atAcross = (found) => {
  const { layer, head } = acrossOf(found);
  return { layer, head, query: found.at };
};

/** The row of the head's look, and what all stops name; null until its layer has come. */
function lookOf(glass, found) {
  const { layer, head, key } = acrossOf(found);
  const { trace } = glass.state;
  if (!trace.layers.get(layer)?.cross) return null;
  const { row, values } = readHere(glass, crossReader, { layer, head, query: found.at, source: key });
  const { weights, scores } = row;
  const { pieces } = trace.encoder.tokens;
  const names = {
    layer: whole(layer),
    head: whole(head),
    query: piece(trace.tokens.pieces[found.at]),
    key: piece(pieces[key]),
    key_at: whole(key),
    n_read: whole(pieces.length),
    answer: piece(found.piece),
    score: plain(values.score, 5),
    weight: chance(values.weight),
    dot: plain(values.qk, 5),
  };
  return { key, pieces, scores, weights, names };
}

export function acrossHead(glass, found) {
  const row = lookOf(glass, found);
  if (!row) return null;
  const { trace } = glass.state;
  const { n_layers: layers, n_heads: heads } = trace.model;
  const { look } = found.found;
  const { without } = acrossOf(found);
  const off = without === null ? "_none" : "";
  return {
    say: off,
    asks: off,
    answers: off || (look.heads.length ? "" : "_nobody"),
    numbers: {
      ...row.names,
      n_layers: whole(layers),
      n_heads: whole(heads),
      all: whole(2 * layers * heads),
      p: chance(found.probability),
      without: chance(without ?? found.probability),
      n_look: whole(look.heads.length),
      looking: list(look.heads.map((one) => glass.text("tour.head_name", one))),
      look_key: piece(readBy(trace, look.kind)[look.key]),
      together: chance(look.without),
    },
  };
}

export function acrossMatch(glass, found) {
  const row = lookOf(glass, found);
  return row && { numbers: { ...row.names, n_layers: whole(glass.state.trace.model.n_layers) } };
}

export function acrossSoftmax(glass, found) {
  const row = lookOf(glass, found);
  if (!row) return null;
  const { key, pieces, scores, weights, names } = row;
  const rest = Array.from(scores, (_, t) => t).filter((t) => t !== key);
  if (!rest.length) return { say: "_one", numbers: names };
  const second = rest.reduce((best, t) => (scores[t] > scores[best] ? t : best));
  const gap = Math.abs(scores[key] - scores[second]);
  return {
    numbers: {
      ...names,
      other: piece(pieces[second]),
      other_at: whole(second),
      other_score: plain(scores[second], 5),
      other_weight: chance(weights[second]),
      gap: plain(gap, 4),
      ratio: times(Math.exp(gap)),
    },
  };
}

export function acrossCarry(glass, found) {
  const row = lookOf(glass, found);
  const made = glass.detail("logit_terms", { token: found.at, target: found.target, against: null });
  if (!row || !made) return null;
  const { layer, head, key } = acrossOf(found);
  const [, heads, read] = made.cross.shape;
  const sum = ({ data }) => data.reduce((total, value) => total + value, 0);
  return {
    numbers: {
      ...row.names,
      logit: plain(made.logit, 5),
      term: added(made.cross.data[(layer * heads + head) * read + key]),
      across: added(sum(made.cross)),
      own: added(sum(made.heads)),
    },
  };
}
