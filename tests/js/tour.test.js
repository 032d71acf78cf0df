import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { decodeAll } from "../../visuals/static/decode.js";
import { createStore } from "../../visuals/static/store.js";
import { lookUp } from "../../visuals/static/texts.js";
import { wayOf } from "../../visuals/static/tour/keys.js";
import { question } from "../../visuals/static/panels/kv/question.js";
import { offsetOf } from "../../visuals/static/tour/spotlight.js";
import { openProgress } from "../../visuals/static/tour/progress.js";
import { createTour } from "../../visuals/static/tour/tour.js";
import { pack, runMessage } from "./payload_help.js";

globalThis.requestAnimationFrame = () => {};
globalThis.ResizeObserver = class {};
const { STOPS } = await import("../../visuals/static/tour/stops.js");
const { createPlaces, placesOf } = await import("../../visuals/static/tour/places.js");
const { TOURS, tourOf } = await import("../../visuals/static/tour/tours.js");
const { hasLog, leapOf } = await import("../../visuals/static/tour/learned.js");

const TABLES = Object.fromEntries(["en", "zh"].map((code) => [code, JSON.parse(readFileSync(new URL(`../../app/${code}.json`, import.meta.url), "utf8"))]));

test("a tour goes on and back, ticks off what is left behind, and resumes where it was left", () => {
  let told = 0;
  const tour = createTour(["a", "b", "c"], {}, () => { told += 1; });
  tour.next(); // not begun
  assert.deepEqual([tour.at(), told], [-1, 0]);
  tour.resume();
  tour.back();
  tour.next();
  assert.deepEqual([tour.at(), tour.isDone("a"), tour.isDone("b"), told], [1, true, false, 2]);
  tour.leave();
  assert.deepEqual(tour.saved(), { last: "b", done: "a" });
  const later = createTour(["a", "b", "c"], tour.saved(), () => {});
  later.resume();
  assert.deepEqual([later.at(), later.isDone("a")], [1, true]);
  later.next();
  later.next(); // past the end
  assert.deepEqual([later.at(), later.saved().done, later.last()], [-1, "a.b.c", 0]);
  later.resume();
  assert.deepEqual([later.at(), later.saved().done], [0, ""]);
});

test("what is saved wrongly is passed over, and so is a stop that is not there", () => {
  const tour = createTour(["a", "b"], { last: "constructor", done: "a.x.__proto__" }, () => {});
  assert.deepEqual([tour.at(), tour.last(), tour.saved()], [-1, 0, { last: "", done: "a" }]);
  tour.go("b");
  tour.go("nothing");
  assert.equal(tour.at(), 1);
});

test("how far one has come is kept in the browser by tour; one that keeps nothing does no harm", () => {
  const held = new Map();
  const storage = { getItem: (name) => held.get(name) ?? null, setItem: (name, value) => held.set(name, value) };
  openProgress(() => storage).set("cache", { last: "b", done: "a" });
  const later = openProgress(() => storage);
  assert.deepEqual([later.get("cache"), later.get("word")], [{ last: "b", done: "a" }, {}]);
  for (const broken of ["[", "null", "7", '{"cache":null}', '{"cache":{"last":{},"done":3}}']) {
    held.set("glass.tours", broken);
    const { last = "", done = "" } = openProgress(() => storage).get("cache");
    assert.deepEqual([last, done], ["", ""], broken);
  }
  const refused = openProgress(() => { throw new Error("no storage in this frame"); });
  refused.set("word", { last: "", done: "x" });
  assert.deepEqual(refused.get("word"), { last: "", done: "x" });
});

test("a stop's name is one of all tours and none is a tour's, as a link names the stop alone", () => {
  const names = TOURS.flatMap(({ name, stops }) => [name, ...stops.map((stop) => stop.name)]);
  assert.equal(new Set(names).size, names.length);
  for (const { name, stops } of TOURS) for (const one of [name, ...stops.map((stop) => stop.name)]) assert.equal(tourOf(one).name, name);
});

test("keys belong to the tour, but not in a field, on a chart, or where Space presses", () => {
  const on = (selectors = []) => ({ closest: (list) => selectors.some((one) => list.split(", ").includes(one)) || null });
  const way = (key, target = on(), more = {}) => wayOf({ key, target, ...more });
  assert.deepEqual(["ArrowRight", " ", "ArrowLeft", "Escape", "x"].map((key) => way(key)), ["next", "next", "back", "leave", null]);
  assert.equal(way(" ", on(["button"])), null);
  assert.equal(way("ArrowRight", on(["button"])), "next");
  for (const own of ["input", "textarea", "canvas", "dialog"]) assert.equal(way("Escape", on([own])), null);
  assert.equal(way("ArrowRight", on(), { altKey: true }), null);
});

test("what is spoken of stands above the bar, with its panel's head where there is room", () => {
  assert.equal(offsetOf({ top: 900, height: 100 }, { top: 500, height: 2000 }, 400), 750); // in the middle of the room
  assert.equal(offsetOf({ top: 520, height: 100 }, { top: 500, height: 2000 }, 400), 492); // not above its panel
  assert.equal(offsetOf({ top: 900, height: 700 }, { top: 500, height: 2000 }, 400), 892); // from its top
  assert.equal(offsetOf({ top: 900, height: 50 }, { top: 800, height: 300 }, 400), 792); // the whole panel fits
});

const T = 3;
const skill = (name, y) => ({ name: `text:training.skill_${name}`, x: [0.5, 1, 1.5, 2].slice(0, y.length), y });
/** A training of two stages: induction leaps at 1.5 million tokens, counting is there at once, pronouns never come. */
const TRAINING = {
  stages: [{ number: 1, name: "text:training.stage_patterns", tokens: 0 }, { number: 2, name: "my own", tokens: 1e6 }],
  log: [["patterns", 0.5e6, 2, 3.0], ["patterns", 1e6, 2, 2.0], ["my own", 1.5e6, 2, 1.5], ["my own", 2e6, 2, 1.0]],
  answers: { data: [skill("induction", [0.1, 0.2, 0.95, 0.9]), skill("counting", [0.9, 0.2, 1, 1]), skill("pronouns", [0, 0.1, 0.2, 0.3]), skill("recall", [])] },
  measured: [{ name: "induction", language: "en", right: 190, cases: 200, bar: 0.98 }, { name: "free stories", language: "zh", right: 150, cases: 200, bar: 0.95 }, { name: "recall", language: "en", right: 200, cases: 200, bar: 0.95 }],
};
const ramp = (count, from = 0.1, by = 0.07) => Array.from({ length: count }, (_, i) => Math.sin(from + by * i * i));
const round = (array) => Float32Array.from(array);

/** A run of three tokens with values everywhere, and the server's answers about it. */
function world({ changes = {}, id = "r" } = {}) {
  const q = ramp(4 * T * 4), k = ramp(2 * T * 4, 0.4, 0.11);
  const gate = ramp(6, 0.3, 0.5), up = ramp(6, 1, 0.3);
  const layer = {
    kind: "layer", run: id, layer: 1, q: pack(q, [4, T, 4]), k: pack(k, [2, T, 4]),
    top: { neuron: pack([3, 1, 3, 1, 3, 1], [T, 2], "u2"), gate: pack(ramp(6), [T, 2]), up: pack(ramp(6), [T, 2]) },
    neurons: { kind: "neurons", run: id, layer: 1, token: 2, gate: pack(gate), up: pack(up) },
  };
  const store = createStore();
  const message = runMessage([5, 6, 5], { layer, id, changes });
  Object.assign(message.model, { vocab_size: 9, d_model: 4, norm_eps: 1e-5, max_context: 64, attention_scaling: 1, dtype: "float32", device: "CPU", n_parameters: 500 });
  store.publish(message);
  const part = (kind, index, without, more) => ({ kind, layer: 1, index, without, loss: 1, ...more });
  const answers = {
    why: {
      target: 1, piece: " a", position: 2, probability: 0.6, first: { layer: 1, head: 2, key: 0, weight: 0.7 },
      look: { key: 0, heads: [{ layer: 1, head: 2, weight: 0.7 }, { layer: 0, head: 1, weight: 0.6 }], without: 0.2, by_chance: [0.5, 0.55, 0.58] },
      parts: [part("head", 2, 0.3, { head: 2, key: 0, weight: 0.7 }), part("neuron", 3, 0.4)],
    },
    norm_vectors: { before: pack(ramp(T * 4, 0.9), [T, 4]), gamma: pack([1, 2, 0.5, 1.5]) },
    values: { v: pack(ramp(2 * T * 4, 0.2), [2, T, 4]) },
    head_write: { written: pack([3, 4, 0, 0]), stream: pack([0, 6, 8, 0]) },
    logit_terms: { heads: pack(ramp(4 * 4 * T, 0.3), [4, 4, T]), logit: 2.5, total: 2.5, neurons: [], embedding: 0, patched: 0 },
    ffn_written: { rows: [{ neuron: 3, norm: 0.7, column: 1, raised: [{ id: 1, piece: " a", by: 0.2 }], lowered: [] }], rest: 0, whole: 1 },
    lens: {
      ids: pack([...Array(T * 3).fill(2), ...Array(T * 2).fill(1)].flatMap((one) => [one, 3]), [5, T, 2], "i4"), targets: pack([1, 1, 1], [T], "i4"),
      rank: pack([...Array(T * 3).fill(4), ...Array(T * 2).fill(0)], [5, T], "i4"), probability: pack(Array.from({ length: 5 * T }, (_, i) => i / 20), [5, T]),
      names: { ids: [1, 2, 3], pieces: [" a", " b", " c"] },
    },
    kv_live: { tokens: T, bytes: 768, kinds: ["MHA", "GQA", "MQA", "MLA"].map((kind, i) => ({ kind, own: i === 1, bytes: String(512 >> i), latent: i === 3 ? [16, 2] : null })) },
    training: TRAINING,
    head_names: { kinds: [{ name: "induction", prompt: "a b a", prompts: { en: "x y x" }, best: [] }] },
  };
  const card = { name: "Big", n_layers: 32, n_heads: 32, n_kv_heads: 8, head_dim: 128 };
  const calculated = {
    kv: ({ tokens }) => ({ model: "Big", tokens, batch: 1, dtype: "bf16", per_token: "131072", bytes: String(131072 * tokens), card, kinds: [{ kind: "MHA", bytes: String(4 * 131072 * tokens) }], terms: [] }),
    kv_models: () => ({ models: [card], formats: [], families: [] }),
  };
  const settings = {};
  const glass = {
    state: store.state,
    settings: { get: (name) => settings[name] ?? {}, set: (name, values) => { settings[name] = values; } },
    detail(what, params = {}, { details } = store.state.trace) {
      const key = `${what} ${JSON.stringify(params)}`;
      if (!details.has(key) && answers[what]) details.set(key, decodeAll(answers[what]));
      return details.get(key) ?? null;
    },
    change: () => {}, repaint() {}, select: store.select, text: (key, params) => lookUp(TABLES.en, key, params),
    calculate: async (what, params) => ({ data: calculated[what](params) }),
  };
  return { glass, store, answers, raw: { q: round(q), k: round(k), gate: round(gate), up: round(up) } };
}

const foundIn = ({ glass, answers }) => placesOf(decodeAll(answers.why), glass.state);
const at = (name, made) => {
  const tour = tourOf(name);
  const stop = tour.stops.find((one) => one.name === name);
  const found = tour.places ? foundIn(made) : made.glass.state.trace;
  made.store.select(stop.select(found, made.glass));
  return stop.told(made.glass, found);
};
const valuesOf = (told) => Object.fromEntries(Object.entries(told.numbers).map(([name, { value }]) => [name, value]));
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} ≠ ${b}`);

test("what a tour leads to is what was measured", () => {
  const found = foundIn(world());
  assert.deepEqual(found.head, { layer: 1, head: 2, key: 0, without: 0.3 });
  assert.deepEqual([found.neuron, found.heads, found.without], [{ layer: 1, index: 3, without: 0.4 }, [[1, 2], [0, 1]], 0.2]);
  const nobody = placesOf({ ...found.found, look: { key: 1, heads: [], without: 0.6, by_chance: [] } }, world().glass.state);
  assert.deepEqual([nobody.heads, nobody.without], [[[1, 2]], 0.3]);
  const none = placesOf({ ...found.found, first: null, parts: [], look: { key: 2, heads: [], without: 0.6, by_chance: [] } }, world().glass.state);
  assert.deepEqual([none.heads, none.without, none.neuron, none.head.without], [[], null, null, null]);
});

test("every stop's texts stand in both languages and have a number for every place", async () => {
  const fill = (key, numbers) => Object.values(TABLES).map((table) => lookUp(table, key, Object.fromEntries(Object.entries(numbers).map(([name, one]) => [name, one.text]))));
  const made = world();
  question(made.glass);
  await new Promise((done) => setTimeout(done)); // until the calculator has its answer
  for (const { section, stops } of TOURS) {
    for (const { name } of stops) {
      const { numbers, act, say = "", asks = say, answers = asks } = at(name, made);
      for (const [part, more] of [["says", say], ["asks", asks], ["answers", answers]]) {
        for (const said of fill(`${section}.${name}_${part}${more}`, numbers)) assert.ok(!/[{}]|undefined|NaN|^tour[a-z-]*\./.test(said), `${name}: ${said}`);
      }
      if (act) for (const table of Object.values(TABLES)) assert.ok(table[section][act.text], act.text);
    }
    // Also what this run does not show: every variant of a stop is written for the numbers that the stop gives.
    for (const [key, said] of Object.entries(TABLES.en[section])) {
      const [, name] = /^([a-z]+)_(says|asks|answers)/.exec(key) ?? [];
      if (!name) continue;
      const { numbers } = at(name, made);
      for (const [, used] of said.matchAll(/\{(\w+)/g)) assert.ok(Object.hasOwn(numbers, used), `${key}: {${used}}`);
    }
  }
});

test("the numbers of the stops are those of the run's arrays, worked out another way", () => {
  const made = world();
  const { q, k, gate, up } = made.raw;
  const frequencies = [1, Math.fround(0.1)];
  const vector = (data, head, t) => [...data.subarray((head * T + t) * 4, (head * T + t) * 4 + 4)];
  const turn = (x, position) => x.map((value, i) => {
    const [pair, other] = [i % 2, i < 2 ? -x[i + 2] : x[i - 2]];
    return value * Math.cos(position * frequencies[pair]) + other * Math.sin(position * frequencies[pair]);
  });
  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
  const scores = [0, 1, 2].map((t) => dot(turn(vector(q, 2, 2), 2), turn(vector(k, 1, t), t)) / 2); // head 2 reads K/V head 1
  const powers = scores.map(Math.exp);
  const weights = powers.map((one) => one / powers.reduce((a, b) => a + b, 0));
  const soft = valuesOf(at("softmax", made));
  near(soft.score, scores[0]);
  near(soft.weight, weights[0]);
  near(soft.other_weight, Math.max(weights[1], weights[2]));
  near(soft.ratio, Math.max(weights[0], soft.other_weight) / Math.min(weights[0], soft.other_weight));
  near(valuesOf(at("head", made)).weight, weights[0]);
  const rope = valuesOf(at("rope", made));
  near(rope.before, dot(vector(q, 2, 2), vector(k, 1, 0)));
  assert.ok(Math.abs(rope.sum - 2 * scores[0]) < 1e-5 && Math.abs(rope.moved - rope.sum) < 1e-4);
  const project = valuesOf(at("project", made));
  assert.deepEqual([project.q_0, project.k_1], [vector(q, 2, 2)[project.pair], vector(k, 1, 0)[project.pair + 2]]);
  assert.equal(project.together, "2, 3");
  const embedding = at("embedding", made);
  assert.deepEqual([embedding.answers, embedding.numbers.alike.value], ["_more", "0"]);
  const x = round(ramp(12, 0.9)).slice(8);
  const root = Math.sqrt(dot([...x], [...x]) / 4 + 1e-5);
  const norm = valuesOf(at("norm", made));
  near(norm.rms, root);
  near(norm.product, (x[norm.channel] / root) * [1, 2, 0.5, 1.5][norm.channel]);
  const carry = valuesOf(at("carry", made));
  const v = round(ramp(24, 0.2)).slice(12, 16);
  near(carry.carried, weights[0] * Math.hypot(...v));
  assert.deepEqual([carry.written, carry.stream, carry.share], [5, 10, 50]);
  near(carry.term, round(ramp(48, 0.3))[(1 * 4 + 2) * 3]);
  const ffn = valuesOf(at("ffn", made));
  near(ffn.product, (gate[3] / (1 + Math.exp(-gate[3]))) * up[3]);
  near(ffn.turned_product, (-gate[3] / (1 + Math.exp(gate[3]))) * up[3]);
  const lens = valuesOf(at("lens", made));
  assert.deepEqual([lens.first, lens.rank, lens.n_adds, made.glass.state.locked.layer], [2, 5, 8, 2]);
  const logits = valuesOf(at("logits", made));
  near(logits.heads, [...round(ramp(48, 0.3))].reduce((a, b) => a + b, 0));
  const choice = valuesOf(at("choice", made));
  near(choice.ratio, choice.p_one / choice.p_two);
  near(choice.p_one + choice.p_two + choice.p_others, Math.exp(-0.5) + Math.exp(-1.5) + 0.2);
  const off = at("off", made);
  assert.deepEqual([off.numbers.without.value, off.numbers.chance.value, off.act.text], [0.2, 0.55, "off_act"]);
});

test("the stops of the cache say what the run's shape gives, and what was measured", async () => {
  const made = world();
  made.glass.settings.set("kv", {});
  const kept = valuesOf(at("kept", made));
  assert.deepEqual([kept.cell, kept.cells, kept.total, kept.per_token], [2 * 2 * 4 * 4, 4 * T, 4 * T * 64, 4 * 64]); // 4 layers, 2 K/V heads of 4 numbers of 4 bytes
  const asked = valuesOf(at("query", made));
  assert.deepEqual([asked.query, asked.percent, asked.next], [4 * 4 * 4 * 4, 100, 3]);
  const grows = valuesOf(at("grows", made));
  assert.deepEqual([grows.total, grows.measured, grows.full], [768, 768, 64 * 256]);
  const shares = valuesOf(at("shares", made));
  assert.deepEqual([shares.group, shares.ratio, shares.mha, shares.gqa, shares.mla, shares.both, shares.rows], [2, 2, 512, 256, 64, 18, 16]);
  const saves = valuesOf(at("saves", made));
  const weights = 4 * (2 * 4 * 16 + 2 * 4 * 8 + 3 * 4 * 6); // of each layer: q and o, k and v, gate, up and down
  const head = 9 * 4;
  assert.deepEqual([saves.cached_work, saves.full_work], [weights + head + 4 * 4 * 8 * T, T * weights + head + 4 * 4 * 8 * 6]);
  assert.equal(at("saves", made).answers, "");
  assert.equal(at("decode", made).say, "");
  const written = { ...runMessage([5, 6, 5, 8]), n_prompt: 3, id: "written" };
  Object.assign(written.model, { d_model: 4, vocab_size: 9, dtype: "float32", device: "CPU" });
  made.store.publish(written);
  const decode = at("decode", made);
  assert.deepEqual([decode.say, decode.numbers.held.value, decode.numbers.wrote.value, decode.numbers.read.value], ["_done", 4, 256, 1024]);
});

test("what is predicted is what the calculator says when the tokens are set", async () => {
  const made = world();
  question(made.glass);
  await new Promise((done) => setTimeout(done));
  const before = at("predict", made);
  before.act.run();
  assert.equal(at("predict", made), null); // asked anew
  await new Promise((done) => setTimeout(done));
  const after = at("predict", made);
  assert.deepEqual([before.say, after.say], ["", "_there"]);
  assert.deepEqual([after.numbers.tokens.value, after.numbers.bytes.value], [before.numbers.next.value, before.numbers.next_bytes.value]);
  assert.equal(after.numbers.mha.text, "16 GiB");
  tourOf("predict").stops.at(-1).set(made.glass); // who comes to the stop again begins again
  await new Promise((done) => setTimeout(done));
  assert.equal(at("predict", made).say, "");
});

test("the stops of how it learned say what stands in the log, by the names of its own stages", () => {
  const made = world();
  assert.equal(hasLog(made.glass), true);
  assert.equal(at("corpus", made).numbers.stages.text, `${TABLES.en.training.stage_patterns}, my own`);
  assert.equal(valuesOf(at("corpus", made)).each, 4000);
  const loss = valuesOf(at("loss", made));
  assert.deepEqual([loss.first, loss.last, loss.p_last, loss.blind], [3, 1, Math.exp(-1), Math.log(9)]);
  const skills = at("skills", made);
  assert.deepEqual([skills.answers, skills.numbers.n_skills.value], ["_some", 3]); // one of the four was never looked at
  assert.match(skills.numbers.known.value, /^counting after 0\.500 million.*patterns.*; induction after 1\.50 million.*my own/);
  assert.match(skills.numbers.never.value, /^pronouns \(30\.0 %\)$/);
  const leap = at("induction", made);
  assert.deepEqual([leap.say, leap.numbers.before.value, leap.numbers.share.value, leap.numbers.end.value], ["", 0.2, 0.95, 0.9]);
  assert.deepEqual(leapOf({ tokens: [1, 2], shares: [0.8, 0.9] }), { from: null, to: { tokens: 1, share: 0.8 }, end: { tokens: 2, share: 0.9 } });
  const cannot = valuesOf(at("cannot", made));
  assert.deepEqual([cannot.met, cannot.n_short, cannot.skill, cannot.right, cannot.wrong], [1, 2, TABLES.en.training["skill_free stories"], 150, 25]);
  assert.equal(at("attempt", made).numbers.sequence.text, "x y x");
  for (const none of [{ ...TRAINING, log: [] }, { ...TRAINING, answers: null }]) {
    const other = world();
    other.answers.training = none;
    assert.equal(hasLog(other.glass), false);
  }
  const waiting = world();
  delete waiting.answers.training;
  assert.equal(hasLog(waiting.glass), null);
});

test("of a changed run the stop on logits speaks of its own answer, as the panel does", () => {
  const made = world();
  made.store.publish({ ...runMessage([5, 6, 5]), id: "changed", changes: { heads: [[1, 2]] }, next: { ids: [4, 1], pieces: [" new", " a"], logits: pack([2, 1]), log_z: 2.5, vocab_size: 9, tail: 0.2 } });
  assert.equal(at("logits", made).numbers.answer.value, " new");
  assert.ok(made.glass.state.trace.details.has('logit_terms {"token":2,"target":4,"against":null}'));
});

test("of a changed run the tour keeps the places of the run that it was before", () => {
  const made = world();
  const places = createPlaces(made.glass);
  const first = places();
  made.store.publish({ ...runMessage([5, 6, 5]), id: "changed", changes: { heads: [[1, 2]] } });
  assert.equal(places(), first);
  assert.equal(STOPS.at(-1).told(made.glass, places()).say, "_changed");
  made.store.publish({ ...runMessage([5, 6, 7, 8]), id: "other" });
  made.answers.why = { ...made.answers.why, position: 3 };
  assert.notEqual(places(), first);
});
