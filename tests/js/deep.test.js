// The arithmetic of the deep panels on RMSNorm, RoPE and SwiGLU, against numbers worked out by hand.
import { readsOf } from "../../visuals/static/story/curve.js";
import { answerBeside, answerQuoted, few } from "../../visuals/static/story/words.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { silu } from "../../visuals/static/activations.js";
import { bucketAt, slopeOf } from "../../visuals/static/compute.js";
import { rotate, turnBack } from "../../visuals/static/rotation.js";
import { meanOf } from "../../visuals/static/readings/firing.js";
import { quadrants } from "../../visuals/static/readings/neurons.js";
import { findDepth, LINES, LOOKS } from "../../visuals/static/panels/norm/depth.js";
import { indexOf, normsOf } from "../../visuals/static/readings/norm-places.js";
import * as norms from "../../visuals/static/readings/norms.js";
import { showing, within, zoomed } from "../../visuals/static/panels/norm/zoom.js";
import { small, whole } from "../../visuals/static/panels/position/place.js";
import { FAST, farOf, fastAndSlow, placeOf } from "../../visuals/static/readings/rope-place.js";
import { layoutsOf } from "../../visuals/static/readings/rope-layout.js";
import { scoreOf } from "../../visuals/static/readings/rope-score.js";
import { addingUp } from "../../visuals/static/readings/adding-up.js";
import * as turning from "../../visuals/static/readings/turning.js";
import { tickText, tickTexts, ticks, xAt, xOf } from "../../visuals/static/plot.js";
import { normForms } from "../../visuals/static/parts.js";
import { llamaParts } from "./parts_help.js";

const wave = (count, step) => Float64Array.from({ length: count }, (_, i) => Math.sin(step * (i + 1)) * 2);
const near = (actual, expected, tolerance = 1e-12) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} against ${expected}`);
const nearAll = (actual, expected, tolerance) => {
  assert.equal(actual.length, expected.length);
  Array.from(actual).forEach((value, i) => near(value, expected[i], tolerance));
};

test("RMSNorm and LayerNorm by hand", () => {
  assert.equal(norms.meanSquare([1, 2, 3, 4]), 7.5);
  near(norms.rms([3, 4], 1e-5), Math.sqrt(12.5 + 1e-5));
  nearAll(norms.rmsNorm([1, -1], 3), [0.5, -0.5]);
  nearAll(norms.layerNorm([1, 3], 0), [-1, 1]);
  assert.equal(norms.medianMagnitude([-5, 1, 3]), 3);
  assert.equal(norms.medianMagnitude([-5, 1, 3, 4]), 3.5);
});

test("scaling vanishes for ε = 0 alone, a shift in LayerNorm alone", () => {
  const x = [0.3, -1.2, 2.5, 0.01];
  for (const a of [1e-3, 0.5, 7, 1e4]) {
    const measured = (norm, eps, b) => norms.relativeChange(norm(x, eps), norm(norms.changed(x, a, b), eps));
    assert.ok(measured(norms.rmsNorm, 0, 0) < 1e-14);
    near(measured(norms.rmsNorm, 1e-5, 0), norms.scaleChange(norms.meanSquare(x), 1e-5, a), 1e-14);
    assert.ok(measured(norms.layerNorm, 0, 5) < 1e-8);
    assert.ok(measured(norms.rmsNorm, 0, 5) > 1e-4);
  }
  near(norms.scaleChange(4, 0, -3), 2); // a < 0 turns the sign
  near(norms.scaleChange(1, 1e-5, 1e-3), 0.698, 1e-3);
});

test("the window of a strip stays inside the vector, halves around its channel, and follows it", () => {
  assert.deepEqual(within({ start: 300, count: 64 }, 256), { start: 192, count: 64 });
  assert.deepEqual(within({ start: -5, count: 999 }, 256), { start: 0, count: 256 });
  assert.deepEqual(zoomed({ start: 0, count: 256 }, 256, 10, 128, true), { start: 64, count: 128 });
  assert.equal(zoomed({ start: 60, count: 12 }, 256, 10, 64, true).count, 10);
  assert.deepEqual(zoomed({ start: 60, count: 200 }, 256, 10, 64, false), { start: 0, count: 256 });
  for (const channel of [0, 100, 255]) {
    const { start, count } = zoomed({ start: 0, count: 256 }, 256, 10, channel, true);
    assert.ok(channel >= start && channel < start + count);
  }
  assert.deepEqual(showing({ start: 10, count: 5 }, 12, 256), { start: 10, count: 5 });
  assert.deepEqual(showing({ start: 10, count: 5 }, 15, 256), { start: 11, count: 5 });
  assert.deepEqual(showing({ start: 10, count: 5 }, 9, 256), { start: 9, count: 5 });
});

test("norms in the order of the computation", () => {
  const model = { n_layers: 3, parts: llamaParts([1]) };
  const places = normsOf(model);
  assert.equal(places.length, 7);
  places.forEach((place, i) => assert.equal(indexOf(place, model), i));
  assert.deepEqual(findDepth(500, model, 0), { layer: 0, norm: "attn" });
  assert.deepEqual(findDepth(500, model, 5000), { layer: 2, norm: "final" });
  const one = { n_layers: 3, parts: { ...model.parts, norm_kind: "layer", norms: { attn_norm: "resid_in" } } };
  assert.deepEqual(
    normsOf(one).map(({ layer, norm }) => `${norm} ${layer}`),
    ["attn 0", "attn 1", "attn 2", "final null"],
  );
  normsOf(one).forEach((place, i) => assert.equal(indexOf(place, one), i));
  assert.deepEqual([normForms(model), normForms(one)], [[], ["layer_one", "layer"]]);
  const decoder = {
    ...model,
    parts: { ...model.parts, norms: { attn_norm: "resid_in", cross_norm: "resid_attn", ffn_norm: "resid_mid" } },
  };
  assert.deepEqual(normForms(decoder), ["three"]); // T5's, which also looks at a source
});

const q = Float32Array.of(1, 2, -0.5, 0.25, 3, -1);
const k = Float32Array.of(0.5, -1, 2, 1, 0.1, 0.7);
const frequencies = { inv_freq: Float32Array.of(1, 0.1, 0.01), scaling: 1.2 };

test("turning agrees with compute.js, in either layout after reordering, and float32 rounds every step", () => {
  nearAll(
    turning.turned(q, 9, frequencies),
    rotate(q, 9, llamaParts(frequencies.inv_freq, { scaling: 1.2 }).rotary),
    1e-6,
  );
  const moved = turning.turned(turning.neighbours(q), 9, frequencies, { layout: "neighbours" });
  nearAll(moved, turning.neighbours(turning.turned(q, 9, frequencies)));
  const single = turning.turned(q, 777, frequencies, { single: true });
  assert.ok(single.every((value) => Math.fround(value) === value));
  nearAll(single, turning.turned(q, 777, frequencies), 1e-3);
});

test("q·k stays when both positions move, and follows the curve when one does", () => {
  const at = (m, n) => turning.product(q, k, m, n, frequencies);
  const single = (m, n) => turning.sum(turning.singleTerms(q, k, m, n, frequencies), true);
  near(at(5, 2), at(505, 502));
  near(single(5, 2), single(505, 502), 1e-4);
  const curve = turning.overDistance(q, k, frequencies, 3000);
  for (const distance of [0, 1, 3, 250, 2999]) near(curve[distance], at(distance + 4, 4), 1e-9);
  const turned = (x, at, layout) => turning.turned(x, at, frequencies, { layout });
  const mixed = (m, n) => turning.sum(turning.terms(turned(q, m, "half"), turned(k, n, "neighbours")));
  const apart = Math.abs(mixed(5, 2) - mixed(105, 102));
  assert.ok(apart > 0.1, "layouts mixed between q and k: the distance alone no longer decides");
});

test("no two channels of the chart through depth look alike, also to who sees no colours", () => {
  assert.equal(LOOKS.length, LINES);
  for (const name of ["shape", "role"]) assert.equal(new Set(LOOKS.map((look) => look[name])).size, LINES);
  assert.equal(new Set(LOOKS.map(({ dash }) => String(dash))).size, LINES);
});

test("the run's pairs by distance: every pair once, or every n-th query", () => {
  const ones = new Float64Array(4 * 2).fill(1);
  const all = turning.byDistance(ones, Float64Array.of(1, 1, 2, 2, 3, 3, 4, 4), 2);
  nearAll(all.mean, [5, 4, 3, 2]);
  nearAll(all.low, [2, 2, 2, 2]);
  nearAll(all.high, [8, 6, 4, 2]);
  assert.equal(all.every, 1);
  assert.equal(turning.byDistance(ones, ones, 2, 5).every, 2);
  // Two distances a bar: of 4 + 3 pairs and of 2 + 1, each pair counts alike.
  const [near0, far] = turning.inGroups(all, 2);
  assert.deepEqual([near0.from, near0.to, near0.low, near0.high], [0, 1, 2, 8]);
  nearAll([near0.mean, far.mean], [(4 * 5 + 3 * 4) / 7, (2 * 3 + 2) / 3]);
  assert.deepEqual([far.from, far.to, far.low, far.high], [2, 3, 2, 4]);
  assert.equal(turning.inGroups(all, 3)[1].to, 3);
});

test("what is shown of a sum adds up to the digit, whatever is left out", () => {
  const read = (said) => Math.round(Number(said.replace("−", "-")) * 1000);
  for (let seed = 1; seed < 200; seed++) {
    const all = Array.from({ length: 32 }, (_, i) => (10 ** (seed % 4) * Math.sin(seed * 7.3 + i * i)) / 4);
    const whole = all.reduce((a, b) => a + b, 0);
    const { terms, drawn, rest, whole: said } = addingUp(all.slice(0, 4), whole);
    assert.equal(
      terms.map(read).reduce((a, b) => a + b),
      read(drawn),
    );
    assert.equal(read(drawn) + read(rest), read(said));
    near(read(said) / 1000, whole, 0.501);
    const largest = Math.max(...[...terms, drawn, rest, said].map((one) => Math.abs(read(one)) / 1000));
    const decimals = said.split(".")[1]?.length ?? 0;
    assert.ok(decimals === 0 || decimals === 3 || largest * 10 ** decimals <= 1000, `${said} of ${largest}`);
  }
  assert.deepEqual(addingUp([1.005, -3], -2), {
    terms: ["1.00", "−3.00"],
    drawn: "−2.00",
    rest: "0.00",
    whole: "−2.00",
  });
});

test("of two answers with the same word the later has its space marked", () => {
  const text = (key, { word } = {}) => (word ? `${key} ${word}` : key);
  assert.equal(answerBeside(text, " Mia", ["Mia"], false), "·Mia");
  assert.equal(answerBeside(text, "Mia", [" Mia"], false), "why.joined Mia");
  assert.equal(answerBeside(text, " Mia", [" Ben"], false), "Mia");
});

test("in a sentence that lists answers each stands in quotes, without what is said of it", () => {
  const texts = { "why.token": "“{piece}”", "why.joined": "{word} (joined)", "story.sign": "{sign} ({name})" };
  const text = (key, values = {}) => (texts[key] ?? key).replace(/{(\w+)}/g, (_, name) => values[name]);
  assert.equal(answerQuoted(text, " Mia", [" Ben"], false), "“Mia”");
  assert.equal(answerQuoted(text, "。", [], false), "“。”");
  assert.equal(answerQuoted(text, ".", [], false), "“.” (story.full_stop)");
  assert.equal(answerQuoted(text, "\n", [], false), "“⏎” (story.line_break)");
  assert.equal(answerQuoted(text, "Mia", [" Mia"], false), "“Mia” (joined)");
  assert.equal(answerQuoted(text, " Mia", ["Mia"], false), "“·Mia”");
  assert.equal(answerQuoted(text, "", [], true), "story.the_end");
});

test("a curve names a few round numbers of tokens", () => {
  const named = (last) => readsOf(last, String).map(({ words }) => words);
  assert.deepEqual(named(35), ["10", "20", "30"]);
  assert.deepEqual(named(20), ["5", "10", "15"]); // the end has a name of its own
});

test("a number of the story keeps a last digit that is 0", () => {
  assert.deepEqual(
    [6.3, -48, 1234, 0, 0.8].map((x) => few(x)),
    ["6.30", "−48.0", "1230", "0", "0.800"],
  );
});

test("quadrants count every neuron once, and shares sum to 1", () => {
  const made = (gate, up) => ({ gate, up, product: up.map((x, i) => (gate ? silu(gate[i]) : 1) * x) });
  const found = quadrants(made([1, 2, -1, -3, 0], [1, -1, 2, -2, 5]));
  assert.deepEqual(
    found.map(({ count }) => count),
    [2, 1, 1, 1],
  );
  near(
    found.reduce((total, { share }) => total + share, 0),
    1,
  );
  near(quadrants(made([0], [0]))[0].share, 0);
  assert.deepEqual(quadrants(made(null, [3, -1, 0, 0])), [
    { count: 3, share: 0.25 },
    { count: 1, share: 0.75 },
  ]); // no gate: two halves
  // an expert that the token does not go to
  assert.equal(quadrants({ gate: [NaN, 1], up: [NaN, 1], product: [NaN, 0.7] })[1].count, 1);
  assert.equal(meanOf({ shape: [2, 3], data: [9, 9, 9, 1, 2, 6] }, 1), 3);
});

test("ticks are round and inside their range; the pixel leads back to the value", () => {
  assert.deepEqual(ticks({ low: -3, high: 11 }, 5), [0, 5, 10]);
  assert.deepEqual(ticks({ low: 0, high: 4095 }, 2), [0, 2000, 4000]); // never one alone
  assert.deepEqual(ticks({ low: 0.9, high: 60, log: true }), [1, 2, 5, 10, 20, 50]);
  assert.deepEqual(ticks({ low: 1e-10, high: 10, log: true }, 4), [1e-9, 1e-6, 1e-3, 1]);
  assert.equal(tickText(-0.5), "−0.5");
  assert.equal(tickText(-4000), "−4,000");
  assert.equal(tickText(1234.56), "1,234.56");
  assert.equal(tickText(0.001234), "0.001234");
  assert.equal(tickText(1e-9), "10⁻⁹");
  assert.equal(tickText(35000), "3.5×10⁴");
  assert.deepEqual(tickTexts([0, 5, 10, 15]), ["0", "5", "10", "15"]);
  assert.deepEqual(tickTexts([-0.5, 0, 0.5, 1]), ["−0.5", "0.0", "0.5", "1.0"]);
  assert.deepEqual(tickTexts([0, 3 * 0.1]), ["0.0", "0.3"]);
  assert.deepEqual(tickTexts([0.1, 1, 10], { log: true }), ["0.1", "1", "10"]);
  assert.deepEqual(tickTexts([0, 5000, 10000]), ["0", "5,000", "10⁴"]);
  const chart = { left: 40, width: 300, x: { low: 0.1, high: 100, log: true } };
  near(xAt(chart, xOf(chart, 7)), 7, 1e-9);
});

test("settings from a link are read within bounds", () => {
  assert.equal(whole("70", 0, 50, 3), 50);
  assert.equal(whole(undefined, 0, 50, 3), 3);
  assert.equal(whole("abc", 0, 50, 3), 3);
  assert.equal(small(-9.1962), "−9.20");
  assert.equal(small(0.0000038147), "+3.81×10⁻⁶");
  assert.equal(small(0), "0");
});

/** A head of eight channels of which `first` on are turned, in either layout. */
const partly = (first, pairs, interleaved) => ({
  ...llamaParts([1, 0.1, 0.01].slice(0, pairs), { scaling: 1.2, width: 8 }).rotary,
  first,
  interleaved,
});

test("a head that is turned in part is turned back, and gives the same q·k whatever its pairs' order", () => {
  const [a, b] = [wave(8, 0.7), wave(8, 1.1)];
  for (const [first, pairs, interleaved] of [
    [0, 2, true],
    [4, 2, true],
    [4, 2, false],
    [0, 3, true],
  ]) {
    const rotary = partly(first, pairs, interleaved);
    const model = { n_heads: 1, n_kv_heads: 1, head_dim: 8, parts: { ...llamaParts([1]), rotary, scale: 0.3 } };
    nearAll(turnBack(rotate(b, 5, rotary), 5, rotary), b, 1e-6);
    const stored = (vector, at) => ({
      shape: [1, 13, 8],
      data: Float32Array.from([...Array(13).keys()].flatMap((t) => (t === at ? [...vector] : Array(8).fill(0)))),
    });
    const whole = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
    const real = whole(rotate(a, 12, rotary), rotate(b, 5, rotary));
    for (const layer of [
      { q: stored(a, 12), k: stored(b, 5) },
      { q: stored(a, 12), k: null, kRot: stored(rotate(b, 5, rotary), 5) },
    ]) {
      const place = placeOf(layer, { trace: { model }, head: 0, query: 12, key: 5 });
      near(turning.product(place.q, place.k, 12, 5, place.frequencies) + place.rest, real, 1e-5);
      near(farOf(place, place.frequencies, 10)[7], real, 1e-5);
      near(scoreOf(place, 20, 7).scores[1], 0.3 * real, 1e-5);
      const { found } = layoutsOf(layer, { trace: { model }, head: 0, query: 12, key: 5 });
      for (const name of [0, 1]) near(found[name].product, real, 1e-5);
      assert.ok(Math.abs(found[2].product - real) > 1e-4);
    }
  }
});

test("what the fast and the slow pairs add to q·k over distance is all of it, the fast ones soon once around", () => {
  const inv_freq = Float64Array.of(1, (2 * Math.PI) / FAST, 0.01, 0.001);
  const place = { q: wave(8, 0.7), k: wave(8, 1.3), rest: 0.25 };
  const frequencies = { inv_freq, scaling: 1 };
  const { pairs, fast, slow } = fastAndSlow(place, frequencies, 200);
  assert.equal(pairs, 2);
  const alone = { q: place.q.map((value, i) => (i % 4 < 2 ? value : 0)), k: place.k, rest: 0 };
  nearAll(fast, farOf(alone, frequencies, 200), 1e-9);
  const all = farOf(place, frequencies, 200);
  nearAll(
    fast.map((value, i) => value + slow[i]),
    all,
    1e-9,
  );
});

test("a bias by distance has a slope where it falls by the same at each token", () => {
  const model = { parts: { bias: { shape: [2, 4], data: Float32Array.of(0, -0.5, -1, -1.5, 0, -1, -1.5, -2) } } };
  assert.deepEqual([slopeOf(model, 0), slopeOf(model, 1), slopeOf({ parts: { bias: null } }, 0)], [0.5, null, null]);
});

test("a stack whose mask hides the keys after a query has learned numbers for those before it alone", () => {
  const before = { shape: [3], data: Uint16Array.of(0, 1, 2) };
  const model = { parts: { buckets: { before, after: null } } };
  assert.deepEqual([bucketAt(model, 2), bucketAt(model, -2)], [2, null]);
});
