import assert from "node:assert/strict";
import { test } from "node:test";
import { question } from "../../visuals/static/panels/kv/question.js";
import { lookUp } from "../../visuals/static/texts.js";
import { wayOf } from "../../visuals/static/tour/keys.js";
import { openProgress } from "../../visuals/static/tour/progress.js";
import { offsetOf } from "../../visuals/static/tour/spotlight.js";
import { createTour } from "../../visuals/static/tour/tour.js";
import { createSettings } from "../../visuals/static/settings.js";
import { createStore } from "../../visuals/static/store.js";
import { pack, runMessage } from "./payload_help.js";
import { T, TABLES, at, foundIn, ramp, round, valuesOf, world } from "./tour_help.js";

const { STOPS } = await import("../../visuals/static/tour/stops.js");
const { createPlaces, placesOf } = await import("../../visuals/static/tour/places.js");
const { createReturn } = await import("../../visuals/static/tour/return.js");
const { TOURS, tourOf } = await import("../../visuals/static/tour/tours.js");

const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} ≠ ${b}`);

test("a tour goes on and back, ticks off what is left behind, and resumes where it was left", () => {
  let told = 0;
  const tour = createTour(["a", "b", "c"], {}, () => {
    told += 1;
  });
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

test("a stop is ticked off however one leaves it for another, and the end leads back to what was passed over", () => {
  const tour = createTour(["a", "b", "c", "d"], {}, () => {});
  tour.resume();
  tour.go("c");
  tour.go("c"); // to where one is: nothing is left behind
  assert.deepEqual([tour.isDone("a"), tour.isDone("c"), tour.ticked()], [true, false, 1]);
  tour.next();
  tour.next();
  assert.deepEqual([tour.at(), tour.last(), tour.ticked()], [-1, 1, 3]);
  tour.resume();
  tour.back();
  assert.deepEqual([tour.at(), tour.isDone("b")], [0, false]);
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
  const refused = openProgress(() => {
    throw new Error("no storage in this frame");
  });
  refused.set("word", { last: "", done: "x" });
  assert.deepEqual(refused.get("word"), { last: "", done: "x" });
});

test("a stop's name is one of all tours and none is a tour's, as a link names the stop alone", () => {
  const names = TOURS.flatMap(({ name, stops }) => [name, ...stops.map((stop) => stop.name)]);
  assert.equal(new Set(names).size, names.length);
  for (const { name, stops } of TOURS)
    for (const one of [name, ...stops.map((stop) => stop.name)]) assert.equal(tourOf(one).name, name);
});

test("keys belong to the tour, but not in a field, on a chart, or where Space presses", () => {
  const on = (selectors = []) => ({
    closest: (list) => selectors.some((one) => list.split(", ").includes(one)) || null,
  });
  const way = (key, target = on(), more = {}) => wayOf({ key, target, ...more });
  assert.deepEqual(
    ["ArrowRight", " ", "ArrowLeft", "Escape", "x"].map((key) => way(key)),
    ["next", "next", "back", "leave", null],
  );
  assert.equal(way(" ", on(["button"])), null);
  assert.equal(way("ArrowRight", on(["button"])), "next");
  for (const own of ["input", "textarea", "canvas", "dialog"]) assert.equal(way("Escape", on([own])), null);
  assert.equal(way("ArrowRight", on(), { altKey: true }), null);
});

test("what is spoken of stands above the bar, below as much as fits from where something begins", () => {
  const starts = [500, 640, 900];
  assert.equal(offsetOf({ top: 700, height: 100 }, starts, 400), 492); // with the head of its panel
  assert.equal(offsetOf({ top: 900, height: 100 }, starts, 400), 632); // with the section before it
  assert.equal(offsetOf({ top: 900, height: 300 }, starts, 400), 892); // alone
  assert.equal(offsetOf({ top: 900, height: 700 }, starts, 400), 892); // higher than the room: from its top
  // far below all that begins: at the end of the room
  assert.equal(offsetOf({ top: 1400, height: 30 }, starts, 400), 1038);
});

test("a tour that is left puts back what it has set and switched off, and nothing else", () => {
  const store = createStore();
  store.publish({ ...runMessage([5, 6, 5]), changes: {} });
  const settings = createSettings(store, { rope: { both: "7" }, lens: { follow: "top" } });
  const asked = [];
  const gone = [];
  const way = createReturn({
    settings,
    state: store.state,
    on: store.on,
    change: (changes) => asked.push(changes),
    way: { here: () => "where it began", goTo: (place) => gone.push(place) },
  });
  way.keep();
  way.during(() => settings.set("rope", { both: 0 }));
  settings.set("rope", { both: 100 }); // by the reader, as the stop asks
  settings.set("lens", { follow: "" }); // by the reader, elsewhere
  way.during(() => {}, {
    heads: [
      [1, 2],
      [0, 1],
    ],
  });
  store.publish({
    ...runMessage([5, 6, 5], { id: "off" }),
    changes: {
      heads: [
        [1, 2],
        [0, 1],
      ],
    },
  });
  way.bring();
  assert.deepEqual(
    [settings.get("rope"), settings.get("lens"), asked, gone],
    [{ both: "7" }, {}, [{}], ["where it began"]],
  );
  way.keep(); // the heads were off before this one
  way.during(() => {}, {
    heads: [
      [1, 2],
      [0, 1],
    ],
  });
  way.bring();
  assert.equal(asked.length, 1);
});

test("the stop on matching names the term, and what each of them carried", () => {
  const numbers = valuesOf(at("match", world()));
  // a row is the query's writer, a column the key's
  assert.deepEqual([numbers.n_terms, numbers.key_value, numbers.query_value], [4, 1.5, 3.5]);
  assert.deepEqual(
    [numbers.rival, numbers.score, numbers.other_rival, numbers.told.includes("head 1 of layer 0")],
    ["“6”", 2.5, "0.7500", true],
  );
});

test("what a tour leads to is what was measured", () => {
  const found = foundIn(world());
  assert.deepEqual(found.head, { layer: 1, head: 2, key: 0, without: 0.3 });
  assert.deepEqual(
    [found.heads, found.without],
    [
      [
        [1, 2],
        [0, 1],
      ],
      0.2,
    ],
  );
  const nobody = placesOf(
    { ...found.found, look: { key: 1, heads: [], without: 0.6, by_chance: [] } },
    world().glass.state,
  );
  assert.deepEqual([nobody.heads, nobody.without], [[[1, 2]], 0.3]);
  const none = placesOf(
    { ...found.found, first: null, parts: [], look: { key: 2, heads: [], without: 0.6, by_chance: [] } },
    world().glass.state,
  );
  assert.deepEqual([none.heads, none.without, none.head.without], [[], null, null]);
});

test("every stop's texts stand in both languages and have a number for every place", async () => {
  const fill = (key, numbers) =>
    Object.values(TABLES).map((table) =>
      lookUp(table, key, Object.fromEntries(Object.entries(numbers).map(([name, one]) => [name, one.text]))),
    );
  const made = world();
  question(made.glass);
  await new Promise((done) => setTimeout(done)); // until the calculator has its answer
  for (const { section, stops } of TOURS) {
    for (const { name } of stops) {
      const { numbers, act, say = "", asks = say, answers = asks } = at(name, made);
      for (const [part, more] of [
        ["says", say],
        ["asks", asks],
        ["answers", answers],
      ]) {
        for (const said of fill(`${section}.${name}_${part}${more}`, numbers))
          assert.ok(!/[{}]|undefined|NaN|^tour[a-z-]*\./.test(said), `${name}: ${said}`);
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
  const turn = (x, position) =>
    x.map((value, i) => {
      const [pair, other] = [i % 2, i < 2 ? -x[i + 2] : x[i - 2]];
      return value * Math.cos(position * frequencies[pair]) + other * Math.sin(position * frequencies[pair]);
    });
  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
  // head 2 reads K/V head 1
  const scores = [0, 1, 2].map((t) => dot(turn(vector(q, 2, 2), 2), turn(vector(k, 1, t), t)) / 2);
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
  assert.match(rope.scored, /^The score is q·k divided .* (\S+) \/ √4 = (\S+)\.$/);
  const [, whole, part] = rope.scored
    .replaceAll("−", "-")
    .match(/(\S+) \/ √4 = (\S+)\.$/)
    .map(Number);
  assert.ok(Math.abs(whole - 2 * scores[0]) < 1e-4 && Math.abs(part - scores[0]) < 1e-4);
  assert.match(valuesOf(at("head", made)).sink, /the first token.*attention sink/); // it looks at token 0
  const project = valuesOf(at("project", made));
  assert.equal(project.value, vector(q, 2, 2)[project.channel]);
  assert.equal(Math.abs(project.value), Math.max(...vector(q, 2, 2).map(Math.abs)));
  assert.equal(project.together, "2, 3");
  const shares = (n_kv_heads) => {
    const other = world();
    Object.assign(other.glass.state.trace.model, { n_kv_heads });
    // a key vector for every head there may be
    other.glass.state.trace.layers.get(1).k = other.glass.state.trace.layers.get(1).q;
    return at("project", other);
  };
  assert.deepEqual(
    [4, 2, 1].map((count) => [shares(count).asks, shares(count).answers]),
    [
      ["_alone", "_alone"],
      ["", ""],
      ["", "_one"],
    ],
  );
  assert.equal(valuesOf(shares(4)).n_kept, 2 * 4 * 4);
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
  assert.deepEqual([ffn.layer, ffn.neuron, ffn.adds], [1, 3, 0.4]); // not the one that takes more away
  assert.match(ffn.effect, /raises “a” most\. .* \+1\.00 together, those of all layers \+3\.25/);
  const puzzling = world();
  puzzling.answers.ffn_written.rows[0].raised[0] = { id: 2, piece: "=", by: 0.2 };
  assert.match(valuesOf(at("ffn", puzzling)).effect, /raises most is another, “=” \(\+0\.200\)/);
  const lens = valuesOf(at("lens", made));
  assert.deepEqual([lens.first, lens.rank, lens.n_adds, made.glass.state.locked.layer], [2, 5, 8, 0]);
  const logits = valuesOf(at("logits", made));
  near(
    logits.heads,
    [...round(ramp(48, 0.3))].reduce((a, b) => a + b, 0),
  );
  const choice = valuesOf(at("choice", made));
  near(choice.ratio, choice.p_one / choice.p_two);
  near(choice.p_one + choice.p_two + choice.p_others, Math.exp(-0.5) + Math.exp(-1.5) + 0.2);
  const off = at("off", made);
  assert.deepEqual([off.numbers.without.value, off.numbers.chance.value, off.act.text], [0.2, 0.55, "off_act"]);
});

test("of a changed run the stop on logits speaks of its own answer, as the panel does", () => {
  const made = world();
  made.store.publish({
    ...runMessage([5, 6, 5]),
    id: "changed",
    changes: { heads: [[1, 2]] },
    next: { ids: [4, 1], pieces: [" new", " a"], logits: pack([2, 1]), log_z: 2.5, vocab_size: 9, tail: 0.2 },
  });
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
