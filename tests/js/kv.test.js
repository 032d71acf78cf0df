// The KV-cache chapter before it draws: bytes as text, what the live cache held, settings and links, latest wins.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { dressed, pointsMoved } from "../../visuals/static/chart.js";
import { latest } from "../../visuals/static/latest.js";
import { readLink, writeLink } from "../../visuals/static/link.js";
import { createSettings } from "../../visuals/static/settings.js";
import { both, exactBytes, milli, scaled, toThree, whole } from "../../visuals/static/panels/kv/format.js";
import { found, placeOf, valuesOf } from "../../visuals/static/panels/kv/fields.js";
import { cellAt, labelsOf, measure } from "../../visuals/static/panels/kv/live-grid.js";
import {
  agreement,
  bytesOf,
  factorsOf,
  grown,
  kindsReader,
  liveReader,
  measuredAt,
  momentOf,
  piecesOf,
  roleOf,
} from "../../visuals/static/readings/kv.js";
import { beyondContext } from "../../visuals/static/readings/kv-chart.js";
import { totals } from "../../visuals/static/readings/kv-race.js";
import { changed, createPlaces } from "../../visuals/static/panels/kv/asking.js";
import { joined, parted } from "../../visuals/static/panels/kv/cache-format.js";
import { drawable } from "../../visuals/static/panels/kv/points.js";
import { asBytes, asNumber, createQuestion, percentOf, requestOf } from "../../visuals/static/panels/kv/question.js";
import { AT_ONCE, createRace } from "../../visuals/static/panels/kv/race.js";
import { cardOfRunning } from "../../visuals/static/panels/kv/running.js";
import { troubleText } from "../../visuals/static/panels/kv/trouble.js";
import { lookUp } from "../../visuals/static/texts.js";
import { escaped, figureText, formulaLatex, formulaText } from "../../visuals/static/panels/kv/copied.js";
import { readMyth } from "../../visuals/static/readings/kv-myth.js";

const TEXTS = Object.fromEntries(
  ["en", "zh"].map((code) => [code, JSON.parse(readFileSync(new URL(`../../app/${code}.json`, import.meta.url)))]),
);

test("bytes: exact beyond 2^53, and in both systems", () => {
  assert.equal(exactBytes("123456789012345678901"), "123,456,789,012,345,678,901\u00a0B");
  assert.equal(whole(8589934592), "8,589,934,592");
  assert.equal(both("8589934592"), "8 GiB = 8.59 GB");
  assert.equal(scaled(1023, "binary"), "1023 B");
  assert.equal(scaled(0, "decimal"), "0 B");
  assert.equal(scaled("100000000000000000000", "binary"), "88818 PiB");
  assert.equal(scaled(131072 * 8192 * 3.5, "binary"), "3.5 GiB");
  assert.equal(scaled(17_233_556_275, "binary"), "16.05 GiB"); // as a log has it that prints two digits
  assert.equal(scaled(17_236_492_288, "binary"), "16.05 GiB");
  assert.deepEqual(
    [4_294_967_296, 47_550_300_000, 191_480_000_000].map((count) => scaled(count, "decimal")),
    ["4.295 GB", "47.55 GB", "191.5 GB"],
  ); // four digits throughout
  assert.equal(scaled(4_294_967_296, "decimal", 3), "4.29 GB");
  assert.equal(toThree(56.888), "56.9");
});

test("on a Chinese page the unit of bytes is their word", () => {
  const page = /** @type {any} */ (globalThis);
  page.document = { documentElement: { lang: "zh-CN" } };
  try {
    assert.equal(exactBytes(65536), "65,536\u00a0字节");
    assert.equal(scaled(512, "binary"), "512 字节");
    assert.equal(scaled(2048, "binary"), "2 KiB");
  } finally {
    delete page.document;
  }
});

test("weights' bytes are typed as a number or as a size with its unit", () => {
  const sizes = {
    "42.52 GB": 42_520_000_000,
    "39.59 GiB": Math.round(39.59 * 2 ** 30),
    "512MB": 512_000_000,
    "0.63 TB": 630_000_000_000,
    "42G": 42 * 2 ** 30,
    "512m": 512 * 2 ** 20,
    "1.5Ti": 1.5 * 2 ** 40,
    "16,060,522,496": 16_060_522_496,
    "16060522496 B": 16_060_522_496,
    "file size   = 39.59 GiB (4.82 BPW)": Math.round(39.59 * 2 ** 30),
  };
  assert.deepEqual(Object.fromEntries(Object.keys(sizes).map((typed) => [typed, asBytes(typed)])), sizes);
  for (const odd of ["", "much", "-3 GB", "3 GiBB", "3 i", "3 GBi", "39.6", "39.6 B", "0.5"])
    assert.equal(asBytes(odd), odd);
  assert.deepEqual(requestOf({ tokens: "8", weight_bytes: "1 GiB" }), { tokens: 8, weight_bytes: 2 ** 30 });
});

test("a size without its unit is refused by the field's name, with what was wrong and what would be right", () => {
  const onDemand = JSON.parse(readFileSync(new URL("../../app/en.on-demand.json", import.meta.url)));
  const texts = { ...TEXTS.en, ...onDemand, kv: { ...TEXTS.en.kv, ...onDemand.kv } };
  const params = { field: "weight_bytes", expected: "…", expected_code: "whole", expected_params: { low: 1, high: 9 } };
  const said = (value) =>
    troubleText({ text: (key, more) => lookUp(texts, key, more) }, { code: "kv_value", params: { ...params, value } });
  assert.match(
    said("'39.6'"),
    /^Weights' bytes or size, such as 39\.6\u00a0GiB: expected bytes, a whole number .* 42\.5 GB; 39\.6 is no/,
  );
  assert.doesNotMatch(said("'much'"), /no unit/);
});

const trace = (steps, T = 3 + steps.length) => ({
  T,
  nPrompt: 3,
  model: { n_layers: 4, n_kv_heads: 2, head_dim: 8, dtype: "bfloat16", parts: { latent: null } },
  tokens: { pieces: ["a", "b", "c", "d", "e", "f"].slice(0, T) },
  steps,
});
const step = (cacheTokens, cacheBytes = cacheTokens * 4 * 2 * 2 * 8 * 2) => ({ cacheTokens, cacheBytes, piece: "x" });

test("the live cache: measured at every step, equal to the formula, and said where it is not", () => {
  const run = trace([step(3), step(4)]);
  assert.equal(bytesOf(factorsOf(run, 4)), 1024);
  assert.equal(measuredAt(run, null, 4), 1024);
  assert.equal(measuredAt(run, null, 5), null);
  assert.equal(measuredAt(run, { tokens: 5, bytes: 1280 }, 5), 1280);
  assert.deepEqual(agreement(run, { tokens: 5, bytes: 1280 }), { measured: 3, equal: 3 });
  assert.deepEqual(agreement(trace([step(3), step(4, 999)]), null), { measured: 2, equal: 1 });
});

test("of a latent no heads are counted and no factor 2: its width and that of the one rotated key", () => {
  const run = trace([step(3)]);
  const latent = { ...run, model: { ...run.model, parts: { latent: { rank: 20, rope: 8, nope: 12, value: 10 } } } };
  assert.equal(bytesOf(factorsOf(latent, 5)), 4 * 5 * (20 + 8) * 2);
  assert.deepEqual(
    factorsOf(latent, 5).map(({ code }) => code),
    ["layers", "tokens", "latent_rope_key", "bytes"],
  );
});

test("a prompt token belongs to the prefill; a generated one adds a column of its own", () => {
  const run = trace([step(3), step(4)]);
  assert.deepEqual(momentOf(run, 1), { held: 3, from: 0, query: 1, prefill: true });
  assert.deepEqual(momentOf(run, 4), { held: 5, from: 4, query: 4, prefill: false });
  const scene = { ...momentOf(run, 4), columns: 6, layers: 4 };
  assert.deepEqual(
    [0, 3, 4, 5].map((token) => roleOf(scene, token)),
    ["read", "read", "new", "empty"],
  );
  assert.deepEqual(piecesOf(trace([step(3), step(4)], 3)), ["a", "b", "c", "x", "x"]);
});

test("a cell of the grid is found where it was drawn, layer 0 at the bottom", () => {
  const scene = { layers: 30, columns: 500 };
  for (const width of [300, 600, 1200]) {
    const size = measure(scene, width);
    const { high, height } = size;
    assert.ok(height > high);
    const top = cellAt(scene, size, 80, 55);
    assert.equal(top.layer, 29);
    assert.equal(cellAt(scene, size, 80, 54 + high - 1).layer, 0);
    assert.equal(cellAt(scene, size, 80, 54 + high + 1), null);
    assert.equal(cellAt(scene, size, width, 100), null);
  }
});

test("tokens under the grid are all named: in a line where each fits, else turned where columns are wide", () => {
  assert.deepEqual(labelsOf([20, 60, 30], 64), { turned: false, apart: 1, high: 18, most: 96 });
  assert.deepEqual(labelsOf([20, 61, 30], 64), { turned: true, apart: 1, high: 65, most: 96 });
  assert.deepEqual(labelsOf([20, 300], 17), { turned: true, apart: 1, high: 100, most: 96 });
  assert.equal(labelsOf([20, 60], 5).apart, 4); // 20 px apart
  assert.deepEqual(labelsOf([], 40), { turned: false, apart: 1, high: 18, most: 96 });
});

test("where a picture is seen whole up to some height, it is no higher: smaller, its letters would shrink", () => {
  for (const layers of [1, 3, 8, 12]) {
    const [scene, widths] = [{ layers, columns: 16 }, [60, 300]];
    const names = labelsOf(widths, measure(scene, 720).column, 240);
    assert.ok(measure(scene, 720, names.high, 240).height <= 240, String(layers));
    assert.deepEqual(measure(scene, 720, names.high, 9999), measure(scene, 720, names.high));
  }
});

test("what is typed is sent as a number where it is one, and as it is where it is none", () => {
  assert.equal(asNumber("1,024"), 1024);
  assert.equal(asNumber("-5"), -5);
  for (const eight of ["8K", "8 k", "８１９２", "８，１９２"]) assert.equal(asNumber(eight), 8192);
  const typed = {
    ...{ "128k": 131_072, "1M": 1_048_576, "1.5k": 1536, "0.5 m": 524_288, "131,072": 131_072, "1_000_000": 1_000_000 },
    ...{ "1 048 576": 1_048_576, "12,345": 12_345, " 16 ": 16, "1,024k": 1_048_576 },
  };
  for (const [text, number] of Object.entries(typed)) assert.equal(asNumber(text), number, text);
  const odd = [
    "",
    "many",
    "1.5",
    "1.0",
    "1e9",
    "99999999999999999999",
    "1,5",
    "12,34",
    "1,0000",
    "1234,567",
    "1,024_000",
  ];
  for (const text of [...odd, "1.3k", "1,5k", "1 2", "8kk", "1G", ",024"]) assert.equal(asNumber(text), text);
  for (const [typed, sent, percent] of [
    ["90", 90, 90],
    ["９０ %", 90, 90],
    ["0.56", "0.56", 56],
    ["92.5", "92.5", 92.5],
    ["0,9", "0,9", NaN],
    ["1.0", "1.0", 100],
    ["1", "1", 100],
    ["1 %", "1%", 1],
    ["1.5%", "1.5%", 1.5],
    ["2", 2, 2],
    ["150", 150, 150],
  ]) {
    assert.deepEqual(requestOf({ usable_percent: String(typed) }), { usable_percent: sent });
    assert.equal(percentOf(String(typed)), percent);
  }
  const request = requestOf({ model: "x", tokens: "", batch: "4", tp: "", mtp: "1", window: "off" });
  assert.deepEqual(request, { model: "x", tokens: "", batch: 4, mtp: true, window: "off" });
});

test("a slider passes through the powers of two exactly and finds its own places again", () => {
  const values = valuesOf([7, 20], 8);
  for (let power = 7; power <= 20; power++) assert.equal(values[(power - 7) * 8], 2 ** power);
  for (const sliding of [values, valuesOf([0, 10], 4)])
    sliding.forEach((value, place) => assert.equal(placeOf(sliding, value), place));
  assert.deepEqual([placeOf(values, 1), placeOf(values, 8200), placeOf(values, 10 ** 9)], [0, 48, 104]);
  assert.equal(placeOf(values, Number("many")), 0);
});

test("settings of panels come back from a link, and nothing else does", () => {
  const settings = {
    kv: { model: "Llama-3 8B", tokens: "4096", config: '{"a": "b&c=d#e"}' },
    kvfit: { gpu: "T4 16 GB" },
  };
  assert.deepEqual(readLink(writeLink({ prompt: "x.y", settings })).settings, settings);
  assert.equal(readLink(writeLink({ prompt: "x.y", settings })).prompt, "x.y");
  const odd = readLink(`#KV.a=1&a.b.c=2&a..b=3&.a=4&k.v=${"x".repeat(100_001)}&__proto__.x=1`);
  assert.deepEqual(Object.keys(odd.settings), []);
  readLink("#constructor.x=1&a.__proto__=2");
  assert.equal({}.x, undefined);
  assert.equal(Object.x, undefined);
});

test("panels keep their settings as texts, without the empty ones, and say so", () => {
  const told = [];
  const store = { state: {}, emit: (event, name) => told.push([event, name]) };
  const settings = createSettings(store, { kv: { tokens: "5" } });
  assert.deepEqual(settings.get("kv"), { tokens: "5" });
  assert.deepEqual(settings.get("other"), {});
  settings.set("kv", { tokens: 7, batch: "", tp: null });
  assert.deepEqual(store.state.settings, { kv: { tokens: "7" } });
  assert.deepEqual(told, [["settings", "kv"]]);
});

test("while a question is under way only the newest of the others is kept", async () => {
  const asked = [];
  const used = [];
  const ends = [];
  const ask = latest(
    (request) => (asked.push(request), new Promise((done) => ends.push(() => done(request * 10)))),
    (answer) => used.push(answer),
  );
  [1, 2, 3, 4].forEach(ask);
  assert.deepEqual(asked, [1]);
  while (ends.length) {
    ends.shift()();
    await new Promise(setImmediate);
  }
  assert.deepEqual(asked, [1, 4]);
  assert.deepEqual(used, [10, 40]);
});

test("an answer is the first one with what changes in it put in, and the first stays as it was", () => {
  const first = { data: { bytes: "1", terms: [{ bytes: "1", factors: [1, 2] }], notes: [] } };
  const copy = JSON.stringify(first);
  assert.equal(changed(first, null), first);
  assert.deepEqual(changed(first, [{ message: 1 }]), { message: 1 });
  const other = changed(first, { data: { bytes: ["6"], terms: { 0: { factors: [[2, 3]] } }, notes: [["x"]] } });
  assert.deepEqual(other, { data: { bytes: "6", terms: [{ bytes: "1", factors: [2, 3] }], notes: ["x"] } });
  assert.equal(JSON.stringify(first), copy);
});

test("a slider's places are fetched once for the same other settings, and then at hand", async () => {
  const asked = [];
  const changes = [null, { data: { bytes: ["2"] } }];
  const glass = {
    calculate: async (what, params) => (
      asked.push([what, params]),
      { data: { first: { data: { bytes: "1" } }, changes } }
    ),
  };
  const places = createPlaces(glass, "kv");
  const request = { model: "x", tokens: 5, batch: 1 };
  assert.equal(places.at({ ...request, tokens: 128 }), null);
  await Promise.all([
    places.prepare(request, "tokens", [128, 256]),
    places.prepare({ ...request, tokens: 9 }, "tokens", [128, 256]),
  ]);
  assert.deepEqual(asked, [["kv_places", { ...request, asked: "kv", along: "tokens", values: [128, 256] }]]);
  assert.deepEqual(places.at({ ...request, tokens: 256 }), { data: { bytes: "2" } });
  assert.equal(places.at({ ...request, tokens: 200 }), null);
  assert.equal(places.at({ ...request, tokens: 256, batch: 2 }), null);
});

test("while a slider moves nothing is asked, and no answer to what was asked before comes after it", async () => {
  let finish = null;
  const asked = [];
  const glass = {
    settings: { get: () => ({}), set: () => {} },
    on: () => {},
    repaint: () => {},
    calculate: (what, { tokens } = {}) => {
      asked.push(what);
      if (what === "kv_models") return Promise.resolve({ data: {} });
      if (what === "kv_places")
        return Promise.resolve({
          data: { first: { data: { bytes: "1" } }, changes: [null, { data: { bytes: ["2"] } }] },
        });
      return new Promise((done) => {
        finish = () => done({ data: { bytes: `late ${tokens}` } });
      });
    },
  };
  const state = createQuestion(glass);
  state.near("tokens", [128, 256]);
  await new Promise(setImmediate);
  const before = asked.length;
  state.set({ tokens: "256" });
  assert.equal(state.answer.bytes, "2");
  assert.equal(state.answered.tokens, "256");
  state.set({ tokens: "128" });
  assert.equal(state.answer.bytes, "1");
  assert.equal(asked.length, before);
  finish();
  await new Promise(setImmediate);
  assert.equal(state.answer.bytes, "1");
});

test("a slider's values are those of all its places, each once", () => {
  const values = valuesOf([0, 10], 4);
  assert.deepEqual(values.slice(0, 6), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual([values.at(-1), new Set(values).size], [1024, values.length]);
  assert.equal(valuesOf([7, 20], 8).length, 105);
});

test("a chart's heights are the exact bytes over the unit, and its points say them", () => {
  const trace = { name: "m", x: [1, 2], models: ["m", "m"], tokens: [1, 2], bytes: ["1073741824", "9007199254740993"] };
  const { data } = drawable({ data: [trace], layout: {}, unit: 2 ** 30 });
  assert.equal(data[0].y[0], 1);
  assert.deepEqual(data[0].customdata[1], ["m", 2, "9007199254740993", "9,007,199,254,740,993\u00a0B"]);
  assert.deepEqual(Object.keys(data[0]).sort(), ["customdata", "name", "x", "y"]);
  assert.deepEqual(beyondContext([{ ...trace, contexts: [null, 1] }]), [["m", 1]]);
  assert.deepEqual(beyondContext([trace]), []);
});

test("a logarithmic axis goes from a whole power of ten to another, whatever the slider says", () => {
  const trace = (...bytes) => ({
    name: "m",
    x: bytes,
    models: bytes.map(() => "m"),
    tokens: bytes,
    bytes: bytes.map(String),
  });
  const log = { yaxis: { type: "log", dtick: 1 } };
  const range = (...traces) => drawable({ data: traces, layout: log, unit: 1000 }).layout.yaxis.range;
  assert.deepEqual(range(trace(20, 3000), trace(500_000)), [-2, 3]);
  assert.deepEqual(range(trace(1000), trace(0)), [0, 1]);
  assert.equal(range(trace(0)), undefined);
  assert.equal(range(), undefined);
  const linear = { yaxis: { type: "linear", rangemode: "tozero" } };
  assert.deepEqual(drawable({ data: [trace(5)], layout: linear, unit: 1 }).layout, linear);
});

test("a bad setting leaves the last good answer", async () => {
  const answers = [
    { data: { bytes: "1" } },
    { message: { code: "kv_value", params: { field: "tokens" } } },
    { data: { bytes: "2" } },
  ];
  const glass = {
    settings: { get: () => ({ tokens: "5" }), set: () => {} },
    on: () => {},
    repaint: () => {},
    calculate: async (what) => (what === "kv_models" ? { data: { models: [], formats: [] } } : answers.shift()),
  };
  const asked = createQuestion(glass);
  const settled = () => new Promise(setImmediate);
  await settled();
  assert.equal(asked.settings.tokens, "5");
  assert.equal(asked.answer.bytes, "1");
  asked.set({ tokens: "x" });
  await settled();
  assert.deepEqual([asked.answer.bytes, asked.trouble.params.field], ["1", "tokens"]);
  asked.set({ tokens: "6" });
  await settled();
  assert.deepEqual([asked.answer.bytes, asked.trouble], ["2", null]);
});

test("points move alone where nothing else changes and no axis follows them", () => {
  const figure = (trace = {}, yaxis = {}) => ({
    data: [{ type: "scatter", x: [1, 2], y: [3, 4], customdata: ["a", "b"], line: { width: 2 }, ...trace }],
    layout: { xaxis: { type: "log" }, yaxis: { range: [0, 2], ...yaxis } },
  });
  const moved = (...now) => pointsMoved(figure(), figure(...now));
  assert.equal(moved({ y: [5, 6], customdata: ["c", "d"] }), true);
  assert.equal(moved({ y: [5, 6], hovertext: ["one", "one"] }), true); // it is said of a point
  assert.equal(moved({ y: [5, 6] }, { range: [0, 3] }), false); // the axis goes on further
  assert.equal(moved({ x: [1, 3] }), false); // this axis is as long as its points ask for
  assert.equal(moved({ line: { width: 3 } }), false);
  assert.equal(moved({ name: "another" }), false);
  const free = { range: undefined };
  assert.equal(pointsMoved(figure({}, free), figure({ y: [5, 6] }, free)), false);
  assert.equal(pointsMoved(figure(), { ...figure(), data: [] }), false);
});

test("a figure is dressed in the page's colours and words, and stays what it was", () => {
  const figure = {
    data: [{ y: [1, null], marker: { color: "var(--glass-k)" }, name: "text:kv.x" }],
    layout: { title: "plain" },
  };
  const copy = JSON.stringify(figure);
  const said = dressed(
    figure,
    (name) => `<${name}>`,
    (key) => `[${key}]`,
  );
  assert.deepEqual(said, {
    data: [{ y: [1, null], marker: { color: "<k>" }, name: "[kv.x]" }],
    layout: { title: "plain" },
  });
  assert.equal(JSON.stringify(figure), copy);
});

test("what is wrong with a setting is said in the reader's language; a config's fields keep their names", () => {
  const said = (language, message) =>
    troubleText({ text: (key, params) => lookUp(TEXTS[language], key, params) }, message);
  const right = {
    expected: "a divisor of n_heads (32)",
    expected_code: "divisor",
    expected_params: { name: "n_heads", value: "32" },
  };
  const option = { code: "kv_value", params: { field: "tp", value: "3", ...right } };
  assert.equal(said("en", option), "Tensor-parallel ranks: expected a divisor of n_heads (32).");
  assert.equal(said("zh", option), "张量并行数：应为 n_heads（32）的约数。");
  const wrong = { code: "hf_config", params: { field: "num_key_value_heads", value: "5", ...right } };
  assert.equal(said("en", wrong), "config.json: num_key_value_heads is 5; expected a divisor of n_heads (32).");
  assert.equal(said("zh", wrong), "config.json 中 num_key_value_heads 是 5，应为 n_heads（32）的约数。");
  const lacking = { expected: "", expected_code: "no_mtp", expected_params: { model: "text:kv.pasted" } };
  const pasted = { code: "kv_value", params: { field: "mtp", value: "True", ...lacking } };
  assert.match(said("en", pasted), /: Pasted config has no multi-token-prediction layers/);
  assert.match(said("zh", pasted), /粘贴的 config/);
  const json = {
    code: "hf_config",
    params: { field: "text", reason: "no_json", line: 2, column: 7, problem: "Expecting ',' delimiter" },
  };
  assert.equal(said("en", json), "config.json: no JSON at line 2, column 7: a colon or a comma is missing.");
  assert.equal(said("zh", json), "config.json 第 2 行第 7 列不是合法的 JSON：此处缺少冒号或逗号。");
  const format = {
    code: "weight_format",
    params: { field: "weights", value: "q8_0", block: 32, count: "90", part: "ffn" },
  };
  for (const language of ["en", "zh"]) assert.doesNotMatch(said(language, format), /[{}]/);
});

test("a misspelt key of a config is asked after", () => {
  const whole = { expected: "a whole number", expected_code: "whole", expected_params: { low: 1, high: 1000 } };
  const params = { field: "num_hidden_layers", value: null, near: "num_hiden_layers", ...whole };
  const said = (language) =>
    troubleText({ text: (key, more) => lookUp(TEXTS[language], key, more) }, { code: "hf_config", params });
  assert.match(said("en"), / is missing; .* The file has num_hiden_layers: did you mean num_hidden_layers\?$/);
  assert.match(said("zh"), /文件里有 num_hiden_layers，是否应为 num_hidden_layers？$/);
});

test("of a long list of names a few are told, and how many there are", () => {
  const said = (language, code, count) => {
    const names = Array.from({ length: count }, (_, i) => `family${i}`).join(", ");
    const params = {
      field: "model_type",
      value: null,
      expected: names,
      expected_code: code,
      expected_params: { names, near: "family7" },
    };
    return troubleText({ text: (key, more) => lookUp(TEXTS[language], key, more) }, { code: "hf_config", params });
  };
  assert.equal(
    said("en", "one_of", 3),
    "config.json: model_type is missing; expected one of family0, family1, family2.",
  );
  assert.equal(
    said("en", "one_of", 25),
    "config.json: model_type is missing; expected one of 25 names, such as family0, family1, family2, family3.",
  );
  for (const language of ["en", "zh"]) assert.match(said(language, "one_of_near", 25), /25.*family7/);
});

test("a type that is not read is told with all that are, also where a known one carries another's field", () => {
  const said = (language, params) =>
    troubleText({ text: (key, more) => lookUp(TEXTS[language], key, more) }, { code: "hf_config", params });
  const names = Array.from({ length: 70 }, (_, i) => `family${i}`).join(", ");
  const unread = { field: "model_type", reason: "unread_type", kind: "'x9'", names };
  assert.equal(
    said("en", unread),
    "config.json: this calculator does not read model_type 'x9' yet. " +
      "It reads 70 types, all listed below the calculator's box.",
  );
  assert.equal(
    said("zh", unread),
    "config.json：本计算器还不支持 model_type 'x9'。支持的 70 种类型全部列在计算器的输入框下面。",
  );
  const told = { expected: "absent", expected_code: "absent", expected_params: { kind: "llama" }, names };
  const field = { field: "kv_lora_rank", value: "512", ...told };
  assert.equal(
    said("en", field),
    "config.json: kv_lora_rank is 512; expected it absent: this calculator does not read llama with it yet.",
  );
  for (const language of ["en", "zh"])
    assert.doesNotMatch(said(language, { ...unread, reason: "no_type", kind: null }) + said(language, field), /[{}]/);
});

test("what a run would hold as another kind grows with what is written, not with the source that is read once", () => {
  const factors = (layers, tokens, size) => [
    { code: "layers", value: layers },
    { code: "sequences", value: 1 },
    { code: "tokens", value: tokens },
    { code: "bytes", value: size },
  ];
  const row = {
    kind: "MHA",
    terms: [
      { label: "self.full.kv", factors: factors(3, 1, 40), bytes: "120" },
      { label: "cross.kv", factors: factors(3, 7, 40), bytes: "840" },
    ],
    bytes: "960",
  };
  const { terms, bytes } = grown(row, 5);
  assert.deepEqual([terms[0].bytes, terms[1].bytes, bytes], ["600", "840", "1440"]);
  for (const term of terms)
    assert.equal(String(term.factors.reduce((product, { value }) => product * value, 1)), term.bytes);
});

test("the copied sum is 16 times the right one", () => {
  const reading = readMyth({
    card: { n_layers: 32, n_heads: 32, d_model: 4096 },
    tokens: 1024,
    batch: 16,
    bytes: "8589934592",
    kinds: [{ kind: "GQA", bytes: "2147483648", n_kv_heads: 8 }],
  });
  assert.deepEqual(reading.values, { wrong: 16 * 8_589_934_592, right: 8_589_934_592 });
  assert.equal(reading.ratio, 16);
  assert.deepEqual(reading.grouped, { bytes: 2_147_483_648, group: 4 });
});

test("a measurement stops at the promised number, whatever the server's answers come in", async () => {
  let sent = 0;
  const steps = () => Array.from({ length: 5 }, () => ({ token_id: sent++ }));
  const asked = [];
  const glass = {
    calculate: async (_, { ids }) => {
      asked.push(ids.length);
      return { data: { steps: steps() } };
    },
    repaint: () => {},
  };
  const race = createRace(glass);
  race.follow({ model: { name: "m" }, prompt: "p", nPrompt: 3, tokens: { ids: [7, 8, 9, 10] } });
  await race.start(false);
  assert.equal(race.steps.length, AT_ONCE);
  await race.start(false);
  assert.equal(race.steps.length, 2 * AT_ONCE);
  assert.equal(asked[7], 3 + AT_ONCE); // and goes on after the last token that was kept
});

test("a measurement whose answers hold nothing more ends, and one that was stopped and begun anew is one", async () => {
  const answers = [[{ token_id: 1 }], []];
  const glass = { calculate: async () => ({ data: { steps: answers.shift() ?? [] } }), repaint: () => {} };
  const race = createRace(glass);
  race.follow({ model: { name: "m" }, prompt: "p", nPrompt: 1, tokens: { ids: [7] } });
  await race.start(false);
  assert.deepEqual([race.running, race.steps.length], [false, 1]);

  const waiting = [];
  const slow = createRace({ calculate: () => new Promise((done) => waiting.push(done)), repaint: () => {} });
  slow.follow({ model: { name: "m" }, prompt: "p", nPrompt: 1, tokens: { ids: [7] } });
  const first = slow.start(false);
  slow.stop();
  const second = slow.start(false);
  const all = Array.from({ length: AT_ONCE }, (_, i) => ({ token_id: i }));
  for (const done of waiting) done({ data: { steps: all } });
  await Promise.all([first, second]);
  assert.deepEqual([slow.running, slow.steps.length], [false, AT_ONCE]);
});

test("milliseconds are never powers of ten", () => {
  assert.deepEqual([0.00713, 0.505, 0.9994, 0.99951, 1.1046, 61.2].map(milli), [
    "7.13",
    "505",
    "999",
    "1,000",
    "1,105",
    "61,200",
  ]);
});

test("totals of a measurement", () => {
  const steps = [1, 2].map((n) => ({ cached_seconds: n, full_seconds: 3 * n, cached_work: n, full_work: 10 * n }));
  assert.deepEqual(totals(steps), { cached: 3, full: 9, cachedWork: 3, fullWork: 30 });
});

test("what is expected of the weights' size names bytes and units", () => {
  const params = {
    field: "weight_bytes",
    expected: "a whole number from 1 to 9",
    expected_code: "whole",
    expected_params: { low: "1", high: "9" },
  };
  for (const [language, bytes] of Object.entries({ en: "from 1 to 9, or a size", zh: "1 到 9 的整数" })) {
    const later = JSON.parse(readFileSync(new URL(`../../app/${language}.on-demand.json`, import.meta.url)));
    const text = (key, more) => lookUp({ ...TEXTS[language], ...later }, key, more);
    const told = troubleText({ text }, { code: "kv_request", params });
    assert.ok(told.includes(bytes) && told.includes("GiB"), told);
  }
});

test("what is wrong with GGUF metadata is told by its own name", () => {
  const said = (language, params) =>
    troubleText({ text: (key, more) => lookUp(TEXTS[language], key, more) }, { code: "hf_config", params });
  const right = { file: "GGUF", expected: "8", expected_code: "exactly", expected_params: { value: "8" } };
  assert.equal(
    said("en", { field: "llama.block_count", value: "0", ...right }),
    "GGUF: llama.block_count is 0; expected 8.",
  );
  assert.equal(
    said("zh", { field: "llama.block_count", value: null, ...right }),
    "GGUF 缺少 llama.block_count，应为 8。",
  );
  const unread = { field: "model_type", reason: "unread_architecture", kind: "'x9'", names: "llama, qwen2" };
  assert.equal(
    said("en", unread),
    "GGUF: this calculator does not read the architecture 'x9' yet. It reads 2, all listed below the calculator's box.",
  );
  assert.match(said("zh", unread), /^GGUF：.*'x9'.* 2 种/);
});

const COPIED = {
  card: { name: "Mine_1", called: null, source: [{ en: "config.json of Mine_1", zh: "" }] },
  tokens: 8192,
  batch: 1,
  dtype: "bf16",
  bytes: "1073741824",
  notes: [],
  terms: [
    {
      label: "self.full.kv",
      bytes: "1073741824",
      factors: [
        { value: 32, code: "layers", params: {}, how: "" },
        { value: 8192, code: "tokens", params: {}, how: "" },
        { value: 4096, code: "bytes", params: { format: "bf16" }, how: "8 × 2 × 128 × 2" },
      ],
    },
  ],
};
const copying = { state: { language: "en" }, text: (key, params) => lookUp(TEXTS.en, key, params) };

test("a figure is copied in three units, the formula with its factors and its reference", () => {
  const figure = "Mine_1, 1 × 8,192 tokens, bf16: 1 GiB = 1.074 GB = 1,073,741,824 B";
  assert.equal(figureText(copying, COPIED), figure);
  assert.deepEqual(formulaText(copying, COPIED).split("\n"), [
    figure,
    "32 layers × 8,192 tokens × 4,096 bytes (bf16) (8 × 2 × 128 × 2) = 1,073,741,824 B",
    "config.json of Mine_1",
    "vLLM FullAttentionSpec (vllm/v1/kv_cache_interface.py)",
  ]);
});

test("a figure of several GPUs names how they share the work, and MTP", () => {
  const settings = { tp: "2", pp: "1", dcp: "", mtp: "1" };
  assert.match(figureText(copying, COPIED, settings), /^Mine_1, 1 × 8,192 tokens, bf16, TP 2, MTP: 1 GiB/);
  assert.match(figureText(copying, { ...COPIED, gpus: 2 }, settings), /1,073,741,824 B, on all 2 GPUs together$/);
  assert.match(formulaLatex(copying, COPIED, { pp: "4" }), /^% Mine_1, 1 × 8,192 tokens, bf16, PP 4\n/);
  assert.match(figureText(copying, COPIED, { tp: "1", pp: "" }), /^Mine_1, 1 × 8,192 tokens, bf16: 1 GiB/);
});

test("a formula cites what it is from, and LaTeX keeps how a factor comes about", () => {
  const [term] = COPIED.terms;
  const kept = { value: 1024, code: "tokens", params: {}, how: "min(32,768, 1,024)" };
  const windows = { ...term, label: "self.sliding.kv", factors: [term.factors[0], kept] };
  const of = (...terms) =>
    formulaText(copying, { ...COPIED, terms })
      .split("\n")
      .at(-1);
  assert.equal(of(term, windows), "vLLM FullAttentionSpec, SlidingWindowSpec (vllm/v1/kv_cache_interface.py)");
  assert.match(of({ ...term, label: "self.full.latent" }), /^vLLM MLAAttentionSpec .*; DeepSeek-V2 report/);
  assert.equal(of({ ...term, label: "csa.shared" }), "config.json of Mine_1");
  const state = { ...COPIED, terms: [{ ...term, label: "state.recurrent" }] };
  const cited = "vLLM MambaSpec (vllm/v1/kv_cache_interface.py)";
  assert.equal(formulaText(copying, state).split("\n").at(-1), cited);
  const own = formulaLatex(copying, { ...state, notes: [{ code: "state_fp32", text: "", params: {} }] });
  assert.ok(own.includes(`% ${cited}; its state with --mamba-ssm-cache-dtype float32\n`));
  const latex = formulaLatex(copying, { ...COPIED, terms: [term, windows] });
  assert.ok(latex.includes(String.raw`\underbrace{1\,024}_{\text{tokens (min(32,768, 1,024))}}`));
  assert.doesNotMatch(latex, /DeepSeek/);
});

test("LaTeX names each factor below a brace and escapes what it would read as its own", () => {
  const latex = formulaLatex(copying, COPIED);
  assert.match(latex, /^% Mine_1, 1 × 8,192 tokens, bf16\n% config\.json of Mine_1\n% vLLM/);
  assert.ok(latex.includes(String.raw`\underbrace{8\,192}_{\text{tokens}}`));
  assert.ok(latex.includes(String.raw`&= 1\,073\,741\,824\,\text{B} \approx 1\,\text{GiB}`));
  assert.equal(escaped("a_b & 50 % {x}~^"), String.raw`a\_b \& 50 \% \{x\}\textasciitilde{}\textasciicircum{}`);
});

test("the live cache is read with what was measured; a row's length is NaN before it has come", () => {
  const run = trace([step(3), step(4)]);
  const live = { tokens: 5, bytes: 1280, k_norm: { data: [1, 2, 3, 4, 5] }, v_norm: { data: [6, 7, 8, 9, 10] } };
  const read = (details, query) => liveReader.read({ trace: run, details }, { layer: 0, query });
  assert.equal(read({ live }, 4).at, "layer 0 token 4 new");
  assert.deepEqual(read({ live }, 4).values, { tokens: 5, bytes: 1280, measured: 1280, k: 5, v: 10 });
  assert.deepEqual(read({ live: null }, 4).values, { tokens: 5, bytes: 1280, measured: NaN, k: NaN, v: NaN });
  const writing = liveReader.read({ trace: { ...run, generating: true }, details: {} }, { layer: 0, query: 0 });
  assert.equal(writing.selection.query, 3); // the newest token is chosen, but not read yet
});

test("a kind that is refused has no bytes, and does not keep the others from being read", () => {
  const term = { label: "self.full.kv", factors: [{ code: "tokens", value: 1 }], bytes: "8", layers: 1 };
  const kinds = [
    { kind: "MHA", own: true, bytes: "8", terms: [term] },
    { kind: "MLA", own: false, refused: { code: "kv_format", params: {} } },
  ];
  const reading = kindsReader.read({ trace: trace([]), details: { live: { kinds } } }, { query: 0 });
  assert.equal(reading.at, "tokens=3 own=MHA");
  assert.deepEqual(reading.values, { MHA: 24 });
  assert.equal(reading.kinds[1], kinds[1]);
});

test("a model is found by the parts of its name or its family, however they are written", () => {
  const groups = [
    ["Qwen3", ["Qwen3-8B", "Qwen3-32B"].map((name) => [name, name])],
    ["gpt-oss", ["gpt-oss-20b", "gpt-oss-120b"].map((name) => [name, name])],
  ];
  const names = (sought) => found(groups, sought).flatMap(([, own]) => own.map(([value]) => value));
  assert.deepEqual(names("qwen 32b"), ["Qwen3-32B"]);
  assert.deepEqual(names("GPTOSS 20"), ["gpt-oss-20b", "gpt-oss-120b"]);
  assert.deepEqual(names("gpt_oss-20B"), ["gpt-oss-20b"]);
  assert.deepEqual(names("  "), ["Qwen3-8B", "Qwen3-32B", "gpt-oss-20b", "gpt-oss-120b"]);
  assert.deepEqual(names("bert"), []);
});

test("a format of K and one of V are one setting, and one where they are the same", () => {
  const pairs = [{ name: "K in q8_0, V in q4_0", k: "q8_0", v: "q4_0" }]; // by whatever name the server has
  assert.deepEqual(parted(pairs, "bf16"), { k: "bf16", v: "" });
  assert.deepEqual(parted(pairs, pairs[0].name), { k: "q8_0", v: "q4_0" });
  assert.deepEqual(
    ["", "q8_0", "q4_0"].map((v) => joined(pairs, "q8_0", v)),
    ["q8_0", "q8_0", pairs[0].name],
  );
});

test("a link holds a pasted config and a Hub's id only as long as they are of the chosen model", () => {
  let linked = {};
  const settings = { get: () => ({}), set: (_name, values) => (linked = values) };
  const glass = { settings, repaint() {}, on() {}, calculate: () => new Promise(() => {}) };
  const given = (...names) => names.map((name) => linked[name]);
  const state = createQuestion(glass);
  state.set({ model: ":config", config: "{}", config_name: "Mine", hub: "a/b" });
  assert.deepEqual(given("model", "config", "config_name", "hub"), [":config", "{}", "Mine", undefined]);
  state.set({ model: "Llama-3 70B" });
  assert.deepEqual(given("model", "config", "config_name", "hub"), ["Llama-3 70B", undefined, undefined, undefined]);
  assert.equal(state.settings.config, "{}"); // which its box still holds
  state.set({ model: ":hub" });
  assert.deepEqual(given("config", "hub"), [undefined, "a/b"]);
  state.set({ model: ":config" });
  assert.deepEqual(given("config", "hub"), ["{}", undefined]);
});

test("the model that runs is found in the list by its shape and its name", () => {
  const shape = { n_layers: 30, d_model: 576, n_heads: 9, n_kv_heads: 3, head_dim: 64 };
  const cards = [
    { ...shape, name: "Another" },
    { ...shape, n_layers: 32, name: "SmolLM2" },
    { ...shape, name: "SmolLM2-135M" },
  ];
  const called = (name, more = {}) => cardOfRunning({ ...shape, ...more, name }, cards)?.name ?? null;
  assert.equal(called("SmolLM2 135M (real English)"), "SmolLM2-135M");
  assert.equal(called("HuggingFaceTB/SmolLM2-135M-Instruct"), "SmolLM2-135M");
  assert.equal(called("SmolLM2 135M (real English)", { n_kv_heads: 9 }), null); // exchanged in a run
  assert.equal(called("Tiny"), null);
  assert.equal(cardOfRunning(undefined, cards), null);
});
