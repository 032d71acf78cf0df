import assert from "node:assert/strict";
import { test } from "node:test";
import { aheadAtOnce, layerBytes } from "../../visuals/static/prefetch.js";
import { createFetching } from "../../visuals/static/fetching.js";
import { createStore } from "../../visuals/static/store.js";
import { allNeurons, layerMessage, layersMessage, runMessage } from "./payload_help.js";
import { settled } from "./settled_help.js";

globalThis.requestAnimationFrame = () => 1;

function connected(answers = {}, there = undefined) {
  const store = createStore();
  const asked = [];
  const ask = (name, usual) => async (request) => {
    asked.push([name, request]);
    return (answers[name] ?? usual)(request);
  };
  const server = {
    layers: ask("layers", ({ layers, token }) => layersMessage(layers, token)),
    neurons: ask("neurons", ({ layer, token }) =>
      token === null ? allNeurons(layer) : layerMessage(layer, 3, token).neurons,
    ),
    detail: ask("detail", () => ({ kind: "detail", data: {} })),
    rerun: ask("rerun", () => runMessage([5, 6, 7], { id: "renewed" })),
  };
  return { store, asked, fetching: createFetching(store, server, there) };
}

test("a small run's layers are fetched ahead, each once", async () => {
  const { store, asked } = connected();
  store.publish(runMessage());
  await settled();
  assert.deepEqual([...store.state.trace.layers.keys()].sort(), [0, 1, 2, 3]);
  assert.deepEqual(
    asked.filter(([name]) => name === "layers").map(([, request]) => request.layers),
    [[1, 2, 3]],
  );
});

test("nothing is fetched ahead until somebody is there; what is chosen is", async () => {
  let come = null;
  const { store, asked } = connected(
    {},
    new Promise((done) => {
      come = done;
    }),
  );
  store.publish(runMessage());
  await settled();
  assert.deepEqual(asked, []);
  store.select({ layer: 2 });
  await settled();
  assert.deepEqual(
    asked.map(([name, request]) => [name, request.layers]),
    [["layers", [2]]],
  );
  come();
  await settled();
  assert.deepEqual([...store.state.trace.layers.keys()].sort(), [0, 1, 2, 3]);
});

test("while another run is awaited nothing is fetched ahead of that shown; where it is refused, all is", async () => {
  const { store, asked } = connected();
  store.publish(runMessage());
  store.awaitRun({ prompt: "another", model: null, act: "read" });
  await settled();
  assert.deepEqual(asked, []);
  store.publish({ kind: "message", code: "prompt_too_long", text: "" });
  await settled();
  assert.deepEqual([...store.state.trace.layers.keys()].sort(), [0, 1, 2, 3]);
});

test("a layer on its way ahead is asked for again when it is looked at, and no other one twice", async () => {
  const release = {};
  const { store, asked } = connected({
    layers: async ({ layers, ahead }) => {
      await new Promise((resolve) => (release[ahead] = resolve));
      return layersMessage(layers);
    },
  });
  store.publish(runMessage());
  await settled();
  store.select({ layer: 2 });
  await settled();
  store.select({ head: 1 });
  await settled();
  assert.equal(store.layer(), null);
  release.false();
  await settled();
  const layer = store.layer();
  assert.equal(layer.index, 2);
  release.true();
  await settled();
  assert.equal(store.layer(), layer); // with all that has come for it since
  assert.equal(store.state.trace.layers.size, 4);
  assert.deepEqual(
    asked.filter(([name]) => name === "layers").map(([, { layers, ahead }]) => [layers, ahead]),
    [
      [[1, 2, 3], true],
      [[2], false],
    ],
  );
});

test("runs that follow each other quickly: the last one's layers are all fetched", async () => {
  const { store } = connected();
  for (let i = 0; i < 12; i++) {
    store.publish(runMessage([i, 6, 7], { id: `run ${i}` }));
    await new Promise((resolve) => setTimeout(resolve, i % 3));
  }
  await settled();
  assert.equal(store.state.trace.id, "run 11");
  assert.equal(store.state.trace.layers.size, 4);
});

test("a large run's layers are fetched when they are looked at", async () => {
  const { store, asked } = connected();
  const ids = new Array(20_000).fill(1);
  store.publish(runMessage(ids));
  assert.ok(layerBytes(store.state.trace) > 1e6);
  await settled();
  assert.equal(asked.length, 0);
  store.select({ layer: 2 });
  await settled();
  assert.deepEqual(
    asked.map(([name, request]) => [name, request.layers]),
    [["layers", [2]]],
  );
});

test("of a larger run the layers beside the selected one are fetched ahead once it stands still", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { store, asked } = connected();
  const layers = () => asked.filter(([name]) => name === "layers").map(([, request]) => request.layers);
  const rest = async () => {
    await settled();
    context.mock.timers.tick(300);
    await settled();
  };
  store.publish(runMessage(new Array(6_000).fill(1)));
  const size = layerBytes(store.state.trace);
  assert.ok(size > 1e6 && size < 4e6, `${size}`);
  await settled();
  assert.deepEqual(layers(), []);
  await rest();
  assert.deepEqual(layers(), [[1]]);
  store.select({ layer: 1 }); // beside it lies 2
  await settled();
  store.select({ layer: 3 }); // before it has stood still
  await rest();
  assert.deepEqual(layers(), [[1], [3]]);
  await rest();
  assert.deepEqual(layers(), [[1], [3], [2]]);
});

test("of a larger run the layer on which the pointer rests is there when it is clicked", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { store, asked, fetching } = connected();
  const layers = () => asked.filter(([name]) => name === "layers").map(([, request]) => request.layers);
  const rest = async (long) => {
    context.mock.timers.tick(long);
    await settled();
  };
  store.publish(runMessage(new Array(6_000).fill(1)));
  store.preview({ layer: 2 }); // passed over
  await rest(40);
  store.preview({ layer: 3 });
  await rest(40);
  assert.deepEqual(layers(), []);
  await rest(40);
  assert.deepEqual(layers(), [[3]]);
  assert.ok(store.state.trace.layers.has(3));
  store.preview({ layer: 3 });
  store.select({ layer: 3 });
  fetching.expect(3);
  await rest(100);
  assert.deepEqual(layers(), [[3]]); // what is here is not asked for again
});

test("a click waits for the layer that the pointer has asked for, and a large layer for the click", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let answer;
  const slow = ({ layers, token }) =>
    new Promise((done) => (answer = () => done(layersMessage(layers, token)))).then((message) => message);
  const { store, asked, fetching } = connected({ layers: slow });
  const layers = () => asked.filter(([name]) => name === "layers").map(([, request]) => request.layers);
  store.publish(runMessage(new Array(6_000).fill(1)));
  fetching.expect(3);
  context.mock.timers.tick(100);
  store.select({ layer: 3 });
  answer();
  await settled();
  assert.deepEqual(layers(), [[3]]);
  store.publish(runMessage(new Array(20_000).fill(1), { id: "large" }));
  fetching.expect(2);
  context.mock.timers.tick(100);
  await settled();
  assert.deepEqual(layers(), [[3], [3]]); // the selected one, of either run
});

test("of a network with many weights one layer is asked for at once, of a small one eight", () => {
  const { store } = connected();
  store.publish(runMessage());
  const { model, T } = store.state.trace;
  const atOnce = (n_parameters, n_layers) => aheadAtOnce({ T, model: { ...model, n_parameters, n_layers } });
  assert.deepEqual([atOnce(6.6e6, 8), atOnce(135e6, 30), atOnce(30e6, 10)], [8, 1, 2]);
  assert.equal(aheadAtOnce({ T: 20_000, model: { ...model, n_parameters: 6.6e6, n_layers: 8 } }), 0);
});

test("all neurons of the locked layer come ahead, and hovering asks nothing", async () => {
  const { store, asked } = connected();
  store.publish(runMessage());
  await settled();
  assert.deepEqual(
    asked.filter(([name]) => name === "neurons").map(([, request]) => request.token),
    [null],
  );
  assert.deepEqual([...store.layer().neurons.keys()], [0, 1, 2]);
  assert.deepEqual([...store.layer().neurons.get(1).gate.data], [6, 7, 8, 9, 10, 11]);
  asked.length = 0;
  store.preview({ query: 0, layer: 2 });
  await settled();
  assert.deepEqual(asked, []);
});

test("while a text is written nothing is fetched ahead, once it is there all is", async () => {
  const { store, asked } = connected();
  for (const id of ["a part", "a longer part"]) {
    store.publish(runMessage([5, 6, 7], { id, n_prompt: 2, generating: true }));
    await settled();
  }
  assert.deepEqual(asked, []);
  store.publish(runMessage([5, 6, 7, 8], { id: "all", n_prompt: 2 }));
  await settled();
  assert.deepEqual(
    asked.map(([name, { run, ahead }]) => [name, run, ahead]),
    [
      ["layers", "all", true],
      ["neurons", "all", true],
    ],
  );
});

test("of a large run a token's neurons are asked for once, when it is chosen", async () => {
  const { store, asked } = connected();
  store.publish(runMessage(new Array(20_000).fill(1)));
  await settled();
  store.select({ query: 5 });
  store.select({ query: 5 });
  await settled();
  assert.deepEqual(
    asked.map(([name, request]) => [name, request.layer, request.token]),
    [["neurons", 0, 5]],
  );
  assert.ok(store.layer().neurons.has(5));
});

test("a run that the server let go of is run again, with the selection kept", async () => {
  const expired = () => ({ kind: "message", level: "error", code: "run_expired", params: {} });
  const { store, asked } = connected({
    layers: ({ run, layers }) => (run === "r" ? expired() : layersMessage(layers)),
  });
  store.publish(runMessage());
  store.select({ layer: 2, query: 1 });
  await settled();
  assert.equal(store.state.trace.id, "renewed");
  assert.deepEqual([store.state.layer, store.state.query], [2, 1]);
  assert.equal(asked.filter(([name]) => name === "rerun").length, 1);
  assert.deepEqual(asked.find(([name]) => name === "rerun")[1].ids, [5, 6, 7]);
});

test("of a text that is being written a part that the server let go of is not run again", async () => {
  const expired = () => ({ kind: "message", level: "error", code: "run_expired", params: {} });
  const { store, asked } = connected({
    layers: ({ run, layers }) => (run === "part" ? expired() : layersMessage(layers)),
  });
  store.publish(runMessage([5, 6, 7], { id: "part", n_prompt: 2, generating: true }));
  store.select({ layer: 2, query: 1 });
  await settled();
  assert.ok(asked.some(([name, { run }]) => name === "layers" && run === "part"));
  assert.equal(asked.filter(([name]) => name === "rerun").length, 0);
  store.publish(runMessage([5, 6, 7, 8], { id: "all", n_prompt: 2 }));
  await settled();
  assert.equal(store.state.trace.id, "all");
  assert.ok(store.layer());
});

test("an answer for a run that is no longer shown is dropped", async () => {
  let release;
  const slow = new Promise((resolve) => {
    release = resolve;
  });
  const { store } = connected({
    layers: async ({ layers }) => {
      await slow;
      return layersMessage(layers);
    },
  });
  store.publish(runMessage());
  const old = store.state.trace;
  store.publish(runMessage([1, 2, 3], { id: "new" }));
  release();
  await settled();
  assert.deepEqual([...old.layers.keys()], [0]);
});

test("a server that does not answer is said once, and the run stays", async () => {
  const { store } = connected({
    layers: async () => {
      throw new TypeError("network");
    },
  });
  const heard = [];
  store.on("message", (message) => heard.push(message.code));
  store.publish(runMessage());
  await settled();
  assert.deepEqual(heard, ["no_connection"]);
  assert.equal(store.state.trace.T, 3);
});

test("what failed ahead is not asked ahead again of a run until the server is back, but when looked at", async () => {
  let away = true;
  const { store, asked, fetching } = connected({
    layers: async ({ layers, token }) => {
      if (away) throw new TypeError("network");
      return layersMessage(layers, token);
    },
  });
  const questions = () => asked.filter(([name]) => name === "layers").map(([, { layers, ahead }]) => [layers, ahead]);
  store.publish(runMessage());
  await settled();
  store.select({ head: 1 });
  await settled();
  assert.deepEqual(questions(), [[[1, 2, 3], true]]);
  store.select({ layer: 2 });
  await settled();
  assert.deepEqual(questions().slice(1), [[[2], false]]);
  away = false;
  await fetching.again();
  assert.deepEqual([...store.state.trace.layers.keys()].sort(), [0, 1, 2, 3]);
});

test("a question counts until its answer is here, or it has failed", async () => {
  let answer;
  const late = () =>
    new Promise((resolve, reject) => {
      answer = { resolve, reject };
    });
  const { store, fetching } = connected({ neurons: late });
  assert.equal(fetching.asking(), 0);
  store.publish(runMessage());
  await settled();
  assert.equal(fetching.asking(), 1);
  answer.reject(new Error("the line is cut"));
  await settled();
  assert.equal(fetching.asking(), 0);
});

test("where others have their turn first a question waits, and is asked again by itself", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const turn = () => new Promise(setImmediate);
  let refusals = 2;
  const { store, asked, fetching } = connected({
    detail: () =>
      refusals-- > 0
        ? { kind: "message", level: "error", code: "budget", params: { seconds: 3 } }
        : { kind: "detail", data: { lost: 1 } },
  });
  const said = [];
  store.on("message", ({ code }) => said.push(code));
  store.on("again", ({ code }) => said.push(`again after ${code}`));
  store.publish(runMessage());
  const { trace } = store.state;
  assert.equal(fetching.detail("rests", { token: 2 }), null);
  await turn();
  context.mock.timers.tick(2999);
  await turn();
  assert.equal(fetching.detail("rests", { token: 2 }), null); // what waits is not asked beside that
  const questions = () => asked.filter(([name]) => name === "detail").length;
  assert.equal(questions(), 1);
  assert.deepEqual(said, ["budget"]);
  context.mock.timers.tick(1);
  await turn();
  assert.equal(questions(), 2);
  context.mock.timers.tick(3000);
  await turn();
  assert.equal(questions(), 3);
  assert.deepEqual(said, ["budget", "again after budget", "budget", "again after budget"]);
  assert.equal(fetching.detail("rests", { token: 2 }, trace).lost, 1);
});

test("what is fetched ahead lets a question go before it, but not for ever", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { requestIdleCallback: usual } = globalThis; // of which `settled` knows
  globalThis.requestIdleCallback = (done) => queueMicrotask(done);
  context.after(() => Object.assign(globalThis, { requestIdleCallback: usual }));
  let answer = null;
  const { store, asked, fetching } = connected({ detail: () => new Promise((done) => (answer = done)) });
  const layers = () => asked.filter(([name]) => name === "layers");
  const turns = async () => {
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  };
  store.publish(runMessage());
  fetching.detail("rests", { token: 2 });
  await turns();
  assert.deepEqual(layers(), []);
  answer({ kind: "detail", data: {} });
  await turns();
  assert.equal(layers().length, 1);

  store.publish(runMessage([5, 6, 8], { id: "other" }));
  fetching.detail("rests", { token: 2 });
  await turns();
  assert.equal(layers().length, 1);
  context.mock.timers.tick(1000);
  await turns();
  assert.equal(layers().length, 2);
});

/** A run of the same model, answered once: how often each question was then asked, and the run that came last. */
async function answeredAgain(between, then, { answers, first = {} } = {}) {
  const { store, asked, fetching } = connected({
    detail: answers ?? (({ what }) => ({ kind: "detail", data: { what } })),
  });
  store.publish(runMessage([5, 6, 7], first));
  const one = store.state.trace;
  fetching.detail("rests", { token: 2 });
  await settled();
  await between({ store, fetching, first: one });
  asked.length = 0;
  store.publish(runMessage(...then));
  await settled();
  const found = fetching.detail("rests", { token: 2 });
  await settled();
  const names = asked.map(([name, { what }]) => what ?? name);
  return { first: one, last: store.state.trace, found, names, store, fetching };
}
const changed = async ({ store, fetching }) => {
  store.publish(runMessage([5, 6, 7], { id: "off", changes: { heads: [[0, 1]] } }));
  assert.equal(fetching.detail("rests", { token: 2 }), null); // of this run nothing is known
  await settled();
};

test("what was answered about a run holds when a change is taken back, with its layers", async () => {
  const { first, last, found, names } = await answeredAgain(changed, [[5, 6, 7], { id: "back" }]);
  assert.notEqual(first, last);
  assert.deepEqual([last.id, found, names], ["back", { what: "rests" }, []]);
  assert.deepEqual([...last.layers.keys()].sort(), [0, 1, 2, 3]);
});

test("what was answered about a run holds for no run of other tokens, changes, prompt or model", async () => {
  const { model } = runMessage();
  const others = [
    [[5, 6, 8], { id: "x" }],
    [[5, 6, 7], { id: "x", changes: { heads: [[0, 2]] } }],
    [[5, 6, 7], { id: "x", prompt: "q" }],
    [[5, 6, 7], { id: "x", n_prompt: 2 }],
    [[5, 6, 7], { id: "x", generating: true }],
    [[5, 6, 7], { id: "x", model: { ...model, name: "other" } }],
    [[5, 6, 7], { id: "x", model: { ...model, dtype: "bfloat16" } }],
    [[5, 6, 7], { id: "x", next: { ...runMessage().next, ids: [2, 1] } }],
  ];
  for (const then of others) {
    const { found, names } = await answeredAgain(changed, then);
    assert.deepEqual([found, names.includes("rests")], [null, true], JSON.stringify(then));
  }
});

test("an answer that names another run, or did not come, or is of a patched run is asked for anew", async () => {
  const refused = { kind: "message", level: "error", code: "bad_request", params: {} };
  const ask = async ({ fetching }) => {
    fetching.detail("lens", { other: "r0" });
    fetching.detail("values", { other: null });
    fetching.detail("windows", {});
    await settled();
  };
  const answers = ({ what }) => (what === "windows" ? refused : { kind: "detail", data: { what } });
  const both = async (made) => (await ask(made), changed(made));
  const { last } = await answeredAgain(both, [[5, 6, 7], { id: "back" }], { answers });
  assert.deepEqual([...last.details.keys()].sort(), ['rests {"token":2}', 'values {"other":null}']);
  const patched = { changes: { patches: [[0, 1]], source: "r0" } };
  const again = await answeredAgain(changed, [[5, 6, 7], { id: "x", ...patched }], { first: patched });
  assert.ok(again.names.includes("rests"));
});

test("of what is measured in parts all are taken over or none: the server goes on from its own", async () => {
  const walk = (until) => async (made) => {
    for (let start = 0; start < until; start += 2) made.fetching.detail("heads", { token: 2, start });
    await settled();
    await changed(made);
  };
  const answers = ({ what, start = 0 }) => ({
    kind: "detail",
    data: what === "heads" ? { done: start + 2, total: 4 } : {},
  });
  for (const [until, count] of [
    [2, 0],
    [4, 2],
  ]) {
    const { last } = await answeredAgain(walk(until), [[5, 6, 7], { id: "back" }], { answers });
    assert.equal([...last.details.keys()].filter((key) => key.startsWith("heads")).length, count);
  }
});

test("the run kept as A is remembered, and of all others the last few, of large ones the small answers", async () => {
  const others =
    (count) =>
    async ({ store }) => {
      for (let n = 0; n < count; n += 1) store.publish(runMessage([n, 1, 2], { id: `other ${n}` }));
      await settled();
    };
  const asksAfter = async (between, more) =>
    (await answeredAgain(between, [[5, 6, 7], { id: "back" }], more)).names.includes("rests");
  assert.equal(await asksAfter(others(2)), false);
  assert.equal(await asksAfter(others(5)), true);
  const keeping = async (made) => (made.store.keep(made.first), others(5)(made));
  assert.equal(await asksAfter(keeping), false);
  const large = new Float32Array(5e6);
  const grow = async (made) => {
    made.first.details.set('values {"layer":0}', { data: large });
    await others(1)(made);
  };
  const { last, names } = await answeredAgain(grow, [[5, 6, 7], { id: "back" }]);
  assert.deepEqual([names.includes("rests"), last.details.has('values {"layer":0}')], [false, false]);
});
