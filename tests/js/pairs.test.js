// Which of RoPE's pairs is spoken of: the one that counts most in the score, until a reader chooses another.

import assert from "node:assert/strict";
import { test } from "node:test";
import { world } from "./run_help.js";

const FREQUENCIES = [1, 0.1];

/** What each pair adds to q·k: the real part of q·conj(k)·e^(i·distance·θ), with each pair as a complex number. */
function terms({ q, k }, head, query, key) {
  const of = (vectors, index, t) => vectors.subarray((index * 3 + t) * 4, (index * 3 + t) * 4 + 4);
  const [a, b] = [of(q, head, query), of(k, Math.floor(head / 2), key)];
  return FREQUENCIES.map((theta, i) => {
    const [real, imaginary] = [a[i] * b[i] + a[i + 2] * b[i + 2], a[i + 2] * b[i] - a[i] * b[i + 2]];
    const turn = (query - key) * theta;
    return real * Math.cos(turn) - imaginary * Math.sin(turn);
  });
}
const most = (values) => values.indexOf(values.reduce((best, x) => (Math.abs(x) > Math.abs(best) ? x : best)));

test("the pair follows head, query and key as the strongest, and stays where one is chosen", () => {
  const { store, raw } = world();
  const { state } = store;
  const seen = new Set();
  store.select({ layer: 1 });
  for (let head = 0; head < 4; head++) {
    for (let query = 0; query < 3; query++) {
      for (let key = 0; key <= query; key++) {
        store.preview({ head, query, key });
        const expected = most(terms(raw, head, query, key));
        assert.equal(state.pair, expected, `head ${head}, query ${query}, key ${key}`);
        seen.add(expected);
      }
    }
  }
  assert.equal(seen.size, 2);
  store.endPreview();
  assert.equal(state.locked.pair, null); // so it is in no link
  const other = 1 - state.pair;
  store.select({ pair: other });
  store.select({ head: (state.head + 1) % 4, query: 1, key: 0 });
  assert.equal(state.pair, other);
  store.select({ pair: null });
  assert.equal(state.pair, most(terms(raw, state.head, 1, 0)));
});

test("until a layer has come the pair is the first", () => {
  const { store } = world();
  store.select({ layer: 3 });
  assert.equal(store.state.pair, 0);
});
