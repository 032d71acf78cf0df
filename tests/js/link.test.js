import assert from "node:assert/strict";
import { test } from "node:test";
import { readLink, writeLink } from "../../visuals/static/link.js";
import { fieldsOf, readRuns, recipeOf } from "../../visuals/static/linked.js";
import { restore } from "../../visuals/static/restore.js";
import { createStore } from "../../visuals/static/store.js";
import { runMessage } from "./payload_help.js";

globalThis.requestAnimationFrame = (paint) => setTimeout(paint, 0);
const ONE = {
  chapter: undefined,
  language: undefined,
  selection: {},
  settings: {},
  prompt: undefined,
  model: undefined,
  generated: [],
  faults: [],
  runs: false,
};

test("a link brings back what it was made of", () => {
  const view = {
    chapter: "kv",
    prompt: "猫在沙发上 & <b>=#",
    language: "zh",
    model: "a/b",
    generated: [3, 14, 159],
    selection: { layer: 2, head: 1, query: 5, key: 0, pair: 3, neuron: 17 },
    settings: { kv: { model: "Llama-3 8B", tokens: "4096" }, "logit-terms": { versus: "5" } },
    faults: [],
    runs: false,
  };
  assert.deepEqual(readLink(writeLink(view)), view);
});

test("a link brings back two runs, what was changed in each, and the side", () => {
  const earlier = { prompt: "", model: "m", generated: [], changes: { attention: [1] } };
  const kept = {
    prompt: "The 狗 &a-prompt=x",
    model: "m",
    generated: [7],
    changes: { ffn: [0, 3], patches: [[2, 1]] },
    source: earlier,
  };
  const run = {
    prompt: "b",
    model: "m",
    generated: [],
    changes: {
      heads: [
        [3, 7],
        [0, 0],
      ],
      neurons: [[1, 687]],
      patches: [[8, 4]],
    },
  };
  const runs = { run, kept, side: "B-A", faults: [] };
  const hash = writeLink({ prompt: "b", model: "m", selection: { layer: 3 }, more: fieldsOf(runs) });
  assert.deepEqual(readRuns(hash), runs);
  assert.deepEqual(readLink(hash), { ...ONE, prompt: "b", model: "m", selection: { layer: 3 }, runs: true });
  assert.match(hash, /off-heads=3\.7_0\.0.*a-off-ffn=0_3.*a-from-off-attention=1/);
});

test("a run as the link tells it", () => {
  const plain = { prompt: "a", model: { name: "m" }, tokens: { ids: [4] }, nPrompt: 1, source: null, changes: {} };
  const trace = {
    prompt: "p",
    model: { name: "m", n_layers: 2 },
    tokens: { ids: [5, 6, 9] },
    nPrompt: 2,
    source: plain,
    changes: { heads: [[0, 1]], ffn: [], source: "id of a run" },
  };
  const source = { prompt: "a", model: "m", generated: [], changes: {} };
  assert.deepEqual(recipeOf(trace), { prompt: "p", model: "m", generated: [9], changes: { heads: [[0, 1]] }, source });
});

test("a link leaves out what is not chosen", () => {
  const hash = writeLink({ prompt: "x", selection: { layer: 0, neuron: null } });
  assert.deepEqual(readLink(hash).selection, { layer: 0 });
  assert.deepEqual(readLink(""), ONE);
});

test("nonsense in a link is ignored", () => {
  const link = readLink("#layer=two&head=-1&token=1e9&more=1.x.3.99999999&key=4&%=%&=");
  assert.deepEqual(link.selection, { key: 4 });
  assert.deepEqual([link.generated, link.runs], [[1, 3], false]);
  const { run, kept, side, faults } = readRuns("#side=C&off=1&more=x");
  assert.deepEqual([run.changes, run.generated, kept, side, faults], [{}, [], undefined, undefined, []]);
});

test("changes that cannot be read are named, never taken for others", () => {
  const hostile = [
    "",
    "1",
    "1.2.3",
    "-1.2",
    "1.2_",
    "1e3.0",
    "0x1.0",
    " 1.2",
    "1.2,3.4",
    "9999999.0",
    "__proto__",
    "<img src=x>",
    "1.2_".repeat(300) + "1.2",
  ];
  for (const value of hostile) {
    const { run, kept, faults } = readRuns(`#off-heads=${encodeURIComponent(value)}&a-prompt=x&a-off-ffn=1.5`);
    assert.deepEqual([run.changes, kept.changes], [{}, {}], value);
    assert.deepEqual(
      faults.map(({ field }) => field),
      ["off-heads", "a-off-ffn"],
      value,
    );
  }
  readLink("#__proto__.polluted=1&constructor.x=2&off-__proto__=1.2");
  assert.equal({}.polluted, undefined);
});

test("runs that take from one another without end are cut off", () => {
  const chain = Array.from({ length: 50 }, (_, i) => `${"from-".repeat(i)}prompt=x`).join("&");
  let depth = 0;
  for (let { source } = readRuns(`#${chain}`).run; source; source = source.source) depth++;
  assert.ok(depth > 0 && depth < 10);
});

/** A store that shows a plain run, and what `restore` asks of the server and says. */
function opened(answer) {
  const store = createStore();
  store.publish(runMessage([5, 6, 7]));
  const [asked, said] = [[], []];
  store.on("message", (message) => said.push(message));
  const recall = async (described) => {
    asked.push(described);
    return answer(described, asked.length);
  };
  return { store, asked, said, fetching: { recall } };
}

test("heads that look at a source and a prefix that sees itself are changes of a run in the link", async () => {
  const { asked, store, fetching } = opened((described) => ({
    ...runMessage([5, 6, 7], { id: "changed" }),
    changes: described.changes,
  }));
  assert.equal(readLink("#prefix=8").runs, true);
  await restore("#prompt=b&off-cross=1.2_0.3&prefix=8", store, fetching);
  assert.deepEqual(
    asked.map(({ changes }) => changes),
    [
      {
        cross: [
          [1, 2],
          [0, 3],
        ],
        prefix: [8],
      },
    ],
  );
});

test("what is off in an encoder is told apart from what is off in a decoder, also where it is damaged", async () => {
  const changes = {
    heads: [[1, 2]],
    encoder_heads: [
      [0, 4],
      [2, 1],
    ],
    encoder_attention: [1],
    encoder_ffn: [0, 2],
    encoder_neurons: [[1, 687]],
  };
  const runs = {
    run: { prompt: "b", model: "m", generated: [], changes },
    kept: { prompt: "a", model: "m", generated: [7], changes: { encoder_ffn: [1] } },
    side: "B-A",
    faults: [],
  };
  const hash = writeLink({ more: fieldsOf(runs) });
  assert.deepEqual(readRuns(hash), runs);
  assert.match(hash, /off-heads=1\.2&off-encoder-heads=0\.4_2\.1&off-encoder-attention=1&.*a-off-encoder-ffn=1/);
  const damaged = readRuns("#off-encoder-heads=1&off-encoder-ffn=1.2&off-encoder-neurons=x&off-encoder-cross=1.2");
  assert.deepEqual(
    [damaged.run.changes, damaged.faults.map(({ field }) => field)],
    [{}, ["off-encoder-heads", "off-encoder-ffn", "off-encoder-neurons"]],
  );
  const refusal = { kind: "message", code: "field", params: { field: "encoder.layer", value: 9, expected: "0 to 2" } };
  const { store, said, fetching } = opened(() => refusal);
  await restore("#off-heads=9.0&off-encoder-ffn=9", store, fetching);
  assert.deepEqual(
    said.map(({ code, params }) => [code, params.link]),
    [["link_change", "off-encoder-ffn"]],
  );
});

test("A is run first, and B's patches take A's stream", async () => {
  const { store, asked, said, fetching } = opened((described, count) => ({
    ...runMessage([5, 6, 7], { id: `run ${count}` }),
    changes: described.changes,
  }));
  await restore("#prompt=b&patch=2.1&a-prompt=a&a-off-ffn=1&side=A", store, fetching);
  assert.deepEqual(
    asked.map(({ prompt, changes }) => [prompt, changes]),
    [
      ["a", { ffn: [1] }],
      ["b", { patches: [[2, 1]], source: "run 1" }],
    ],
  );
  assert.deepEqual([said, store.state.side, store.state.kept.id, store.sides().B.id], [[], "A", "run 1", "run 2"]);
});

test("what cannot be run is said under the link's own field, and the plain run stays", async () => {
  const refusal = { kind: "message", code: "field", params: { field: "layer", value: 99, expected: "0 to 7" } };
  const { store, said, fetching } = opened(() => refusal);
  const plain = store.state.trace;
  await restore("#off-heads=1.2_99.0", store, fetching);
  await restore("#a-prompt=x&a-off-ffn=99", store, fetching);
  await restore("#off-heads=a", store, fetching);
  await restore("#patch=0.0", store, fetching);
  assert.deepEqual(
    said.map(({ code, params }) => [code, params.link ?? params.field, params.expected]),
    [
      ["link_change", "off-heads", "0 to 7"],
      ["link_change", "a-off-ffn", "0 to 7"],
      ["link_form", "off-heads", "3.7_4.0"],
      ["link_source", "patch", "a-prompt"],
    ],
  );
  assert.deepEqual([store.state.trace, store.state.kept], [plain, null]);
});

test("a reader who runs something else meanwhile keeps it", async () => {
  const { store, fetching } = opened(() => {
    store.publish(runMessage([1, 2], { id: "own" }));
    return runMessage([5, 6, 7], { id: "link's" });
  });
  await restore("#off-ffn=1", store, fetching);
  assert.equal(store.state.trace.id, "own");
});

test("where nothing could be run, nothing that a link says of a run is asked for", async () => {
  const { asked, said, fetching } = opened(() => runMessage([5, 6, 7]));
  const store = createStore();
  await restore("#off-ffn=1&side=A", store, fetching);
  assert.deepEqual([asked, said, store.state.kept], [[], [], null]);
});

test("one run that is kept as A, with its changes", async () => {
  const { store, fetching } = opened((described) => ({
    ...runMessage([5, 6, 7], { id: "changed" }),
    changes: described.changes,
  }));
  await restore("#off-ffn=1&side=A", store, fetching);
  assert.deepEqual([store.state.kept.id, store.sides()], ["changed", null]);
});

test("a long config stands in a link, as long as a pasted one may be", () => {
  const config = (characters) => readLink(writeLink({ settings: { kv: { config: "{".repeat(characters) } } })).settings;
  assert.equal(config(100_000).kv.config.length, 100_000); // MAX_CHARACTERS of model/published/hf_spec.py
  assert.deepEqual(config(100_001), {});
});
