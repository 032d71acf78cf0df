// The tour's stops at a source: their numbers against the run's arrays, and their texts in both languages.

import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeAll } from "../../visuals/static/decode.js";
import { TABLES, ramp } from "./tour_help.js";
import { pack } from "./payload_help.js";

const { acrossCarry, acrossHead, acrossMatch, acrossSoftmax, atAcross } =
  await import("../../visuals/static/tour/across.js");
const { placesOf } = await import("../../visuals/static/tour/places.js");

const [HEADS, WIDTH, WRITTEN] = [2, 4, 3];
const TOLD = {
  "cross-head": acrossHead,
  "cross-match": acrossMatch,
  "cross-softmax": acrossSoftmax,
  "cross-carry": acrossCarry,
};

/** A run that has written two tokens of a source. */
function world(read) {
  const cross = decodeAll({
    q: pack(ramp(HEADS * WRITTEN * WIDTH), [HEADS, WRITTEN, WIDTH]),
    k: pack(ramp(HEADS * read * WIDTH, 0.4, 0.11), [HEADS, read, WIDTH]),
  });
  const terms = decodeAll({
    heads: pack(ramp(2 * HEADS * WRITTEN, 0.2), [2, HEADS, WRITTEN]),
    cross: pack(ramp(2 * HEADS * read, 0.7), [2, HEADS, read]),
    logit: 2.5,
  });
  const model = { n_layers: 2, n_heads: HEADS, parts: { cross_scale: 0.5 } };
  const trace = {
    model,
    tokens: { pieces: ["<s>", " a", " b"] },
    encoder: { tokens: { pieces: ["x", "y", "z"].slice(0, read) } },
    layers: new Map([
      [0, { cross }],
      [1, { cross }],
    ]),
  };
  const text = (key, { layer, head }) => `${key} ${layer} ${head}`;
  const glass = { state: { trace }, text, detail: (what) => (what === "logit_terms" ? terms : null) };
  return { cross, terms, glass };
}
const part = (kind, index, without, key) => ({
  kind,
  layer: 1,
  index,
  without,
  loss: 1,
  ...(kind !== "neuron" && { head: index, key, weight: 0.5 }),
});
const why = (more) => ({
  position: 2,
  target: 7,
  piece: " c",
  probability: 0.6,
  first: { kind: "cross", layer: 1, head: 1, key: 0, weight: 0.7 },
  look: { kind: "cross", key: 0, heads: [{ layer: 1, head: 1, weight: 0.7 }], without: 0.2, by_chance: [0.5] },
  parts: [part("head", 0, 0.5, 1), part("cross", 0, 0.35, 0), part("cross", 1, 0.4, 0), part("neuron", 3, 0.5)],
  ...more,
});
const locked = { layer: 0, head: 0, key: 0 };

test("a tour goes to the head that reads the answer in the source, and to the best of the decoder's own", () => {
  const found = placesOf(why(), { locked });
  // the one that reads, not the one that is missed most
  assert.deepEqual(found.cross, { layer: 1, head: 1, key: 0, without: 0.4 });
  assert.deepEqual(found.head, { layer: 1, head: 0, key: 1, without: 0.5 });
  assert.deepEqual([found.off, found.heads, found.without], [{ cross: [[1, 1]] }, [[1, 1]], 0.2]);
  const alone = placesOf(why({ look: { kind: "cross", key: 0, heads: [], without: 0.6, by_chance: [] } }), { locked });
  assert.deepEqual([alone.off, alone.without], [{ cross: [[1, 1]] }, 0.4]);
  const none = placesOf(
    why({ first: null, parts: [], look: { kind: "cross", key: 0, heads: [], without: 0.6, by_chance: [] } }),
    { locked },
  );
  assert.deepEqual([none.cross, none.head.without, none.heads], [null, null, []]);
});

test("scores, weights and what is added are those of the arrays", () => {
  const { glass, cross, terms } = world(3);
  const found = placesOf(why(), { locked });
  const q = [...cross.q.data].slice((1 * WRITTEN + 2) * WIDTH).slice(0, WIDTH);
  const scores = [0, 1, 2].map(
    (t) => 0.5 * q.reduce((sum, x, i) => sum + x * cross.k.data[(1 * 3 + t) * WIDTH + i], 0),
  );
  const all = scores.reduce((sum, score) => sum + Math.exp(score), 0);
  const near = (value, wanted) => assert.ok(Math.abs(value - wanted) < 1e-6, `${value} is not ${wanted}`);
  const { numbers } = acrossSoftmax(glass, found);
  near(numbers.score.value, scores[0]);
  near(numbers.dot.value, 2 * scores[0]);
  near(numbers.weight.value, Math.exp(scores[0]) / all);
  near(numbers.other_weight.value, Math.exp(Math.max(scores[1], scores[2])) / all);
  const carried = acrossCarry(glass, found).numbers;
  near(carried.term.value, terms.cross.data[(1 * HEADS + 1) * 3]);
  near(
    carried.across.value,
    [...terms.cross.data].reduce((a, b) => a + b),
  );
  assert.deepEqual(atAcross(found), { layer: 1, head: 1, query: 2 });
});

test("the texts of the stops at a source have a number for every place, in both languages", () => {
  const cases = [
    [3, why()],
    [3, why({ look: { kind: "head", key: 1, heads: [], without: 0.6, by_chance: [] } })],
    [1, why()],
    [3, why({ parts: [], first: null, look: { kind: "cross", key: 0, heads: [], without: 0.6, by_chance: [] } })],
  ];
  const spoken = new Set();
  for (const [read, answer] of cases) {
    for (const [name, tell] of Object.entries(TOLD)) {
      const { numbers, say = "", asks = say, answers = asks } = tell(world(read).glass, placesOf(answer, { locked }));
      for (const [words, form] of [
        ["says", say],
        ["asks", asks],
        ["answers", answers],
      ]) {
        const key = `${name}_${words}${form}`;
        spoken.add(key);
        for (const { tour } of Object.values(TABLES)) {
          assert.ok(tour[key] && tour[name], key);
          for (const [, used] of tour[key].matchAll(/\{(\w+)/g))
            assert.ok(Object.hasOwn(numbers, used), `${key}: {${used}}`);
        }
      }
    }
  }
  for (const key of Object.keys(TABLES.en.tour).filter((one) => /^cross-\w+_/.test(one)))
    assert.ok(spoken.has(key), `${key} is said nowhere`);
});
