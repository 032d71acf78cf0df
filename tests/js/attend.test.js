// The pure parts of the chapters Attention and Tokens.

import assert from "node:assert/strict";
import test from "node:test";

import { attention, scores } from "../../visuals/static/compute.js";
import { mapFor } from "../../visuals/static/marks/attention-map.js";
import { makeMap, makeMaps, readHead } from "../../visuals/static/marks/attention-values.js";
import { lostIn, sharesAlike, writtenApart } from "../../visuals/static/panels/attend/alike.js";
import { jobsOf } from "../../visuals/static/panels/attend/known.js";
import { clickedChannel, madeName } from "../../visuals/static/panels/attend/vector-choice.js";
import {
  channelOf,
  fitsWhole,
  largestOf,
  placeOf,
  sharers,
  takenApart,
} from "../../visuals/static/readings/projection.js";
import { maskLine } from "../../visuals/static/panels/attend/formulas.js";
import { sourceKey } from "../../visuals/static/panels/attend/source-names.js";
import { headRow, layerRows, twoHeads } from "../../visuals/static/readings/attend.js";
import {
  createSurvey,
  habitsOf,
  headHabits,
  leaders,
  onFirst,
  surveyOf,
} from "../../visuals/static/readings/habits.js";
import { savedRows } from "../../visuals/static/readings/reading.js";
import { sinksReader } from "../../visuals/static/readings/sinks.js";
import { biasIn, writersOf } from "../../visuals/static/readings/score-terms.js";
import { layoutThumbs, thumbAt } from "../../visuals/static/panels/attend/thumbs.js";
import { cosine, mix, valueNorms, valueOf } from "../../visuals/static/readings/cell.js";
import { hex, kindOf, madeOf } from "../../visuals/static/readings/merges.js";
import { llamaParts } from "./parts_help.js";

const [TOKENS, HEADS, KV, WIDTH] = [11, 4, 2, 4];
const wave = (count, step) => Float32Array.from({ length: count }, (_, i) => Math.sin(step * (i + 1)) * 2);
const model = {
  n_layers: 2,
  n_heads: HEADS,
  n_kv_heads: KV,
  head_dim: WIDTH,
  parts: llamaParts([1, 0.1], { layers: 2 }),
};
const makeLayer = (step) => ({
  q: { shape: [HEADS, TOKENS, WIDTH], data: wave(HEADS * TOKENS * WIDTH, step) },
  k: { shape: [KV, TOKENS, WIDTH], data: wave(KV * TOKENS * WIDTH, step * 1.7) },
});
const values = { v: { shape: [KV, TOKENS, WIDTH], data: wave(KV * TOKENS * WIDTH, 0.9) } };
const close = (a, b, message) => assert.ok(Math.abs(a - b) < 1e-6, `${message ?? ""} ${a} is not ${b}`);

test("a head's map holds each row's own values, in every view", () => {
  const layer = makeLayer(0.7);
  const norms = valueNorms(values, model, 2);
  const maps = Object.fromEntries(
    ["scores", "weights", "weighted"].map((view) => {
      const matrix = mapFor([layer, view], () => [readHead(layer, model, 2, view, norms)], 1);
      while (!matrix.work(performance.now() + 1));
      return [view, matrix];
    }),
  );
  for (let query = 0; query < TOKENS; query++) {
    const [score, weight] = [scores(layer, model, 2, query), attention(layer, model, 2, query)];
    for (let key = 0; key < TOKENS; key++) {
      const at = query * TOKENS + key;
      if (key > query) assert.ok(Number.isNaN(maps.weights.values[at]));
      else {
        close(maps.scores.values[at], score[key]);
        close(maps.weights.values[at], weight[key]);
        close(maps.weighted.values[at], weight[key] * Math.hypot(...valueOf(values, model, 2, key)));
      }
    }
  }
  assert.equal(
    mapFor([layer, "scores"], () => assert.fail("made once"), 1),
    maps.scores,
  );
  const none = makeMap(
    [1, 2].map(() => readHead(layer, model, 2)),
    1,
  );
  while (!none.work(performance.now() + 1));
  assert.equal(none.limit, 0);
});

test("a map in blocks keeps the value of largest size", () => {
  const layer = makeLayer(0.7);
  const [fine, coarse] = [1, 3].map((block) => makeMap([readHead(layer, model, 1, "scores")], block));
  for (const matrix of [fine, coarse]) while (!matrix.work(performance.now() + 1));
  assert.equal(coarse.side, 4);
  let most = 0;
  for (let query = 3; query < 6; query++)
    for (let key = 0; key < 3; key++) {
      const value = fine.values[query * TOKENS + key];
      if (Math.abs(value) > Math.abs(most)) most = value;
    }
  close(coarse.values[4], most);
});

test("a head's output is the weighted sum of the values of its K/V head", () => {
  const weights = attention(makeLayer(0.7), model, 3, 6);
  const out = mix(values, model, 3, weights);
  for (let i = 0; i < WIDTH; i++) {
    let sum = 0;
    weights.forEach((weight, key) => {
      sum += weight * values.v.data[(TOKENS + key) * WIDTH + i];
    });
    close(out[i], sum);
  }
  close(cosine([1, 0], [1, 1]), Math.SQRT1_2);
  assert.ok(Number.isNaN(cosine([0, 0], [1, 1])), "a zero vector has no direction");
});

/** All heads' maps, made with the survey. */
function surveyed(trace) {
  const survey = createSurvey(trace);
  const boxes = survey.heads.flatMap((row, layer) => row.map((_, head) => ({ layer, head })));
  const maps = makeMaps(boxes, (layer, head) => {
    const reader = survey.read(layer, head);
    return reader && makeMap([reader], 1);
  });
  return {
    ...survey,
    work: () => {
      while (!maps.work(performance.now() + 1, { layer: 0 }));
    },
  };
}

test("the survey measures each head, and takes up layers as they arrive", () => {
  const layers = new Map([[1, makeLayer(0.7)]]);
  const trace = { T: TOKENS, model, layers };
  const survey = surveyed(trace);
  survey.work();
  assert.ok(!survey.heads[0][0].done);
  layers.set(0, makeLayer(0.3));
  survey.work();
  const [first, previous] = [0, 0].map((_, which) => {
    let sum = 0;
    for (let query = 2; query < TOKENS; query++)
      sum += attention(layers.get(0), model, 3, query)[which ? query - 1 : 0];
    return sum / (TOKENS - 2);
  });
  close(survey.heads[0][3].first, first);
  close(survey.heads[0][3].previous, previous);
  const best = leaders(survey.heads, "first", 3);
  assert.equal(best.length, 3);
  assert.ok(best[0].score >= best[1].score && best[1].score >= best[2].score);
});

test("two tokens give no means", () => {
  const cut = (array, heads) => ({ shape: [heads, 2, WIDTH], data: array.data.subarray(0, heads * 2 * WIDTH) });
  const { q, k } = makeLayer(0.7);
  const trace = { T: 2, model, layers: new Map([[0, { q: cut(q, HEADS), k: cut(k, KV) }]]) };
  const survey = surveyed(trace);
  survey.work();
  assert.deepEqual(leaders(survey.heads, "previous", 3), []);
});

test("every thumbnail lies inside the canvas and is found again, at any width", () => {
  for (const [n_layers, n_heads, n_kv_heads] of [
    [8, 8, 2],
    [30, 9, 3],
    [3, 6, 6],
    [80, 64, 8],
    [1, 1, 1],
  ]) {
    for (const width of [250, 330, 560, 1216]) {
      const layout = layoutThumbs(width, { n_layers, n_heads, n_kv_heads });
      const some = n_layers * n_heads > 1000 ? 13 : 1; // `thumbAt` looks through all: of thousands, some in each column
      for (let layer = 0; layer < n_layers; layer++) {
        for (let head = 0; head < n_heads; head++) {
          const { x, y } = layout.place(layer, head);
          assert.ok(x + layout.size <= width && y + layout.size <= layout.height, `${n_layers} ${n_heads} ${width}`);
          if ((layer * n_heads + head) % some) continue;
          assert.deepEqual(thumbAt(layout, x + 1, y + 1), { layer, head });
        }
      }
      assert.equal(thumbAt(layout, 1, 40), null);
    }
  }
});

test("only heads that do a job clearly are called by it", () => {
  const best = [
    { layer: 1, head: 2, score: 0.8 },
    { layer: 0, head: 0, score: 0.1 },
  ];
  const names = { kinds: [{ name: "induction", best }] };
  assert.deepEqual(jobsOf(names, 1, 2), [{ name: "induction", score: 0.8 }]);
  assert.deepEqual(jobsOf(names, 0, 0), []);
  assert.deepEqual(jobsOf(null, 0, 0), []);
});

test("merges read as states, and tokens by how they came about", () => {
  const info = {
    merges: 2,
    kind: "BPE",
    made: {
      5: {
        base: [1, 2, 1],
        merges: [
          [0, 7, 1, 2, 4],
          [0, 9, 4, 1, 5],
        ],
        tokens: [5],
      },
      1: { base: [1], merges: [], tokens: [1] },
      3: { base: [3], merges: [], tokens: [3] },
      6: { base: [1, 2], merges: [[0, 7, 1, 2, 4]], tokens: [4] },
    },
    bytes: { 5: [97, 98, 97], 1: [97], 3: [0xe7], 6: [97, 98], 0: null },
    pieces: { 1: "a", 2: "b", 4: "ab", 5: "aba", 3: "⟨E7⟩", 6: "ab" },
  };
  assert.deepEqual(madeOf(info, 5).states, [["a", "b", "a"], ["ab", "a"], ["aba"]]);
  assert.deepEqual(madeOf(info, 5).steps[1], { at: 0, rank: 9, left: "ab", right: "a", into: "aba" });
  assert.deepEqual(
    [5, 1, 3, 6, 0].map((id) => kindOf(info, id)),
    ["merged", "base", "byte", "listed", "special"],
  );
  assert.equal(kindOf({ ...info, merges: 0, made: {} }, 1), "none");
  assert.equal(hex([0xe7, 0x0a]), "E7 0A");
  assert.equal(hex(null), "-");
});

test("a channel of q is its products, its bias, and the norm that some networks add", () => {
  const normed = Float64Array.from([1, -2, 3]);
  const rows = { shape: [2, 3], data: Float32Array.from([1, 1, 1, 0.5, 2, -1]) };
  const numbers = (...data) => ({ shape: [data.length], data: Float32Array.from(data) });
  const found = (more) => ({
    normed,
    token: 1,
    weights: { rows, bias: null, gamma: null, divisor: null, ...more },
  });
  const plain = found();
  const one = takenApart(plain, 1);
  assert.deepEqual([...one.terms], [0.5, -4, -3]);
  assert.deepEqual([one.products, one.bias, one.sum, one.value], [-6.5, null, -6.5, -6.5]);
  assert.equal(takenApart(plain, 1), one); // the same object, so that what is drawn from it stays
  assert.deepEqual(largestOf(one, 2), { first: [1, 2], part: -7, others: 0.5, rest: 1 });
  const biased = takenApart(found({ bias: numbers(4, 0.25) }), 1);
  assert.deepEqual([biased.products, biased.bias, biased.value], [-6.5, 0.25, -6.25]);
  const again = takenApart(found({ gamma: numbers(1, 3), divisor: numbers(1, 2) }), 1);
  assert.deepEqual([again.sum, again.divisor, again.gamma, again.value], [-6.5, 2, 3, -9.75]);
  const alone = found({ rows: { shape: [1, 3], data: rows.data.subarray(3) }, bias: numbers(0.25) });
  assert.equal(takenApart(alone, 1).value, -6.25); // of a large head one row is fetched
});

test("the vector that is made is called by what the network does to it", () => {
  const text = (name, params) => `${name}(${Object.values(params ?? {})})`;
  const called = (parts, vector, divisor = null) =>
    madeName({ ...model, parts }, { place: { vector }, weights: { divisor } }, text);
  const part = llamaParts([1]);
  assert.equal(called(model.parts, "q"), "strip_made(q)strip_made_before(4,4)");
  assert.equal(called(model.parts, "v"), "strip_made(v)"); // which nothing turns
  assert.equal(called({ ...part, rotary: null }, "q"), "strip_made(q)"); // BLOOM, T5
  assert.equal(called(part, "k"), "strip_made(k)strip_made_part(2,4)"); // GLM
  assert.equal(called(model.parts, "k", [1]), "strip_made(k)strip_made_normed(4,4)strip_made_before(4,4)"); // Qwen 3
});

test("a bias by distance is a term of the score and of neither side's writers", () => {
  const [embedding, head, position] = [
    { kind: "embedding" },
    { kind: "head", layer: 0, head: 1 },
    { kind: "position" },
  ];
  const found = { sources: [embedding, head, position], terms: { data: [1, 2, 0, 4, 8, 0, 0, 0, -16] } };
  assert.equal(biasIn(found), -16);
  assert.deepEqual(writersOf(found, "q"), [
    { source: embedding, value: 3 },
    { source: head, value: 12 },
  ]);
  assert.deepEqual(writersOf(found, "k"), [
    { source: embedding, value: 5 },
    { source: head, value: 10 },
  ]);
  assert.equal(biasIn({ sources: [embedding], terms: { data: [1] } }), null);
  assert.deepEqual(
    [0, 1].map((layer) => sourceKey({ kind: "bias", layer }, 1)),
    ["source_bias_below", "source_bias"],
  );
});

test("the mask is spoken of as the network has it, whichever query is looked at", () => {
  globalThis.document = {
    createElement: () => ({
      append(...some) {
        this.said = some.join("");
      },
    }),
  };
  const said = (parts, query, seen) =>
    maskLine({ parts }, { query, key: 0, tokens: 5, weights: Array(seen) }, (name, { hidden }) => `${name} ${hidden}`)
      .said;
  assert.deepEqual(
    [0, 2, 4].map((query) => said({ causal: false, prefix: null }, query, 5)),
    Array(3).fill("mask_none 0"),
  ); // an encoder
  assert.deepEqual(
    [0, 4].map((query) => said({ causal: true, prefix: null }, query, query + 1)),
    ["mask 4", "mask_last 0"],
  );
  const prefix = (query) => said({ causal: true, prefix: 3 }, query, Math.max(query + 1, 3)); // GLM
  assert.deepEqual([0, 2, 3, 4].map(prefix), ["mask_prefix 2", "mask_prefix 2", "mask 1", "mask_last 0"]);
});

test("q is made at the query, k and v at the key by the head that others share", () => {
  const at = { layer: 1, head: 3, query: 7, key: 2 };
  assert.deepEqual(placeOf(at, model, "q"), { vector: "q", layer: 1, head: 3, of: 3, token: 7 });
  assert.deepEqual(placeOf(at, model, "v"), { vector: "v", layer: 1, head: 3, of: 1, token: 2 });
  assert.deepEqual(sharers(model, 1), [2, 3]);
  assert.ok(fitsWhole({ head_dim: 32, d_model: 256 }) && !fitsWhole({ head_dim: 128, d_model: 4096 }));
  const glass = (channel) => ({ settings: { get: () => ({ channel }) } });
  const made = [1, -5, 3];
  assert.deepEqual(
    [undefined, "2", "3", "x"].map((channel) => channelOf(made, clickedChannel(glass(channel), made.length))),
    [1, 2, 1, 1],
  );
});

test("the maps of cross-attention keep room for the frame of the chosen one and for words, at any width", async () => {
  const { layoutCross } = await import("../../visuals/static/panels/attend/cross-maps.js");
  const frame = 4; // px around a chosen map
  const [beside, above] = [56, 60]; // px of words at least
  for (const [width, heads, written, read] of [
    [1232, 5, 4, 17],
    [312, 5, 4, 17],
    [1232, 8, 40, 200],
    [640, 6, 1, 1],
    [200, 3, 2, 60],
  ]) {
    const { boxes, size, perLine, height, cell } = layoutCross(width, heads, written, read);
    assert.equal(boxes.length, heads);
    for (const [i, { x, y }] of boxes.entries()) {
      assert.ok(x - frame >= 0 && x + size.width + frame <= width, `${width}: ${x} + ${size.width}`);
      assert.ok(y + size.height <= height);
      assert.equal(boxes[i].leads, i % perLine === 0);
      if (boxes[i].leads) assert.ok(x - frame >= beside);
      assert.ok(y - above >= (i < perLine ? 0 : boxes[i - perLine].y + size.height));
      if (i % perLine) assert.ok(x - frame >= boxes[i - 1].x + size.width + frame);
    }
    if (width > 1000 && read < 30) assert.ok(cell.width >= 14, "every column has its word");
  }
});

test("a cell's numbers are those of its row and of the table of all heads", () => {
  const trace = {
    T: TOKENS,
    model,
    layers: new Map(),
    tokens: { pieces: Array.from({ length: TOKENS }, (_, t) => String(t)) },
  };
  const run = { trace, held: makeLayer(0.7), details: {} };
  const at = { layer: 1, head: 3, query: 6, key: 2 };
  const { values, rows } = layerRows.read(run, at);
  assert.deepEqual(values, {
    weight: attention(run.held, model, 3, 6)[2],
    score: scores(run.held, model, 3, 6)[2],
  });
  const [own, all] = [rows.weights(), rows.heads()];
  assert.deepEqual([own.columns.weight[2], own.columns.score[2]], [values.weight, values.score]);
  assert.deepEqual(Array.from(own.keys.key), [0, 1, 2, 3, 4, 5, 6]);
  assert.equal(all.columns.weight.length, 7 * HEADS);
  const place = 3 * 7 + 2;
  const keyed = Object.fromEntries(Object.entries(all.keys).map(([name, values]) => [name, values[place]]));
  assert.deepEqual(keyed, { layer: 1, head: 3, kv_head: 1, query: 6, key: 2, piece: "2" });
  assert.equal(all.columns.weight[place], values.weight);
  const names = ["layer", "head", "query", "key", "piece", "score", "weight"];
  assert.deepEqual(savedRows(headRow.read(run, at))[0], names);
});

test("two heads are subtracted key by key; without the second one's layer there are no numbers", () => {
  const layers = new Map([[1, makeLayer(0.7)]]);
  const trace = { T: TOKENS, model, layers, tokens: { pieces: Array.from({ length: TOKENS }, (_, t) => String(t)) } };
  const run = { trace, held: layers.get(1), details: {} };
  const at = { layer: 1, head: 3, query: 6, key: 2, other_layer: 0, other_head: 1 };
  const missing = twoHeads.read(run, at);
  assert.deepEqual([missing.complete, missing.values, savedRows(missing).length], [false, {}, 1]);
  layers.set(0, makeLayer(0.3));
  const { values, rows } = twoHeads.read(run, at);
  const [a, b] = [attention(layers.get(1), model, 3, 6), attention(layers.get(0), model, 1, 6)];
  assert.deepEqual([values.a, values.b, values.difference], [a[2], b[2], a[2] - b[2]]);
  const { columns } = rows.weights();
  assert.deepEqual(Object.keys(columns), ["layer_1_head_3", "layer_0_head_1", "difference"]);
  close(values.apart, Array.from(columns.difference).reduce((sum, x) => sum + Math.abs(x), 0) / 2);
});

test("a head's habits are told as far as its map is made, or measured at once in a layer that is given", () => {
  const layers = new Map([[0, makeLayer(0.3)]]);
  const trace = { T: TOKENS, model, layers };
  const at = { layer: 0, head: 3 };
  const before = headHabits.read({ trace, details: {} }, at);
  assert.deepEqual([before.done, before.values], [false, { first: NaN, previous: NaN }]);
  const measured = headHabits.read({ trace, held: layers.get(0), details: {} }, at);
  surveyOf(trace)
    .read(0, 3)
    .each(0, TOKENS, () => {});
  const after = headHabits.read({ trace, details: {} }, at);
  assert.ok(after.done);
  for (const name of ["first", "previous"]) close(after.values[name], measured.values[name]);
  const { keys, columns } = after.rows.heads();
  const place = keys.layer.findIndex((layer, i) => layer === 0 && keys.head[i] === 3);
  assert.equal(columns.mean_weight_on_first_token[place], after.values.first);
  assert.ok(Number.isNaN(columns.mean_weight_on_previous_token[place + 1]));
});

test("heads that rest on the first token are found in the layers that are here, the most first", () => {
  const layers = new Map([[1, makeLayer(0.3)]]);
  const trace = { T: TOKENS, model, layers };
  const found = onFirst(trace, 2);
  const all = Array.from({ length: HEADS }, (_, head) => habitsOf(layers.get(1), trace, head).first);
  assert.deepEqual(
    found.map(({ layer, score }) => [layer, score]),
    all
      .sort((a, b) => b - a)
      .slice(0, 2)
      .map((score) => [1, score]),
  );
  assert.deepEqual(onFirst({ T: 100_000, model, layers }, 2), []); // a long run's maps are made bit by bit
});

test("weights beside each other have as many digits, and none is written as the 1 that it is not", () => {
  assert.deepEqual(sharesAlike([0.99995, 0.9994, 0.2]), ["0.99995", "0.99940", "0.20000"]);
  assert.deepEqual(sharesAlike([0.7, 1, 0]), ["0.700", "1.000", "0.000"]);
  assert.deepEqual(sharesAlike([0.7, 0.00001]), ["0.700", "1.00×10⁻⁵"]);
  assert.deepEqual(writtenApart(0.9978, 0.62847), { a: "0.9978", b: "0.6285", difference: "+0.3693" });
  for (const [a, b] of [
    [0.99995, 0.92954],
    [0.12345, 0.5],
    [0.0004, 0.0001],
    [1, 0.25],
  ]) {
    const { a: first, b: second, difference } = writtenApart(a, b);
    const decimals = (text) => text.split(".")[1].length;
    assert.equal(decimals(first), decimals(second));
    const apart = Number(first) - Number(second);
    assert.ok(Math.abs(apart - Number(difference.replace("−", "-"))) < 1e-9, difference);
  }
});

test("not all is lost where something is left", () => {
  const lost = [0, 1e-12, 0.18, 0.9987, 0.999995, 1, 1.2];
  const written = lost.map((share) => lostIn(() => ">99.9%", share)); // an output may change by more than it was
  assert.deepEqual(written, ["0%", "0%", "18%", "99.9%", ">99.9%", "100%", "120%"]);
});

test("sinks: the median of the others, the value that a head reads, and the largest stream where there is none", () => {
  const trace = { T: 3, model: { ...model, n_layers: 1 }, sinks: [0], layers: new Map() };
  const held = { v: { shape: [KV, 3, 2], data: Float32Array.of(3, 4, 0, 1, 1, 0, 0, 0, 0, 2, 0, 4) } };
  const found = {
    rms: { shape: [2, 3], data: Float32Array.of(1, 2, 4, 900, 3, 5) },
    largest: { shape: [2, 3], data: Float32Array.of(2, 3, 6, 20000, 8, 9) },
    median: { shape: [2], data: Float32Array.of(1, 4) },
    sinks: [{ token: 0, after: -20000, parked: 5, lost: 2.5 }],
  };
  const read = sinksReader.read({ trace, details: { found, values: held } }, { layer: 0, head: 0 });
  assert.deepEqual(read.others, [3, 4]);
  assert.deepEqual(read.sizes, [{ norm: 5, others: 1 }]);
  assert.deepEqual(read.values, { times: 5000, spike: -20000, norm: 5, others: 1, parked: 5, lost: 2.5 });
  assert.equal(read.at, "layer 0 head 0 sinks 0");
  assert.deepEqual(Object.keys(sinksReader.needs(trace, { layer: 0, head: 0 })), ["found", "values"]);
  assert.deepEqual(Object.keys(sinksReader.needs({ ...trace, sinks: [] }, { layer: 0, head: 0 })), ["found"]);
  const none = sinksReader.read({ trace, details: { found: { ...found, sinks: [] } } }, { layer: 0, head: 0 });
  assert.deepEqual(none.most, { depth: 1, token: 0, times: 5000, value: 20000 });
  assert.ok(Number.isNaN(none.values.norm));
});
