// What the tour reads from the run on the way in: tokens, the embedding, RMSNorm, q, k and v, RoPE.

import { strongest } from "../arrays.js";
import { kvHead, vectorOf } from "../compute.js";
import { centres, scoreForms } from "../parts.js";
import { cellOf } from "../panels/attend/cell-values.js";
import { limitOf, placeOf, turnsPart } from "../panels/position/place.js";
import { scoreOf } from "../panels/position/score.js";
import { normedAt, readVector, request } from "../panels/norm/vector.js";
import { list, piece, plain, whole, words } from "./numbers.js";

const MOVE = 100; // tokens by which a reader is to push both

export function tokens({ state: { trace } }, { at, head, cross }) {
  const { ids, pieces } = trace.tokens;
  const { encoder } = trace;
  const read = encoder ? encoder.tokens.pieces : pieces;
  const { key } = encoder ? (cross ?? { key: 0 }) : head;
  return {
    say: encoder ? "_source" : trace.T === 1 ? "_one" : "",
    answers: encoder && !cross ? "_source_none" : undefined,
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

/** A token's vector before the first norm of a layer; null until it has come. */
function before(glass, layer, at) {
  const { trace } = glass.state;
  const held = glass.detail("norm_vectors", request(trace, "attn", layer, at));
  return held && readVector(held, trace, "attn", layer, at);
}

export function embedding(glass, { at }) {
  const vector = before(glass, 0, at);
  if (!vector) return null;
  const { ids, pieces } = glass.state.trace.tokens;
  const [channel] = strongest(vector.x, 1);
  const alike = ids.flatMap((id, i) => (id === ids[at] && i !== at ? [String(i)] : []));
  return {
    say: glass.state.trace.model.parts.embed_norm ? "_normed" : "",
    asks: "",
    answers: alike.length ? "_more" : "_alone",
    numbers: {
      d: whole(vector.x.length),
      piece: piece(pieces[at]),
      id: whole(ids[at]),
      channel: whole(channel),
      value: plain(vector.x[channel], 5),
      n_alike: whole(alike.length),
      alike: list(alike),
    },
  };
}

export function norm(glass, { at, head: { layer } }) {
  const vector = before(glass, layer, at);
  if (!vector) return null;
  const { x, gamma, beta, mean, rms, eps, meanSquare } = vector;
  const [channel] = strongest(x, 1);
  const { after, product } = normedAt(vector, channel);
  const rmsTen = Math.sqrt(100 * meanSquare + eps);
  const ten = normedAt({ x: { [channel]: 10 * x[channel] }, gamma, beta, mean: 10 * mean, rms: rmsTen }, channel);
  const form = centres(glass.state.trace.model) ? "_layer" : "";
  return {
    say: form,
    asks: "",
    answers: form,
    numbers: {
      layer: whole(layer),
      piece: piece(glass.state.trace.tokens.pieces[at]),
      rms: plain(rms, 5),
      mean: plain(mean, 5),
      channel: whole(channel),
      value: plain(x[channel], 5),
      over: plain(after, 5),
      gamma: plain(gamma[channel], 5),
      beta: plain(beta?.[channel] ?? 0, 5),
      product: plain(product, 5),
      ten: plain(10 * x[channel], 5),
      rms_ten: plain(rmsTen, 5),
      product_ten: plain(ten.product, 5),
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
