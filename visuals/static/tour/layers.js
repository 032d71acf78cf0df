// What the tour reads from the run inside a layer: the head that matters, softmax, what it carries, the neuron that
// matters.

import { ACTIVATIONS, inner, strongestNeuron } from "../activations.js";
import { row } from "../compute.js";
import { scoreForms } from "../parts.js";
import { kindOf } from "../panels/ffn/kinds.js";
import { neuronName } from "../neuron-names.js";
import { cellReader } from "../readings/cell.js";
import { readHere } from "../run-for.js";
import { missedWords } from "./missed.js";
import { added, chance, list, piece, plain, times, whole, words } from "./numbers.js";

/** What most stops inside a layer name. */
const placeNames = ({ tokens: { pieces } }, { at, head: { layer, head, key } }) => ({
  layer: whole(layer),
  head: whole(head),
  query: piece(pieces[at]),
  key: piece(pieces[key]),
});
/**
 * The head's cell; null until its layer has come.
 *
 * @param {import("../types.d.ts").Glass} glass
 * @param {{ at: number; head: { layer: number; head: number; key: number } }} found
 * @param {boolean} [asks] for what it carries and what the head writes, which are null until they have come
 */
function cellAt(glass, { at, head: { layer, head, key } }, asks = false) {
  const locked = asks ? { layer, head, query: at } : null;
  return readHere(glass, cellReader, { layer, head, query: at, key, locked });
}

export function head(glass, found) {
  const cell = cellAt(glass, found)?.cell;
  if (!cell) return null;
  const { trace } = glass.state;
  const { n_layers: layers, n_heads: heads } = trace.model;
  const { look, grid } = found.found;
  const { without, key } = found.head;
  const all = without === null;
  const group = grid ? "_group" : "";
  return {
    say: all ? "_none" : group || (key === found.at ? "_itself" : ""),
    asks: all ? "_none" : group,
    answers: all ? "_none" : look.heads.length ? group : "_nobody",
    numbers: {
      ...placeNames(trace, found),
      sink: words(key === 0 ? glass.text("tour.head_sink") : ""),
      n_layers: whole(layers),
      n_heads: whole(heads),
      all: whole(layers * heads),
      answer: piece(found.piece),
      weight: chance(cell.weight),
      p: chance(found.probability),
      without: chance(without ?? found.probability),
      n_look: whole(look.heads.length),
      looking: list(look.heads.map((one) => glass.text("tour.head_name", one))),
      look_key: piece(trace.tokens.pieces[look.key]),
      together: chance(look.without),
      ...missedWords(glass, trace, found, cell.weights),
    },
  };
}

export function softmax(glass, found) {
  const cell = cellAt(glass, found)?.cell;
  if (!cell) return null;
  const { trace } = glass.state;
  const { weights, weight, score, bias, dot, total, top, width, key } = cell;
  const [form = ""] = scoreForms(trace.model).map((one) => `_${one}`);
  const { scores } = row(trace.layers.get(found.head.layer), trace.model, found.head.head, found.at);
  const names = {
    ...placeNames(trace, found),
    n_keys: whole(weights.length),
    dot: plain(dot, 5),
    width: whole(width),
    scale: plain(trace.model.parts.scale),
    by: added(bias, 5),
    score: plain(score, 5),
    weight: chance(weight),
    total: plain(total, 5),
    top: plain(top, 5),
  };
  const rest = Array.from(scores, (_, t) => t).filter((t) => t !== key);
  if (!rest.length) return { say: `_one${form}`, asks: "_one", numbers: names };
  const second = rest.reduce((best, t) => (scores[t] > scores[best] ? t : best));
  const gap = score - scores[second];
  return {
    say: form,
    asks: gap >= 0 ? "" : "_less",
    numbers: {
      ...names,
      other: piece(trace.tokens.pieces[second]),
      other_at: whole(second),
      other_score: plain(scores[second], 5),
      other_weight: chance(weights[second]),
      gap: plain(Math.abs(gap), 4),
      ratio: times(Math.exp(Math.abs(gap))),
    },
  };
}
export function carry(glass, found) {
  const {
    at,
    target,
    head: { layer, head: index, key },
  } = found;
  const { trace } = glass.state;
  const cell = cellAt(glass, found, true);
  const made = glass.detail("logit_terms", { token: at, target, against: null });
  if (!cell?.carried || !cell.written || !made) return null;
  const [, heads, tokens] = made.heads.shape;
  const { weight, carried_norm: carried, written, stream } = cell.values;
  const term = made.heads.data[(layer * heads + index) * tokens + key];
  return {
    answers: term > 0 ? "" : "_against",
    asks: "",
    numbers: {
      ...placeNames(trace, found),
      weight: chance(weight),
      size: plain(cell.carried.size, 5),
      carried: plain(carried, 5),
      written: plain(written, 5),
      stream: plain(stream, 5),
      share: plain((100 * written) / stream, 3),
      answer: piece(found.piece),
      term: added(term),
      logit: plain(made.logit, 5),
    },
  };
}

/** What a neuron wrote; asked for by itself where it is not among the strongest. */
function writtenBy(glass, layer, token, neuron) {
  const found = glass.detail("ffn_written", { layer, token, neuron: null });
  const listed = found?.rows.find((one) => one.neuron === neuron);
  return listed ?? (found && glass.detail("ffn_written", { layer, token, neuron })?.rows[0]) ?? null;
}

/**
 * The neuron that adds most to the logit of the tour's token, read off at once; null before that is known, and
 * where none adds.
 */
export function strongestWriter(glass, { at, target }) {
  const terms = glass.detail("logit_terms", { token: at, target, against: null });
  return terms?.neurons.find(({ value }) => value > 0) ?? null;
}

/** The neuron's first sum with the other sign, and what would come of it. */
function turnedRound(own, made, reads) {
  const turned = -made[reads][0];
  const open = ACTIVATIONS[own.activation](turned);
  return { turned, open, product: own.gated ? open * made.up[0] * (made.weight?.[0] ?? 1) : open };
}

/** Which token a neuron raises most, and what its layer and all of them add to the logit, as words. */
function effectOf(glass, { target }, wrote, layer, sums) {
  const [raised] = wrote.norm ? wrote.raised : [];
  const all = sums.reduce((sum, value) => sum + value, 0);
  return words(
    glass.text(`tour.ffn_effect${raised?.id === target ? "" : "_other"}`, {
      raised: piece(raised?.piece ?? "").text,
      by: added(raised?.by ?? 0, 3).text,
      layer_adds: added(sums[layer], 3).text,
      all_add: added(all, 3).text,
    }),
  );
}

export function ffn(glass, found) {
  const { trace } = glass.state;
  const { at } = found;
  const terms = glass.detail("logit_terms", { token: at, target: found.target, against: null });
  if (!terms) return null;
  const best = strongestWriter(glass, found);
  const layer = best?.layer ?? found.head.layer;
  const held = trace.layers.get(layer);
  const neurons = held?.neurons.get(at);
  if (!neurons) return null;
  const index = best?.neuron ?? strongestNeuron(held, at);
  const wrote = writtenBy(glass, layer, at, index);
  if (!wrote) return null;
  const { ffn: own } = held;
  const kind = kindOf(own);
  const { reads, act } = kind;
  const form = ["experts", "plain"].includes(kind.form) ? `_${kind.form}` : "";
  const only = (all) => all && { data: [all.data[index]] };
  const made = inner({ gate: only(neurons.gate), up: only(neurons.up), weight: only(neurons.weight), ffn: own });
  const other = turnedRound(own, made, reads);
  return {
    say: (best ? "" : "_none") + form,
    asks: form,
    answers: form,
    numbers: {
      layer: whole(layer),
      neuron: own.experts ? { value: index, text: neuronName(own, index, glass.text) } : whole(index),
      f: whole(own.neurons),
      query: piece(trace.tokens.pieces[at]),
      answer: piece(found.piece),
      gate: plain(made.gate?.[0] ?? 0),
      open: plain(made.activated[0]),
      up: plain(made.up[0]),
      weight: plain(made.weight?.[0] ?? 1, 5),
      product: plain(made.product[0], 5),
      size: plain(wrote.norm, 5),
      act: words(act),
      adds: added(best?.value ?? 0, 3),
      effect: effectOf(glass, found, wrote, layer, terms.ffn.data),
      turned: plain(other.turned),
      turned_open: plain(other.open),
      turned_product: plain(other.product, 5),
    },
  };
}
