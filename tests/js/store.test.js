import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { sendsBeside } from "../../visuals/static/awaited.js";
import { clamp, follow } from "../../visuals/static/selection.js";
import { createStore } from "../../visuals/static/store.js";
import { runMessage, stepMessage } from "./payload_help.js";

let frames = [];
globalThis.requestAnimationFrame = (paint) => frames.push(paint);
/** What was asked for is painted, then the next animation frame begins. */
async function nextFrame() {
  await null;
  const due = frames;
  frames = [];
  due.forEach((paint) => paint());
}
beforeEach(() => {
  frames = [];
});

async function withRun(ids) {
  const store = createStore();
  store.publish(runMessage(ids));
  await nextFrame();
  return store;
}

test("a run selects its last token, and the one before as key", async () => {
  const { state } = await withRun([5, 6, 7]);
  assert.deepEqual([state.query, state.key, state.layer], [2, 1, 0]);
});

test("a preview shows over the lock and goes away again", async () => {
  const store = await withRun();
  store.select({ layer: 1, query: 1 });
  store.preview({ layer: 3 });
  assert.deepEqual([store.state.layer, store.state.locked.layer, store.state.query], [3, 1, 1]);
  store.endPreview();
  assert.equal(store.state.layer, 1);
});

test("a click ends a preview", async () => {
  const store = await withRun();
  store.preview({ query: 0, key: 0 });
  store.select({ query: 1 });
  assert.deepEqual([store.state.query, store.state.key], [1, 1]);
});

test("the selection stays inside the run, and the key before the query", async () => {
  const store = await withRun();
  store.select({ layer: 99, head: -1, query: 1, key: 2, pair: 9, neuron: 99 });
  assert.deepEqual(store.state.locked, { layer: 3, head: 0, query: 1, key: 1, pair: 1, neuron: 5 });
  assert.equal(clamp({ ...store.state.locked, query: NaN }, store.state.trace).query, 0);
});

test("what a smaller network has no place for is there again with a larger one, unless another is chosen", async () => {
  const store = await withRun();
  const { model } = runMessage();
  const show = (id, name, n_layers, n_heads) =>
    store.publish(runMessage([5, 6, 7], { id, model: { ...model, name, n_layers, n_heads } }));
  const place = () => [store.state.layer, store.state.head, store.state.query];
  store.select({ layer: 3, head: 2, query: 1 });
  show("2", "small", 2, 1);
  assert.deepEqual(place(), [1, 0, 1]);
  show("3", "smaller", 1, 1);
  show("4", "m", 4, 4);
  assert.deepEqual(place(), [3, 2, 1]);
  show("5", "small", 2, 1);
  store.select({ layer: 0 });
  show("6", "m", 4, 4);
  assert.deepEqual(place(), [0, 2, 1]);
  show("7", "small", 2, 1);
  store.pin({ layer: 9, head: 0 }); // a link's place that no run has is none of the reader's
  show("8", "smaller", 1, 1);
  show("9", "m", 4, 4);
  assert.deepEqual(place(), [0, 0, 2]);
});

test("a side of another network keeps the place for the way back", async () => {
  const store = await withRun();
  store.keep(store.state.run);
  store.publish(runMessage([5, 6, 7], { id: "2", model: { ...runMessage().model, name: "small", n_layers: 2 } }));
  store.showSide("A");
  store.select({ layer: 3 });
  store.showSide("B");
  assert.equal(store.state.layer, 1);
  store.showSide("A");
  assert.equal(store.state.layer, 3);
});

test("any number of changes is one repaint, and only a run is fresh", async () => {
  const store = createStore();
  const painted = [];
  store.watch((fresh) => {
    painted.push(fresh);
  });
  store.publish(runMessage());
  store.select({ layer: 1 });
  store.preview({ layer: 2 });
  await nextFrame();
  store.select({ layer: 2 });
  store.select({ layer: 3 });
  await nextFrame();
  await nextFrame();
  assert.deepEqual(painted, [true, false]);
});

test("elements are changed when every canvas is drawn", async () => {
  const store = createStore();
  const done = [];
  for (const panel of ["a", "b"])
    store.watch(() => {
      done.push(`draw ${panel}`);
      return () => done.push(`change ${panel}`);
    });
  store.on("painted", () => done.push("painted"));
  store.repaint();
  await nextFrame();
  assert.deepEqual(done, ["draw a", "draw b", "change a", "change b", "painted"]);
});

test("a run that grows: a selection at its end follows, another stays", async () => {
  const store = await withRun([5, 6, 7]);
  store.publish(runMessage([5, 6, 7, 8], { id: "2" }));
  assert.equal(store.state.query, 3);
  store.select({ query: 1, key: 0 });
  store.publish(runMessage([5, 6, 7, 8, 9], { id: "3" }));
  assert.deepEqual([store.state.query, store.state.key], [1, 0]);
  store.publish(runMessage([1, 2], { id: "4" }));
  assert.equal(store.state.query, 1);
  store.publish(runMessage([9, 2, 3], { id: "5" }));
  assert.equal(store.state.query, 2);
});

test("follow keeps layer and head", () => {
  const trace = { T: 2, tokens: { ids: [1, 2] } };
  assert.deepEqual(follow({ layer: 2, head: 1, query: 5, key: 0 }, null, trace), {
    layer: 2,
    head: 1,
    query: 1,
    key: 0,
  });
});

test("a pinned selection holds for one run", () => {
  const store = createStore();
  store.pin({ layer: 2, query: 0 });
  store.publish(runMessage());
  assert.deepEqual([store.state.layer, store.state.query], [2, 0]);
  store.publish(runMessage([1, 2], { id: "2" }));
  assert.equal(store.state.query, 1);
});

test("where nobody has chosen where to look, a run may open elsewhere; what the page leads to is no choice", () => {
  const store = createStore();
  store.publish(runMessage([5, 6], { start: { layer: 2, head: 1, query: 1, key: 0 } }));
  assert.equal(store.chosen(), false);
  store.select({ pair: 1, neuron: 2 });
  store.toEnd();
  assert.equal(store.chosen(), false); // they say nothing of layer, head and tokens
  store.select({ head: 3 });
  store.publish(runMessage([5, 6, 7], { id: "2" })); // what is written keeps it
  assert.equal(store.chosen(), true);
  store.selectByPage({ layer: 1, head: 0, query: 1, key: 0 });
  assert.deepEqual([store.chosen(), store.state.layer], [false, 1]);
  store.pin({ pair: null, layer: 3 });
  store.publish(runMessage([5, 6], { id: "3" }));
  assert.equal(store.chosen(), true); // by a link
  store.publish(runMessage([5, 6], { id: "4", start: { layer: 2, head: 1, query: 1, key: 0 } }));
  assert.deepEqual([store.chosen(), store.state.layer, store.state.key], [false, 2, 0]);
  store.pin({ layer: 1, head: 1 }, store.chosen()); // the same place again, for a run with heads off
  store.publish(runMessage([5, 6], { id: "5" }));
  assert.deepEqual([store.chosen(), store.state.layer], [false, 1]);
});

test("steps grow, missed messages do no harm, and those of another run are dropped", async () => {
  const store = await withRun();
  store.publish({ kind: "step", run: "r", steps: [stepMessage(0)] });
  store.publish({ kind: "step", run: "r", steps: [stepMessage(0), stepMessage(1), stepMessage(2)] });
  store.publish({
    kind: "step",
    run: "other",
    steps: [stepMessage(0), stepMessage(1), stepMessage(2), stepMessage(3)],
  });
  assert.deepEqual(
    store.state.trace.steps.map((step) => step.index),
    [0, 1, 2],
  );
  store.publish({ kind: "step", run: "r", steps: [stepMessage(2), stepMessage(3)] });
  store.publish({ kind: "step", run: "r", steps: [stepMessage(7)] }); // a gap: the whole run will follow
  assert.deepEqual(
    store.state.trace.steps.map((step) => step.index),
    [0, 1, 2, 3],
  );
});

test("new steps are no new run, and the same run twice is one", async () => {
  const store = await withRun();
  const painted = [];
  store.watch((fresh) => {
    painted.push(fresh);
  });
  store.publish({ kind: "step", run: "r", steps: [stepMessage(0)] });
  await nextFrame();
  store.publish(runMessage());
  await nextFrame();
  store.publish(runMessage([5, 6, 7], { id: "other" }));
  await nextFrame();
  assert.deepEqual(painted, [false, true]);
});

test("a message leaves the run as it is", async () => {
  const store = await withRun();
  const heard = [];
  store.on("message", (message) => heard.push(message.code));
  store.publish({ kind: "message", level: "error", code: "prompt_empty", params: {} });
  assert.deepEqual(heard, ["prompt_empty"]);
  assert.equal(store.state.trace.T, 3);
  store.publish(null);
  store.publish({ kind: "unknown" });
});

test("listeners can be taken off", async () => {
  const store = await withRun();
  let count = 0;
  const off = store.on("select", () => {
    count++;
  });
  store.select({ layer: 1 });
  off();
  store.select({ layer: 2 });
  assert.equal(count, 1);
});

test("the same prompt in another model keeps the place as far as that has it", () => {
  const run = (name, ids) => ({ model: { name }, prompt: "same", tokens: { ids }, T: ids.length });
  const [first, second] = [run("one", [1, 2, 3, 4]), run("two", [7, 8, 9, 10, 11, 12])];
  const place = { layer: 3, head: 5, query: 1, key: 0, pair: 2, neuron: 9 };
  assert.deepEqual(follow(place, first, second), place);
  // who reads the end still does
  assert.deepEqual(follow({ ...place, query: 3 }, first, second), { ...place, query: 5, key: 4 });
  const other = { ...second, prompt: "another" };
  assert.deepEqual(follow(place, first, other), { ...place, query: 5, key: 4 });
});

test("what is known of an encoder stays where it read the same with the same parts, and only there", () => {
  const store = createStore();
  const of = (id, changes = {}, ids = [1, 2]) => ({
    ...runMessage([5], { id }),
    encoder: { ...runMessage(ids, { id: `${id}~source`, changes }), layer: undefined },
  });
  store.publish(of("first"));
  const { encoder } = store.state.run;
  store.publish(of("second"));
  assert.equal(store.state.run.encoder, encoder);
  assert.equal(encoder.id, "second~source");
  store.publish(of("third", { heads: [[0, 1]] }));
  assert.notEqual(store.state.run.encoder, encoder);
  assert.deepEqual(store.state.run.encoder.changes, { heads: [[0, 1]] });
  store.publish(of("fourth", { heads: [[0, 1]] }, [1, 3]));
  assert.deepEqual(store.state.run.encoder.tokens.ids, [1, 3]);
});

test("of runs that were asked for one after the other the last alone is shown", () => {
  const store = createStore();
  store.publish(runMessage());
  store.awaitRun({ prompt: "later", model: "m", act: "read" });
  store.publish({ ...runMessage(), id: "s", prompt: "earlier" });
  assert.deepEqual([store.state.run.prompt, store.state.awaited.prompt], ["p", "later"]);
  store.publish({ ...runMessage(), id: "t", prompt: "later" });
  assert.deepEqual([store.state.run.prompt, store.state.awaited], ["later", null]);
  store.awaitRun({ prompt: null, model: null, act: "read" }); // as a link's, which the answer names
  store.publish({ ...runMessage(), id: "u", prompt: "any" });
  assert.equal(store.state.run.prompt, "any");
});

test("a prompt without a word takes the place of no run that is awaited", () => {
  const store = createStore();
  /** @type {unknown[]} */
  const said = [];
  store.on("message", ({ code }) => said.push(code));
  const refusal = (/** @type {string} */ code) => ({ kind: "message", level: "error", code, params: {} });
  const later = { prompt: "later", model: "m", act: "read" };
  store.awaitRun(later);
  assert.deepEqual(
    ["", " \n", "a"].map((prompt) => sendsBeside(store.state.awaited, prompt)),
    [true, true, false],
  );
  store.publish(refusal("prompt_blank"));
  store.publish(refusal("prompt_empty"));
  assert.equal(store.state.awaited, later);
  store.publish({ ...runMessage(), prompt: "earlier" });
  store.publish({ ...runMessage(), id: "t", prompt: "later" });
  assert.deepEqual([store.state.run.prompt, store.state.awaited], ["later", null]);
  store.awaitRun({ ...later, prompt: "\u0085" }); // a word to the browser, and none to the server
  store.publish(refusal("prompt_blank"));
  assert.equal(store.state.awaited, null);
  const writes = { ...later, act: "write" };
  assert.deepEqual([sendsBeside(null, ""), sendsBeside(writes, "")], [false, false]); // what is written ends with it
  assert.deepEqual(said, ["prompt_blank", "prompt_empty", "prompt_blank"]);
});
