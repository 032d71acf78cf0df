// What the tour reads from the run on the way in: tokens, the embedding, RMSNorm, q and k, RoPE.

import { kvHead, strongest, vectorOf } from "../compute.js";
import { partsOf } from "../panels/position/dials.js";
import { placeOf } from "../panels/position/place.js";
import { MOVE } from "../panels/position/rope-score.js";
import { limitOf } from "../panels/position/score-controls.js";
import { scoreOf } from "../panels/position/score.js";
import { readVector, request } from "../panels/norm/vector.js";
import { list, piece, plain, whole } from "./numbers.js";

export function tokens({ state: { trace } }, { at, head }) {
  const { ids, pieces } = trace.tokens;
  return {
    say: trace.T === 1 ? "_one" : "",
    numbers: {
      n_tokens: whole(trace.T), vocab: whole(trace.model.vocab_size), piece: piece(pieces[at]), id: whole(ids[at]), position: whole(at),
      key: piece(pieces[head.key]), key_at: whole(head.key),
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
    asks: "", answers: alike.length ? "_more" : "_alone",
    numbers: {
      d: whole(vector.x.length), piece: piece(pieces[at]), id: whole(ids[at]), channel: whole(channel), value: plain(vector.x[channel], 5),
      n_alike: whole(alike.length), alike: list(alike),
    },
  };
}

export function norm(glass, { at, head: { layer } }) {
  const vector = before(glass, layer, at);
  if (!vector) return null;
  const { x, gamma, rms, eps, meanSquare } = vector;
  const [channel] = strongest(x, 1);
  return {
    numbers: {
      layer: whole(layer), piece: piece(glass.state.trace.tokens.pieces[at]), rms: plain(rms, 5), channel: whole(channel), value: plain(x[channel], 5),
      over: plain(x[channel] / rms, 5), gamma: plain(gamma[channel], 5), product: plain((x[channel] / rms) * gamma[channel], 5),
      ten: plain(10 * x[channel], 5), rms_ten: plain(Math.sqrt(100 * meanSquare + eps), 5),
      product_ten: plain(((10 * x[channel]) / Math.sqrt(100 * meanSquare + eps)) * gamma[channel], 5),
    },
  };
}

/** The pair of the head that adds most to q·k, or takes most away. @returns {number} 0 until the layer has come */
export function strongestPair({ state: { trace } }, { at, head }) {
  const held = trace.layers.get(head.layer);
  return held && trace.model.parts.rotary ? strongest(partsOf(held, { trace, head: head.head, query: at, key: head.key }).terms, 1)[0] : 0;
}

export function project(glass, found) {
  const { trace, locked } = glass.state;
  const { at, head: { layer, head, key } } = found;
  const held = trace.layers.get(layer);
  if (!held) return null;
  const { n_heads: heads, n_kv_heads: shared, head_dim: width, d_model: d } = trace.model;
  const kv = kvHead(trace.model, head);
  const { pair } = locked; // the strongest, or the one that the reader has chosen
  const [q, k] = [vectorOf(held.q, head, at), vectorOf(held.k, kv, key)];
  const size = heads / shared;
  const together = Array.from({ length: size }, (_, i) => String(kv * size + i));
  return {
    asks: "", answers: size === 1 ? "_alone" : "",
    numbers: {
      layer: whole(layer), head: whole(head), query: piece(trace.tokens.pieces[at]), key: piece(trace.tokens.pieces[key]), d: whole(d), width: whole(width),
      pair: whole(pair), second: whole(pair + width / 2), q_0: plain(q[pair]), q_1: plain(q[pair + width / 2]), k_0: plain(k[pair]), k_1: plain(k[pair + width / 2]),
      n_heads: whole(heads), n_kv: whole(shared), kv: whole(kv), together: list(together),
    },
  };
}

export function rope(glass, { at, head: { layer, head, key } }) {
  const { trace } = glass.state;
  const held = trace.layers.get(layer);
  if (!held) return null;
  const place = placeOf(held, { trace, head, query: at, key });
  const shift = Math.min(MOVE, limitOf(trace) - 1);
  const { sumHere, sumMoved } = scoreOf(place, shift, at - key);
  const plainly = Array.from(place.q, (value, i) => value * place.k[i]).reduce((a, b) => a + b, 0);
  return {
    asks: "", say: at === key ? "_itself" : "",
    numbers: {
      query: piece(trace.tokens.pieces[at]), key: piece(trace.tokens.pieces[key]), m: whole(at), n: whole(key), n_between: whole(at - key),
      before: plain(plainly, 5), sum: plain(sumHere, 5), shift: whole(shift), moved: plain(sumMoved, 5), m_moved: whole(at + shift), n_moved: whole(key + shift),
      fast: plain(2 * Math.PI / place.frequencies.inv_freq[0], 3), slow: plain(2 * Math.PI / place.frequencies.inv_freq.at(-1), 3),
    },
  };
}
