// What the tour reads from the run on the way out: the stream through the lens, logits, the choice, and what is left
// when the decisive part is off.

import { topCandidates } from "../compute.js";
import { isChanged } from "../off.js";
import { sublayers } from "../parts.js";
import { choiceAt, momentOf, offeredOf } from "../chosen-step.js";
import { leftByChance, othersTakeAsMuch } from "../panels/glance/control.js";
import { readBy, word } from "../panels/glance/words.js";
import { samplingOf } from "../sampling.js";
import { added, chance, piece, plain, times, whole, words } from "./numbers.js";

const asked = { follow: false }; // what the lens's panel asks for as it opens

/**
 * The depth from which on the model's choice is the first one to the end (0: the embedding), and what is read
 * there.
 */
function readLens(answer, at) {
  const [depths, tokens, kept] = answer.ids.shape;
  const rank = (depth) => answer.rank.data[depth * tokens + at];
  let depth = depths - 1;
  while (depth > 1 && rank(depth - 1) === 0) depth -= 1;
  const pieces = new Map(answer.names.ids.map((id, i) => [id, answer.names.pieces[i]]));
  return {
    depth,
    depths,
    target: answer.targets.data[at],
    name: (id) => pieces.get(id),
    own: (one) => answer.probability.data[one * tokens + at],
    best: (one) => answer.ids.data[(one * tokens + at) * kept],
    rank,
  };
}

export function lens(glass, { at }) {
  const answer = glass.detail("lens", asked);
  if (!answer) return null;
  const { depth, depths, target, own, best, rank, name } = readLens(answer, at);
  const {
    model,
    tokens: { pieces },
  } = glass.state.trace;
  const each = sublayers(model).length;
  return {
    asks: "",
    answers: depth > 1 ? "" : "_at_once",
    numbers: {
      query: piece(pieces[at]),
      n_layers: whole(depths - 1),
      n_each: whole(each),
      n_adds: whole(each * (depths - 1)),
      choice: piece(name(target)),
      first: whole(depth - 1),
      own: chance(own(depth)),
      n_before: whole(depth - 2),
      before: chance(own(depth - 1)),
      said: piece(name(best(depth - 1))),
      rank: whole(rank(depth - 1) + 1),
      last: whole(depths - 2),
      end: chance(own(depths - 1)),
      start: chance(own(0)),
      after: chance(own(1)),
      start_said: piece(name(best(0))),
    },
  };
}

/** The two most probable tokens after the tour's place, and how they differ; null until they have come. */
function candidates(glass) {
  const next = offeredOf(glass, momentOf(glass.state));
  if (!next) return null;
  const {
    rows: [one, two],
    others,
  } = topCandidates(next, 2);
  return { one, two, others };
}

/**
 * Of the token that this run gives here, as the panel has it: in a changed run not the one that the tour set out
 * with.
 */
export function logits(glass, { at }) {
  const moment = choiceAt(glass.state.trace, at);
  const next = offeredOf(glass, moment);
  if (!next) return null;
  const [target, answer] = moment.token ? [moment.token.id, moment.token.piece] : [next.ids[0], next.pieces[0]];
  const made = glass.detail("logit_terms", { token: at, target, against: null });
  if (!made) return null;
  const { trace } = glass.state;
  const { n_layers: layers, n_heads: heads, ffn_hidden: width, vocab_size: vocab } = trace.model;
  const kinds = { head: made.heads, ...(made.cross && { cross: made.cross }) };
  const sum = (sign) =>
    Object.values(kinds).reduce(
      (all, { data }) => all + data.reduce((total, value) => total + (sign * value > 0 ? value : 0), 0),
      0,
    );
  const named = /** @type {["head" | "cross", { data: Float32Array; shape: number[] }][]} */ (Object.entries(kinds));
  const largest = named.map(
    ([
      kind,
      {
        data,
        shape: [, , tokens],
      },
    ]) => {
      const best = data.reduce((most, value, i) => (Math.abs(value) > Math.abs(data[most]) ? i : most), 0);
      return {
        kind,
        value: data[best],
        layer: Math.floor(best / (heads * tokens)),
        head: Math.floor(best / tokens) % heads,
        key: best % tokens,
      };
    },
  );
  const { kind, value: most, layer, head, key } = largest.sort((a, b) => Math.abs(b.value) - Math.abs(a.value))[0];
  const where = { layer, head, key: word(readBy(trace, kind)[key]) };
  return {
    numbers: {
      query: piece(trace.tokens.pieces[at]),
      answer: piece(answer),
      vocab: whole(vocab),
      logit: plain(made.logit, 5),
      terms: whole(1 + layers * heads * (at + 1 + (made.cross?.shape[2] ?? 0)) + layers * width),
      layer: whole(layer),
      head: whole(head),
      key: piece(readBy(trace, kind)[key]),
      writer: words(glass.text(`tour.logits_${kind}`, where)),
      most: added(most),
      for: added(sum(1)),
      against: added(sum(-1)),
      heads: added(sum(1) + sum(-1)),
    },
  };
}

export function choice(glass, { at }) {
  const found = candidates(glass);
  if (!found) return null;
  const { one, two, others } = found;
  const gap = one.logit - two.logit;
  const { temperature } = samplingOf(glass.settings);
  return {
    asks: "",
    answers: temperature === 0 ? "" : "_drawn",
    numbers: {
      query: piece(glass.state.trace.tokens.pieces[at]),
      one: piece(one.piece),
      p_one: chance(one.probability),
      logit_one: plain(one.logit, 5),
      two: piece(two.piece),
      p_two: chance(two.probability),
      logit_two: plain(two.logit, 5),
      gap: plain(gap),
      ratio: times(Math.exp(gap)),
      others: whole(others.count),
      p_others: chance(others.probability),
      hundred: plain(100 * two.probability, 2),
      temperature: plain(temperature, 2),
    },
  };
}

/** The probability of a token at the tour's place in the shown run; null until it has come. */
function probabilityOf(glass, at, target) {
  const next = offeredOf(glass, momentOf(glass.state));
  if (!next) return null;
  const rank = next.ids.indexOf(target);
  if (rank >= 0) return Math.exp(next.logits.data[rank] - next.logZ);
  const all = glass.detail("logits", { token: at });
  return all && Math.exp(all.logits.data[target] - next.logZ);
}

/** Which kind of heads reads the answer, and at which key: those that do together, else the one that is missed most. */
const readingOf = ({ look, first }, head) =>
  look.heads.length ? look : { kind: first?.kind, key: first?.key ?? head.key };

export function off(glass, found) {
  const { trace } = glass.state;
  const {
    at,
    heads,
    off: silent,
    target,
    without,
    found: { look, grid },
  } = found;
  const changed = isChanged(trace);
  const [now, two] = [probabilityOf(glass, at, target), candidates(glass)];
  if (now === null || !two) return null;
  const middle = look.heads.length ? leftByChance(look) : null;
  const put = changed ? {} : silent;
  const read = readingOf(found.found, found.head);
  const of = read.kind === "cross" ? "_cross" : "";
  return {
    say: !heads.length ? "_none" : changed ? `_changed${of}` : grid ? "_group" : of,
    asks: !heads.length ? "_none" : changed ? "_changed" : "",
    answers: !heads.length
      ? "_none"
      : middle === null
        ? "_alone"
        : `${othersTakeAsMuch(found.found) ? "_alike" : ""}${grid ? "_group" : of}`,
    act: heads.length
      ? { text: changed ? "off_back" : "off_act", changes: put, run: () => glass.change(put) }
      : undefined,
    numbers: {
      answer: piece(found.piece),
      n_heads: whole(heads.length),
      heads: { value: heads.join(" "), text: heads.map((one) => one.join(".")).join(", ") },
      key: piece(readBy(trace, read.kind)[read.key]),
      p: chance(found.probability),
      now: chance(now),
      without: chance(without ?? now),
      top: { value: two.one.piece, text: word(two.one.piece) },
      p_top: chance(two.one.probability),
      chance: chance(middle ?? now),
      draws: whole(look.by_chance.length),
    },
  };
}
