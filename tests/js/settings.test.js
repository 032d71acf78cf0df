// Whatever a link sets, every reader of a setting gives something that the page can draw.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFetching } from "../../visuals/static/fetching.js";
import { readLink, writeLink } from "../../visuals/static/link.js";
import { chosenView } from "../../visuals/static/panels/attend/head-map.js";
import { otherHead } from "../../visuals/static/panels/attend/other-head.js";
import { opened } from "../../visuals/static/panels/ffn/neuron-map.js";
import { FIRST, createQuestion, requestOf } from "../../visuals/static/panels/kv/question.js";
import { placeOf } from "../../visuals/static/panels/kv/fields.js";
import { chosenChannel, chosenNorm } from "../../visuals/static/panels/norm/norm-choice.js";
import { settingsOf as scalingOf } from "../../visuals/static/panels/norm/scale-settings.js";
import { whole } from "../../visuals/static/panels/position/place.js";
import { settingsOf as ropeOf } from "../../visuals/static/panels/position/scaling-controls.js";
import { within } from "../../visuals/static/readings/rope-scaling.js";
import { samplingOf } from "../../visuals/static/sampling.js";
import { createSettings, only } from "../../visuals/static/settings.js";
import { createStore } from "../../visuals/static/store.js";
import { lookUp } from "../../visuals/static/texts.js";
import { llamaParts } from "./parts_help.js";

const HOSTILE = [
  "",
  " ",
  "constructor",
  "__proto__",
  "toString",
  "hasOwnProperty",
  "<b>x</b>",
  "-1",
  "-0",
  "0.5",
  "1.5",
  "2.5",
  "1e3",
  "1e999",
  "-1e999",
  "1e-320",
  "NaN",
  "Infinity",
  "0x10",
  "١٢",
  "９",
  "999999999999999",
  "9".repeat(400),
  "9007199254740993",
  "null",
  "undefined",
  "[]",
  "{}",
  "true",
  "none",
  ":config",
  ":hub",
  "a|b|constructor",
  "\ud800",
  "\u0000",
  "文字 & #=%",
  "x".repeat(100_001),
];
const NAMES = {
  sampling: ["temperature", "top_k", "top_p", "seed"],
  norm: ["which", "scale", "shift", "flip", "channel"],
  rope: ["factor", "method", "reach", "both", "distance", "span"],
  difference: ["layer", "head"],
  cell: ["view"],
  ffn: ["view"],
  kv: ["model", "tokens", "batch", "dtype", "mtp", "what", "constructor", "__proto__"],
  kvfit: ["gpu", "tokens"],
  constructor: ["name"],
  prototype: ["x"],
};
const model = { n_layers: 3, n_heads: 4, rope_scaling: null, parts: llamaParts([1]) };

/** What a page has that was opened with every setting at one value. */
function page(value) {
  const fields = Object.entries(NAMES).flatMap(([panel, names]) => names.map((name) => [`${panel}.${name}`, value]));
  const store = createStore();
  const { settings: linked } = readLink(`#${new URLSearchParams([...fields, ["__proto__.x", value]])}`);
  return {
    linked,
    settings: createSettings(store, linked),
    state: { ...store.state, trace: { model, T: 5 }, locked: { layer: 1, head: 3 } },
  };
}

const inside = (value, low, high, what) => assert.ok(value >= low && value <= high, `${what}: ${value}`);

test("every setting is checked where it is read", () => {
  for (const value of HOSTILE) {
    const glass = page(value);
    const said = JSON.stringify(value.slice(0, 30));
    const { temperature, top_k: topK, top_p: topP, seed } = samplingOf(glass.settings);
    inside(temperature, 0, 2, said);
    inside(topK, 0, 100, said);
    inside(topP, 0, 1, said);
    inside(seed, 0, Number.MAX_SAFE_INTEGER, said);
    assert.ok(Number.isInteger(topK) && Number.isInteger(seed), said);
    assert.ok(["attn", "ffn", "final"].includes(chosenNorm(glass)), said);
    const channel = chosenChannel(glass, 8);
    assert.ok(channel === null || [0, 1, 2, 3, 4, 5, 6, 7].includes(channel), said);
    const { exponent, share, a } = scalingOf(glass);
    inside(exponent, -4, 4, said);
    inside(share, -3, 3, said);
    assert.ok(Number.isFinite(a), said);
    const other = otherHead(glass);
    assert.ok([0, 1, 2].includes(other.layer) && [0, 1, 2, 3].includes(other.head), said);
    assert.ok(["scores", "weights", "weighted"].includes(chosenView(glass)), said);
    assert.equal(opened(glass), false, said);
    const answer = { original: 16, methods: [{ name: "none" }, { name: "linear" }] };
    const set = ropeOf(glass);
    const { factor } = set;
    const { method, distance } = within(answer, false, set);
    assert.ok([2, 4, 8, 16, 32].includes(factor) && ["linear", "dynamic", "yarn", "llama3"].includes(method), said);
    inside(distance, 0, 16 * factor - 1, said);
    const { both } = glass.settings.get("rope");
    assert.ok([0, 1, 2, 3, 4].includes(whole(both, 0, 4, 2)), said);
    inside(placeOf([1, 2, 4], Number(value)), 0, 2, said);
  }
});

test("a setting that a panel has not changes nothing", () => {
  for (const value of HOSTILE) {
    const asked = [];
    const calculate = async (what, params) => {
      asked.push({ what, params });
      return { message: { code: "x" } };
    };
    const { settings } = createQuestion({ ...page(value), calculate, on: () => {}, repaint: () => {} });
    const plain = JSON.stringify(value);
    assert.deepEqual(
      Object.keys(settings).filter((name) => !["model", "tokens", "batch", "dtype", "mtp"].includes(name)),
      [],
      plain,
    );
    assert.equal(Object.getPrototypeOf(requestOf(settings)), Object.prototype);
    assert.equal(settings.model, value.length > 100_000 ? FIRST.model : value.isWellFormed() ? value : "\ufffd", plain);
  }
  assert.equal({}.x, undefined);
  assert.deepEqual(only({ a: "1", constructor: "2" }, ["a", "toString", "__proto__"]), { a: "1" });
  assert.equal(lookUp({ kv: {} }, "constructor.name"), "constructor.name");
  assert.equal(lookUp({ kv: {} }, "kv.constructor"), "kv.constructor");
});

test("settings that nothing set are empty, whatever their name", () => {
  const settings = createSettings(createStore(), readLink("#kv.tokens=4").settings);
  for (const name of ["constructor", "__proto__", "toString", "norm"]) assert.deepEqual(settings.get(name), {}, name);
  const { linked } = page("constructor");
  assert.deepEqual(readLink(writeLink({ settings: linked })).settings, linked);
});

test("no setting takes the place of the question", async () => {
  const asked = [];
  const fetching = createFetching(createStore(), {
    calculate: async (request) => {
      asked.push(request);
      return { kind: "answer", data: {} };
    },
  });
  await fetching.calculate("kv", { what: "kv_race", tokens: 4 });
  assert.deepEqual(asked, [{ what: "kv", tokens: 4 }]);
});
