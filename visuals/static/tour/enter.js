// What the tour reads from the run on the way in: tokens, the embedding, RMSNorm, q, k and v, RoPE.

import { strongest } from "../arrays.js";
import { kvHead, vectorOf } from "../compute.js";
import { centres, scoreForms } from "../parts.js";
import { cellOf } from "../readings/cell.js";
import { limitOf } from "../panels/position/place.js";
import { placeOf, turnsPart } from "../readings/rope-place.js";
import { scoreOf } from "../panels/position/score.js";
import { normedAt } from "../readings/norm-input.js";
import { normVector } from "../readings/norm.js";
import { readHere } from "../run-for.js";
import { list, piece, plain, whole, words } from "./numbers.js";

const MOVE = 100; // tokens by which a reader is to push both

export function tokens({ state: { trace } }, { at, head, cross, found: { look, grid } }) {
  const { ids, pieces } = trace.tokens;
  const { encoder } = trace;
  const read = encoder ? encoder.tokens.pieces : pieces;
  const { key } = encoder ? (cross ?? { key: 0 }) : grid ? look : head;
  const measured = grid && trace.T > 1 ? (key === at ? "_group_none" : "_group") : undefined;
  return {
    say: encoder ? "_source" : trace.T === 1 ? "_one" : "",
    answers: encoder && !cross ? "_source_none" : measured,
    numbers: {
      n_read: whole(read.length),
      n_tokens: whole(trace.T),
      vocab: whole(trace.model.vocab_size),
      piece: piece(pieces[at]),
      id: whole(ids[at]),
      position: whole(at),
      key: piece(read[key]),
      key_at: whole(key),
    },
  };
}

/** A token's vector through the first norm of a layer, by its largest channel; null until it has come. */
const throughNorm = (glass, layer, query) => readHere(glass, normVector, { norm: "attn", layer, query, channel: null });

export function embedding(glass, { at }) {
  const reading = throughNorm(glass, 0, at);
  if (!reading) return null;
  const { ids, pieces } = glass.state.trace.tokens;
  const alike = ids.flatMap((id, i) => (id === ids[at] && i !== at ? [String(i)] : []));
  return {
    say: glass.state.trace.model.parts.embed_norm ? "_normed" : "",
    asks: "",
    answers: alike.length ? "_more" : "_alone",
    numbers: {
      d: whole(reading.input.x.length),
      piece: piece(pieces[at]),
      id: whole(ids[at]),
      channel: whole(reading.selection.channel),
      value: plain(reading.values.x, 5),
      n_alike: whole(alike.length),
      alike: list(alike),
    },
  };
}

export function norm(glass, { at, head: { layer } }) {
  const reading = throughNorm(glass, layer, at);
  if (!reading) return null;
  const { input, values } = reading;
  const { channel } = reading.selection;
  const tenfold = {
    ...input,
    x: { [channel]: 10 * values.x },
    mean: 10 * input.mean,
    divisor: Math.sqrt(100 * input.meanSquare + input.eps),
  };
  const form = centres(glass.state.trace.model) ? "_layer" : "";
  return {
    say: form,
    asks: "",
    answers: form,
    numbers: {
      layer: whole(layer),
      piece: piece(glass.state.trace.tokens.pieces[at]),
      rms: plain(input.divisor, 5),
      mean: plain(input.mean, 5),
      channel: whole(channel),
      value: plain(values.x, 5),
      over: plain(values.divided, 5),
      gamma: plain(values.gamma, 5),
      beta: plain(values.beta ?? 0, 5),
      product: plain(values.normed, 5),
      ten: plain(tenfold.x[channel], 5),
      rms_ten: plain(tenfold.divisor, 5),
      product_ten: plain(normedAt(tenfold, channel).normed, 5),
    },
  };
}

/** What a head makes of a query and a key: its query's largest number, and what a key is rebuilt from. */
export function project(glass, found) {
  const { trace } = glass.state;
  const {
    at,
    head: { layer, head, key },
  } = found;
  const held = trace.layers.get(layer);
  if (!held) return null;
  const {
    n_heads: heads,
    n_kv_heads: shared,
    head_dim: width,
    d_model: d,
    parts: { latent },
  } = trace.model;
  const kv = kvHead(trace.model, head);
  const size = heads / shared;
  const together = Array.from({ length: size }, (_, i) => String(kv * size + i));
  const q = vectorOf(held.q, head, at);
  const [channel] = strongest(q, 1);
  const { rank, rope: turned, nope, value } = latent ?? { rank: 0, rope: 0, nope: width, value: width };
  const names = {
    layer: whole(layer),
    head: whole(head),
    query: piece(trace.tokens.pieces[at]),
    key: piece(trace.tokens.pieces[key]),
    d: whole(d),
    width: whole(width),
    n_heads: whole(heads),
    n_kv: whole(shared),
    kv: whole(kv),
    together: list(together),
    channel: whole(channel),
    value: plain(q[channel]),
    rank: whole(rank),
    rope: whole(turned),
    nope: whole(nope),
    kept: whole(rank + turned),
    n_kept: whole(2 * shared * width),
    whole: whole(heads * (width + value)),
  };
  if (latent) return { say: "_latent", numbers: names };
  const own = size === 1 ? "_alone" : "";
  return { asks: own, answers: own || (shared === 1 ? "_one" : ""), numbers: names };
}

/** Turning, or a bias by distance in its place. */
export function rope(glass, { at, head: { layer, head, key } }) {
  const { trace } = glass.state;
  const {
    model,
    tokens: { pieces },
  } = trace;
  const held = trace.layers.get(layer);
  if (!held) return null;
  const cell = cellOf({ trace, head, query: at, key }, held);
  const names = {
    layer: whole(layer),
    head: whole(head),
    query: piece(pieces[at]),
    key: piece(pieces[key]),
    m: whole(at),
    n: whole(key),
    n_between: whole(at - key),
    by: plain(cell.bias, 5),
    without: plain(cell.score - cell.bias, 5),
    score: plain(cell.score, 5),
    shift: whole(MOVE),
  };
  if (model.parts.bias) return { say: "_bias", numbers: names };
  const [form = ""] = scoreForms(model).map((one) => `_${one}`);
  const scored = glass.text(`tour.rope_scored${form}`, {
    dot: plain(cell.dot, 5).text,
    width: model.head_dim,
    scale: plain(model.parts.scale).text,
    score: names.score.text,
  });
  const place = placeOf(held, { trace, head, query: at, key });
  const shift = Math.min(MOVE, limitOf(trace) - 1);
  const { sumHere, sumMoved } = scoreOf(place, shift, at - key);
  const plainly = Array.from(place.q, (value, i) => value * place.k[i]).reduce((a, b) => a + b, 0);
  return {
    asks: "",
    ...(turnsPart(model) ? { say: "_part", answers: "_part" } : { say: at === key ? "_itself" : "" }),
    numbers: {
      ...names,
      scored: words(scored),
      before: plain(plainly, 5),
      sum: plain(sumHere, 5),
      shift: whole(shift),
      moved: plain(sumMoved, 5),
      m_moved: whole(at + shift),
      n_moved: whole(key + shift),
      fast: plain((2 * Math.PI) / place.frequencies.inv_freq[0], 3),
      slow: plain((2 * Math.PI) / place.frequencies.inv_freq.at(-1), 3),
      width: whole(model.head_dim),
      n_turned: whole(place.q.length),
      rest: plain(place.rest, 5),
    },
  };
}
