// Back and Forward, over a browser's history of a few lines.
import assert from "node:assert/strict";
import { test } from "node:test";
import { keepHistory } from "../../visuals/static/history.js";
import { readLink } from "../../visuals/static/link.js";
import { createSettings } from "../../visuals/static/settings.js";
import { createStore } from "../../visuals/static/store.js";
import { runMessage, stepMessage } from "./payload_help.js";

globalThis.requestAnimationFrame = (paint) => setTimeout(paint, 0);
const pause = () => new Promise((done) => setTimeout(done, 300));

/** A page with a history; `back(n)` goes n entries back, or forward where n is negative. */
function opened() {
  const listeners = {};
  const entries = [{ state: null, hash: "" }];
  let at = 0;
  const put = (state, address) => ({ state, hash: address ?? entries[at].hash });
  globalThis.addEventListener = (name, listener) => {
    listeners[name] = listener;
  };
  globalThis.location = {
    get hash() {
      return entries[at].hash;
    },
  };
  globalThis.history = {
    get state() {
      return entries[at].state;
    },
    replaceState: (state, _, address) => {
      entries[at] = put(state, address);
    },
    pushState: (state, _, address) => {
      entries.splice(at + 1, Infinity, put(state, address));
      at += 1;
    },
  };
  const store = createStore();
  const seen = { bar: [], brought: [], stopped: 0, followed: 0 };
  store.state.chapter = "glance";
  store.on("run", (trace) => {
    store.state.status = trace.generating ? "generating" : "idle";
  });
  const open = (chapter) => {
    store.state.chapter = chapter;
    store.emit("chapter", chapter);
  };
  const settings = createSettings(store);
  const { entryAgain } = keepHistory(store, {
    open,
    settings,
    fill: (bar) => seen.bar.push(bar.prompt),
    stop: () => {
      seen.stopped += 1;
    },
    bring: async (hash) => {
      seen.brought.push(readLink(hash));
    },
    follow: async () => {
      seen.followed += 1;
    },
  });
  const back = async (n) => {
    at -= n;
    listeners.popstate({ state: entries[at].state });
    listeners.hashchange();
    await pause();
  };
  const paste = (hash) => {
    entries.splice(at + 1, Infinity, { state: null, hash });
    at += 1;
    listeners.popstate({ state: null });
    listeners.hashchange();
  };
  return {
    store,
    seen,
    settings,
    open,
    back,
    entryAgain,
    paste,
    count: () => entries.length,
    links: () => entries.map(({ hash }) => readLink(hash)),
    entries,
  };
}

const run = (prompt, ids, more = {}) =>
  runMessage(ids, { id: `${prompt} ${ids.length} ${more.generating ?? ""}`, prompt, ...more });
const shown = ({ state }) => [state.trace.prompt, state.trace.T, state.chapter, state.locked.layer, state.locked.query];

test("each run and each chapter is an entry with what is selected, which Back and Forward bring back", async () => {
  const { store, seen, open, back, count, links } = opened();
  store.publish(run("a", [1, 2, 3]));
  store.select({ layer: 2, query: 1 });
  store.publish(run("b", [4, 5]));
  store.select({ layer: 3 });
  store.select({ layer: 1 });
  open("kv");
  await pause();
  assert.equal(count(), 3);
  assert.deepEqual(
    links().map(({ prompt, chapter, selection }) => [prompt, chapter, selection.layer, selection.query]),
    [
      ["a", "glance", 2, 1],
      ["b", "glance", 1, 1],
      ["b", "kv", 1, 1],
    ],
  );
  await back(2);
  assert.deepEqual([shown(store), seen.bar], [["a", 3, "glance", 2, 1], ["a"]]);
  await back(-2);
  assert.deepEqual(
    [shown(store), seen.bar],
    [
      ["b", 2, "kv", 1, 1],
      ["a", "b"],
    ],
  );
  await back(1);
  assert.deepEqual([shown(store), count(), seen.brought], [["b", 2, "glance", 1, 1], 3, []]);
});

test("after a lesson, which is no entry, the page shows what it showed before", async () => {
  const { store, settings, seen, open, entryAgain, count } = opened();
  store.publish(run("mine", [1, 2, 3]));
  store.select({ layer: 2, query: 1 });
  settings.set("kv", { tokens: "77" });
  await pause();
  store.state.presenting = true;
  store.publish(run("the lesson's", [4, 5]));
  settings.set("kv", { tokens: "8192" });
  open("attend");
  await pause();
  const coming = entryAgain();
  store.state.presenting = false;
  store.emit("chapter", store.state.chapter);
  await coming;
  await pause();
  assert.deepEqual(shown(store), ["mine", 3, "glance", 2, 1]);
  assert.deepEqual([settings.get("kv"), seen.bar, count()], [{ tokens: "77" }, ["mine"], 1]);
});

test("Back brings back which of two stacks was read", async () => {
  const { store, settings, open, back } = opened();
  store.publish(run("a", [1, 2, 3]));
  settings.set("run", { stack: "encoder" });
  open("attend");
  settings.set("run", {});
  await pause();
  await back(1);
  assert.deepEqual(settings.get("run"), { stack: "encoder" });
  await back(-1);
  assert.deepEqual(settings.get("run"), {});
});

test("a text that is written is one entry, after that of its prompt", async () => {
  const { store, back, count } = opened();
  store.publish(run("a", [1, 2]));
  const writing = { n_prompt: 2, generating: true };
  store.publish(run("a", [1, 2], writing));
  store.publish({ kind: "step", run: "a 2 true", steps: [stepMessage(0)] });
  store.publish(run("a", [1, 2, 7], writing));
  store.publish(run("a", [1, 2, 7, 7], { n_prompt: 2 }));
  await pause();
  assert.equal(count(), 2);
  await back(1);
  assert.deepEqual(
    [shown(store), store.state.trace.generating, store.state.trace.steps.length],
    [["a", 2, "glance", 0, 1], false, 0],
  );
});

test("Back while a text is written ends it, and what comes of it makes no entry", async () => {
  const { store, seen, back, count } = opened();
  store.publish(run("a", [1, 2]));
  store.publish(run("b", [3], { n_prompt: 1, generating: true }));
  await back(1);
  assert.equal(seen.stopped, 1);
  store.publish(run("b", [3, 7], { n_prompt: 1 }));
  await pause();
  assert.deepEqual([shown(store), count()], [["a", 2, "glance", 0, 1], 2]);
});

test("an entry of an earlier load is brought back from its address, and a pasted address is followed", async () => {
  const { store, seen, back, paste, entries } = opened();
  entries[0] = { state: { entry: "another load's" }, hash: "#prompt=old&layer=3" };
  store.publish(run("a", [1, 2]));
  store.publish(run("b", [3]));
  entries[0] = { state: { entry: "another load's" }, hash: "#prompt=old&layer=3" };
  await back(1);
  assert.deepEqual(
    seen.brought.map(({ prompt, selection }) => [prompt, selection.layer]),
    [["old", 3]],
  );
  paste("#prompt=x");
  assert.equal(seen.followed, 1);
});
