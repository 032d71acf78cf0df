// What the calculators of the KV cache read off answers, against sums done by hand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { counted, readCache } from "../../visuals/static/readings/kv-answer.js";
import { eachToken, layersKept, readChart } from "../../visuals/static/readings/kv-chart.js";
import { readFit } from "../../visuals/static/readings/kv-fit.js";
import { readLog } from "../../visuals/static/readings/kv-log.js";
import { pairsOf, readRace, workOf } from "../../visuals/static/readings/kv-race.js";
import { savedRows } from "../../visuals/static/readings/reading.js";

const CARD = {
  name: "text:kv.pasted",
  called: null,
  source: [
    { en: "config.json", zh: "配置" },
    { en: "its card", zh: "说明" },
  ],
};
const say = (words) => ("key" in words ? `<${words.key}${JSON.stringify(words.params ?? {})}>` : words.en);
/** The rows of a reading's file, each by the names of its columns. */
function rowsOf(reading) {
  const [names, ...rows] = savedRows(reading, say);
  return rows.map((row) => Object.fromEntries(row.map((cell, i) => [names[i], cell])));
}

test("a count is a number as long as that holds its digits", () => {
  assert.deepEqual(["12", "-3", "0"].map(counted), [12, -3, 0]);
  for (const text of ["9007199254740993", "1.00", "1.56", "", "none"]) assert.equal(counted(text), text);
});

const PRODUCT = {
  label: "self.full.kv",
  bytes: "48",
  factors: [
    { value: 3, code: "layers", params: {}, how: "" },
    { value: 2, code: "tokens", params: {}, how: { code: "shared", params: { shared: "1" } } },
    { value: 8, code: "bytes", params: { format: "bf16" }, how: "2 × 4" },
  ],
};
const HUGE = "98765432109876543210";
const CACHE = {
  model: "text:kv.pasted",
  tokens: 2,
  batch: 1,
  dtype: "bf16",
  bytes: HUGE,
  per_token: "24",
  growth: {
    kind: "sliding",
    phases: [
      { until: 4, terms: [PRODUCT, { ...PRODUCT, bytes: HUGE }] },
      { until: null, terms: [PRODUCT] },
    ],
  },
  terms: [PRODUCT],
  kinds: [
    { kind: "MHA", bytes: "96", terms: [PRODUCT, PRODUCT] },
    { kind: "MLA", refused: { code: "kv_format", params: {} } },
  ],
  card: CARD,
};

test("a cache is read to its last byte; its file has products in words, and no kind that is refused", () => {
  const reading = readCache(CACHE);
  assert.equal(reading.at, "text:kv.pasted tokens=2 batch=1 dtype=bf16");
  assert.deepEqual(reading.values, { bytes: HUGE });
  const rows = rowsOf(reading);
  const shared = '<kv.factor_how_shared{"shared":"1"}>';
  const size = '<kv.factor_bytes{"format":"bf16"}>';
  const product = `3 <kv.factor_layers{}> × 2 <kv.factor_tokens{}> (${shared}) × 8 ${size} (2 × 4)`;
  assert.deepEqual(
    rows.map(({ what, product: made, bytes }) => [what, made, bytes]),
    [
      ["<kv.place_self_full{}> · <kv.part_kv{}>", product, 48],
      ["<kv.saved_total{}>", "", HUGE],
      ['<kv.saved_as{"kind":"MHA"}>', `${product} + ${product}`, 96],
    ],
  );
  for (const { model, source } of rows) assert.deepEqual([model, source], ["<kv.pasted{}>", "config.json; its card"]);
  assert.equal(rowsOf(readCache({ ...CACHE, card: { ...CARD, called: "Mine" } }))[0].model, "Mine");
  const spread = rowsOf(readCache({ ...CACHE, tp: 8, pp: 2, gpus: 16 }));
  assert.deepEqual(spread.map(({ what, tp, pp }) => [what, tp, pp]).slice(1), [
    ['<kv.saved_total_gpus{"gpus":16}>', 8, 2], // the kinds are counted on one device
    ['<kv.saved_as{"kind":"MHA"}>', 1, 1],
  ]);
});

test("layers whose tokens an indexer chooses are no layers of full attention; those of the draft model are", () => {
  const terms = ["self.full.latent", "self.full.indexer", "draft.self.full.kv"].map((label) => ({ ...PRODUCT, label }));
  assert.deepEqual(
    rowsOf(readCache({ ...CACHE, terms }))
      .map(({ what }) => what)
      .slice(0, 3),
    [
      "<kv.place_self_sparse{}> · <kv.part_latent{}>",
      "<kv.place_self_sparse{}> · <kv.part_indexer{}>",
      '<kv.draft{"part":""}><kv.place_self_full{}> · <kv.part_kv{}>',
    ],
  );
});

test("of a kind that is assumed, its row's source says so; numbers in a product have no commas", () => {
  const factors = [{ value: 1024, code: "tokens", params: {}, how: "min(1,048,576, 1,024)" }];
  const terms = [{ ...PRODUCT, factors }];
  const latent = { kind: "MLA", bytes: "6", terms, own: false, assumed: true, latent: [512, 64], head_dim: 128 };
  const grouped = { kind: "GQA", bytes: "7", terms, own: false, assumed: false, latent: null, n_kv_heads: 8 };
  const rows = rowsOf(readCache({ ...CACHE, kinds: [latent, grouped] })).slice(2);
  assert.deepEqual(
    rows.map(({ source }) => source),
    [
      'config.json; its card; <kv.mla_assumed{"head_dim":128,"latent":512,"rope":64}>',
      'config.json; its card; <kv.gqa_assumed{"kv":8}>',
    ],
  );
  assert.equal(rows[0].product, "1024 <kv.factor_tokens{}> (min(1048576, 1024))");
});

test("what a token adds is summed in each phase, and is one figure where every token adds the same", () => {
  const bytes = (answer) => readCache(answer).rates.map(({ until, bytes: added }) => [until, added]);
  assert.deepEqual(bytes(CACHE), [
    [4, "98765432109876543258"],
    [null, "48"],
  ]);
  assert.deepEqual(bytes({ ...CACHE, growth: null }), [[null, "24"]]);
});

test("a chart's file names the model asked about as it calls itself, parts of a stack in words", () => {
  const points = { tokens: [1, 2], bytes: ["5", HUGE] };
  const data = [
    { ...points, name: "text:kv.pasted", line: {}, models: ["text:kv.pasted", "text:kv.pasted"], contexts: [null, 1] },
    { ...points, name: "text:kv.stack_self_full_kv", models: ["Other", "Other"] },
    { tokens: [1], bytes: ["7"], name: "text:kv.stack_own_weights", models: ["Other"] },
    { ...points, models: ["Other", "Other"] }, // no line of its own
  ];
  const settings = { view: "lines", x: "log", y: "linear", unit: "gb" };
  const ranks = { tp: 8, pp: 2, dcp: 4 };
  const answer = { figure: { data }, excluded: [], batch: 3, dtype: "fp8", ...ranks };
  const cards = [{ name: "Other", source: ["its report", "its code"] }];
  const reading = readChart(answer, settings, { ...CARD, called: "Mine" }, cards);
  assert.equal(reading.at, "view=lines x=log y=linear unit=gb");
  assert.deepEqual(reading.values, { traces: 4 });
  assert.deepEqual(reading.beyond, [["text:kv.pasted", 1]]);
  const [own, other] = [
    { model: "Mine", source: "config.json; its card" },
    { model: "Other", source: "its report; its code" },
  ];
  const all = { batch: 3, ...ranks, kv_format: "fp8", what: "<kv-chart.whole_cache{}>" };
  const part = { ...all, what: "<kv.stack_self_full_kv{}>" };
  assert.deepEqual(rowsOf(reading), [
    { ...own, tokens: 1, ...all, bytes: 5 },
    { ...own, tokens: 2, ...all, bytes: HUGE },
    { ...other, tokens: 1, ...part, bytes: 5 },
    { ...other, tokens: 2, ...part, bytes: HUGE },
    { ...other, tokens: 1, batch: 3, ...ranks, kv_format: "", what: "<kv.stack_own_weights{}>", bytes: 7 },
  ]);
});

test("what a token more costs along a line is told as long as it stays the same", () => {
  const line = (bytes) => eachToken({ tokens: [128, 181, 256], bytes: bytes.map(String) });
  assert.deepEqual(line([1280, 1810, 2560]), [{ until: 256, each: 10n }]);
  assert.deepEqual(line([1280, 1810, 2110]), [
    { until: 181, each: 10n },
    { until: 256, each: 4n },
  ]);
});

const USE = {
  gpu: { name: "G", memory: "100" },
  by: "lines",
  share: "90",
  usable: "70",
  weights: "40",
  cache: "20",
  free: "10",
  fits: true,
  weights_in: "bf16",
  stored: [],
};
const BESIDE = { kept_back: "20", activation_bytes: "15", context: "5", left: "0" };
const FIT = { use: USE, beside: BESIDE, batch: { value: 2 }, context: { refused: {} }, bound: { each: 7.5 } };
const LAYOUT = { gpus: 4, tp: 2, pp: 2 };
const SHEET = { en: "a datasheet", zh: "数据手册" };
const NEEDS = {
  users: 3,
  tokens: 9,
  gpus: [
    { name: "G", memory: "100", percent: 100, reported: 0, source: SHEET, room: "70", at_least: 2, layout: LAYOUT },
    {
      name: "S",
      memory: "9",
      percent: 75,
      reported: 8,
      reported_in: "a/b #1",
      reporter: "rocm-smi",
      room: "6",
      at_least: 9,
      layout: null,
    },
  ],
};

test("a GPU's memory is shared out to the last byte; what is refused is said to be none", () => {
  const reading = readFit({ fit: FIT, needs: NEEDS, card: CARD });
  assert.equal(reading.at, "gpu=G fits=true");
  assert.deepEqual(reading.values, { free: 10, batch: 2, context: "none" });
  const sum = (amounts) => amounts.reduce((all, [, bytes]) => all + Number(bytes), 0);
  assert.equal(sum(reading.pieces), 100); // all of the memory
  assert.deepEqual(reading.pieces.at(-1), ["system", "10"]); // 100 less the share
  assert.deepEqual(
    reading.kept.map(([name]) => name),
    ["activations", "context", "fragmentation", "system"],
  );
  const rows = Object.fromEntries(
    rowsOf(reading).map(({ question, gpu, quantity, value }) => [`${question} ${gpu} ${quantity}`, value]),
  );
  assert.equal(rows["model  name"], "<kv.pasted{}>");
  const needed = (gpu, ...names) => names.map((name) => rows[`needed ${gpu} ${name}`]);
  assert.deepEqual(needed("G", "memory_from", "percent_usable", "room_bytes"), ["a datasheet", 100, 70]);
  assert.deepEqual(needed("S", "memory_from", "percent_usable", "room_bytes"), ["rocm-smi: a/b #1", 75, 6]);
  assert.deepEqual([rows["fits G free_bytes"], rows["fits G fits"], rows["fits G largest_context"]], [10, "true", ""]);
  assert.equal(rows["fits G tokens_per_second_at_most"], 7.5);
  assert.deepEqual([rows["needed G gpus_that_fit"], rows["needed S gpus_that_fit"]], [4, ""]);
});

test("by a share the rest is for what stands beside weights and cache, and may be too little", () => {
  const use = { ...USE, by: "share", share: "70", free: "-5", fits: false };
  const lacking = readFit({ fit: { ...FIT, use, beside: { ...BESIDE, left: "-3" } }, needs: null, card: null });
  assert.deepEqual(lacking.pieces, [
    ["weights", "40"],
    ["cache", "20"],
  ]);
  assert.deepEqual(lacking.kept.at(-1), ["lacking", "3"]);
  assert.equal(lacking.values.free, -5);
  const fitting = readFit({ fit: { ...FIT, use: { ...use, free: "10", fits: true } }, needs: null, card: null });
  assert.deepEqual(fitting.pieces.slice(2), [
    ["room", "10"],
    ["reserve", "30"],
  ]); // 100 less 70
  const none = readFit({ fit: null, needs: null, card: null });
  assert.deepEqual([none.at, none.values, savedRows(none).length], ["", {}, 1]);
});

test("by vLLM's rule the lines come out of the share, and what whole blocks lose is told", () => {
  const vllm = { graphs: "3", room: "22" }; // 85 - 40 - 15 - 5 - 3
  const use = { ...USE, by: "vllm", share: "85", usable: "62", free: "1", vllm }; // 22 - 20, of which 1 is in no block
  const reading = readFit({ fit: { ...FIT, use, beside: { ...BESIDE, left: "15" } }, needs: null, card: null });
  assert.deepEqual(reading.pieces, [
    ["weights", "40"],
    ["cache", "20"],
    ["activations", "15"],
    ["context", "5"],
    ["graphs", "3"],
    ["blocks", "1"],
    ["room", "1"],
    ["reserve", "15"],
  ]); // 100 in all
  assert.deepEqual(reading.kept, [
    ["activations", "15"],
    ["context", "5"],
    ["graphs", "3"],
    ["outside", "15"],
  ]);
  const rows = Object.fromEntries(rowsOf(reading).map(({ quantity, value }) => [quantity, value]));
  assert.deepEqual([rows.graphs_bytes, rows.outside_share_bytes, rows.decided_by], [3, 15, "vllm"]);
  assert.equal(rows.left_for_fragmentation_bytes, undefined);
});

const MODEL = { n_layers: 2, n_heads: 4, n_kv_heads: 2, head_dim: 3, d_model: 12, ffn_hidden: 5, vocab_size: 7 };

test("the work of a token is each matrix entry once, the output, and each key that a query meets", () => {
  // A layer: Q and O of 12 × 12, K and V of 12 × 6, three matrices of 12 × 5; the output 7 × 12.
  const layers = 2 * (2 * 144 + 2 * 72 + 3 * 60);
  const each = 2 * 4 * 2 * 3; // layers, heads, Q·K and the weighted sum, head_dim
  assert.equal(workOf(MODEL, 1, 5), layers + 84 + each * 5);
  assert.equal(workOf(MODEL, 5, pairsOf(5)), 5 * layers + 84 + each * (1 + 2 + 3 + 4 + 5));
});

test("the last step is told unless another is asked about; without any there is nothing to save", () => {
  const step = (tokens, seconds, same) => ({
    tokens,
    token_id: 9,
    cached_seconds: seconds,
    full_seconds: 4 * seconds,
    cached_work: 10,
    full_work: 10 * tokens,
    same,
  });
  const steps = [step(3, 0.25, true), step(4, 0.5, false)];
  const last = readRace(MODEL, steps, null);
  assert.equal(last.at, "tokens=4");
  const values = { cached_seconds: 0.5, full_seconds: 2, cached_work: 10, full_work: 40, same: "false" };
  assert.deepEqual(last.values, values);
  assert.deepEqual(last.sums, { cached: 0.75, full: 3, cachedWork: 20, fullWork: 70 });
  assert.deepEqual([last.differ, last.floor], [1, 0.25]);
  assert.equal(readRace(MODEL, steps, steps[0]).at, "tokens=3");
  assert.equal(readRace(MODEL, steps, step(8, 1, true)).at, "tokens=4"); // of another text
  assert.deepEqual(rowsOf(last)[0], {
    tokens: 3,
    token_id: 9,
    cached_seconds: 0.25,
    full_seconds: 1,
    cached_multiply_adds: 10,
    full_multiply_adds: 30,
    same_token: "true",
  });
  const none = readRace(MODEL, [], null);
  assert.deepEqual([none.at, none.values, savedRows(none).length], ["none", {}, 1]);
});

test("a log's figures are told with what its last difference is, and saved as the engine writes them", () => {
  const cell = (value, how = "") => ({ value, how });
  const answer = {
    engine: "vLLM",
    model: "text:kv.pasted",
    dtype: "bf16",
    dtype_v: "bf16",
    ranks: 2,
    rows: [
      { quantity: "bytes", formula: cell("64", "8 × 8"), reserved: cell(HUGE), logged: null, differs: false },
      { quantity: "concurrency", formula: null, reserved: null, logged: cell("2.00"), differs: false },
    ],
    differences: [
      { code: "blocks", of: "pool", bytes: "-8", params: { size: 16 }, source: { text: "code", address: "" } },
      { code: "rounding", of: "pool", bytes: "1", params: {}, source: { text: "code", address: "https://a" } },
      { code: "remark", of: "pool", bytes: null, params: {}, source: null },
      { code: "page", of: "request", bytes: "5", params: {}, source: null },
    ],
    weights: { counted: "90", dtype: "bf16", logged: "100", text: "100 B", more: "10", line: 3 },
    beside: [{ code: "compute_buffer", value: "CPU compute buffer size = 5 MiB", line: 7 }],
  };
  const reading = readLog(answer);
  assert.equal(reading.at, "engine=vLLM dtype=bf16");
  assert.deepEqual(reading.values, { formula: 64, reserved: HUGE, logged: "none", rest: "rounding" });
  const rows = rowsOf(reading).map((row) => Object.values(row));
  assert.deepEqual(rows, [
    ["engine", "vLLM", "<kv.pasted{}>", "bf16", "ranks=2"],
    ["bytes", "formula", 64, "8 × 8", ""],
    ["bytes", "reserved", HUGE, "", ""],
    ["concurrency", "logged", "2.00", "", ""],
    ["blocks", "difference_pool", -8, "size=16", "code"],
    ["rounding", "difference_pool", 1, "", "https://a"],
    ["remark", "difference_pool", "", "", ""],
    ["page", "difference_request", 5, "", ""],
    ["weights", "counted", 90, "bf16", ""],
    ["weights", "logged", 100, "100 B", "line 3"],
    ["weights", "difference", 10, "", ""],
    ["compute_buffer", "logged", "CPU compute buffer size = 5 MiB", "", "line 7"],
  ]);
  assert.deepEqual([readLog(null).at, readLog(null).values, savedRows(readLog(null)).length], ["", {}, 1]);
});

test("how many layers keep every token is said where all do, or where the others have one window", () => {
  const card = { n_layers: 42, window: 4096, chunk: null };
  const phase = (until, ...layers) => ({
    until,
    terms: layers.map((value) => ({ factors: [{ code: "layers", value }], bytes: "1" })),
  });
  const growth = (...phases) => ({ kind: "sliding", phases });
  assert.deepEqual(layersKept({ ...card, window: null }, null), { all: 42, some: 0, latest: 0 });
  assert.equal(layersKept(card, null), null);
  assert.deepEqual(layersKept(card, growth(phase(4096, 21, 21), phase(null, 21))), { all: 21, some: 21, latest: 4096 });
  assert.equal(layersKept(card, growth(phase(4096, 42, 42), phase(null, 42))), null); // a layer that keeps two things
});
