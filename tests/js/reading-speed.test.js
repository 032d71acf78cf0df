// What is written is shown at the reader's pace: over a clock that the test moves.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createPace, speedOf, wordLength } from "../../visuals/static/reading-speed.js";
import { wayOf } from "../../visuals/static/reading-speed-bar.js";
import { createSettings } from "../../visuals/static/settings.js";
import { createStore } from "../../visuals/static/store.js";
import { shownTokens } from "../../visuals/static/characters.js";
import { runMessage, stepMessage } from "./payload_help.js";

globalThis.requestAnimationFrame = (paint) => setTimeout(paint, 0);
const turn = () => new Promise((done) => setTimeout(done, 0));

const PIECES = [" Tom", " is", " in", " the", " kit", "chen", ".", " Lily", " sleeps", "."];
const steps = (from, to) =>
  PIECES.slice(from, to).map((piece, i) => ({ ...stepMessage(from + i, 10 + from + i), piece }));
const ids = (count) => [5, 6, ...PIECES.slice(0, count).map((_, i) => 10 + i)];
const begun = runMessage([5, 6], { id: "begun", generating: true });
const written = (count, more = {}) =>
  runMessage(ids(count), { id: `run ${count}`, n_prompt: 2, steps: steps(0, count), ...more });

/**
 * A page that is written to, whose clock stands.
 *
 * @param {string} speed
 */
function opened(speed) {
  const store = createStore();
  const settings = createSettings(store, speed ? { pace: { speed } } : {});
  const asked = [];
  const timers = [];
  let now = 0;
  const clock = {
    now: () => now,
    wait: (act, ms) => timers.push({ act, at: now + ms }) - 1,
    clear: (i) => {
      if (timers[i]) timers[i].act = null;
    },
  };
  const cut = async (request) => {
    asked.push(request);
    return written(request.count, { id: `cut ${request.count} ${asked.length}` });
  };
  const statuses = [];
  const pace = createPace(store, settings, { cut, setStatus: (status) => statuses.push(status), clock });
  /** Lets so many milliseconds pass, and what is asked for meanwhile be answered. */
  async function pass(ms) {
    const end = now + ms;
    for (;;) {
      const due = timers.filter(({ act, at }) => act && at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      now = Math.max(now, due.at);
      const { act } = due;
      due.act = null;
      act();
      await turn();
    }
    now = end;
    await turn();
  }
  const text = () => store.state.trace.steps.map(({ piece }) => piece).join("");
  return { store, settings, pace, pass, asked, text, statuses, take: pace.take, trace: () => store.state.trace };
}

test("words a second: pieces of one word and the sign after it come together", async () => {
  assert.deepEqual(
    [0, 3, 4, 7].map((start) => wordLength(PIECES, start)),
    [1, 1, 3, 1],
  );
  assert.equal(wordLength(["猫", "在", "沙发", "上", "。", "狗"], 3), 2);
  assert.equal(wordLength(["院", "⟨E9⟩", "⟨87⟩", "⟨8C⟩", "\n", "里"], 0), 4);
  const { take, pass, text, trace } = opened("2");
  take(begun);
  assert.equal(text(), "");
  take({ kind: "step", run: "begun", steps: steps(0, 4) });
  take({ kind: "step", run: "another", steps: steps(2, 10) }); // a message holds the last few
  take(written(10));
  const seen = [];
  for (let i = 0; i < 8; i++) {
    await pass(500);
    seen.push(text());
  }
  assert.deepEqual(seen.slice(0, 6), [
    " Tom",
    " Tom is",
    " Tom is in",
    " Tom is in the",
    " Tom is in the kitchen.",
    " Tom is in the kitchen. Lily",
  ]);
  assert.equal(text(), PIECES.join(""));
  assert.deepEqual([trace().id, trace().generating, trace().T], ["run 10", false, 12]); // the run of all of it
});

test("the panels follow once a second, at what is shown", async () => {
  const { take, pass, asked, store, text } = opened("4");
  const runs = [];
  store.on("run", ({ id, T, generating }) => runs.push([id, T, generating]));
  take(begun);
  take(written(10));
  await pass(1000);
  assert.deepEqual(
    asked.map(({ run, count, instead }) => [run, count, instead]),
    [["run 10", 4, []]],
  );
  assert.equal(text(), " Tom is in the");
  assert.deepEqual(runs.at(-1), ["cut 4 1", 6, true]);
  await pass(5000);
  assert.deepEqual(runs.at(-1), ["run 10", 12, false]);
});

test("as fast as it comes: every message is shown at once", async () => {
  const { take, text, trace, asked, pace } = opened("all");
  take(begun);
  take({ kind: "step", run: "begun", steps: steps(0, 3) });
  assert.equal(text(), " Tom is in");
  take(written(5, { generating: true }));
  assert.deepEqual([trace().id, trace().T], ["run 5", 7]);
  take({ kind: "step", run: "run 5", steps: steps(5, 7) });
  assert.equal(text(), " Tom is in the kitchen.");
  pace.stop(); // the server ends it
  take(written(8));
  take(written(8)); // gradio hands the last one over twice
  assert.deepEqual([trace().id, trace().generating, asked.length, pace.now()], ["run 8", false, 0, "none"]);
});

test("stop: the text ends where it is shown, whether the server is done or not", async () => {
  for (const done of [true, false]) {
    const { take, pass, text, trace, pace, asked } = opened();
    take(begun);
    take(done ? written(10) : { kind: "step", run: "begun", steps: steps(0, 6) });
    await pass(600);
    assert.equal(text(), " Tom is");
    pace.stop();
    await pass(5000);
    if (!done) take(written(9));
    await pass(5000);
    assert.equal(text(), " Tom is");
    assert.deepEqual([trace().T, trace().generating, asked.length, pace.now()], [4, false, 1, "none"]);
    take(written(done ? 10 : 9)); // once more: it is not to come back
    assert.equal(text(), " Tom is");
  }
});

test("pause, one token more, go on", async () => {
  const { take, pass, text, trace, pace, statuses, asked, store } = opened("4");
  take(begun);
  take({ kind: "step", run: "begun", steps: steps(0, 8) });
  await pass(300);
  pace.hold();
  await pass(3000);
  assert.deepEqual([text(), pace.now(), trace().generating], [" Tom", "held", true]); // the server writes ahead
  take(written(10));
  await turn();
  // a run to look into
  assert.deepEqual([text(), pace.now(), trace().generating, trace().T], [" Tom", "held", false, 3]);
  await pace.next();
  assert.deepEqual([text(), pace.now(), trace().T], [" Tom is", "held", 4]);
  assert.deepEqual(
    asked.map(({ count }) => count),
    [1, 2],
  );
  store.select({ query: 2 }); // a word that was looked at meanwhile
  pace.goOn();
  assert.deepEqual([statuses, pace.now()], [["generating"], "writing"]);
  assert.equal(store.state.locked.query, trace().T - 1);
  await pass(300);
  assert.equal(text(), " Tom is in the");
  await pass(9000);
  assert.deepEqual([text(), trace().id, pace.now()], [PIECES.join(""), "run 10", "none"]);
});

test("another speed holds at once; another run lets go of what was to come", async () => {
  const { take, pass, text, settings, store, pace } = opened("1");
  assert.equal(speedOf(settings), "1");
  take(begun);
  take(written(10));
  await pass(1000);
  assert.equal(text(), " Tom");
  settings.set("pace", { speed: "8" });
  await pass(500);
  assert.equal(text(), " Tom is in the kitchen.");
  store.emit("begin");
  take(runMessage([5, 6, 7], { id: "other" }));
  await pass(5000);
  assert.deepEqual([store.state.trace.id, text(), pace.now()], ["other", "", "none"]);
  settings.set("pace", { speed: "7" }); // of a link
  assert.equal(speedOf(settings), "4");
});

test("what still comes of a text is dropped once something else was asked for", async () => {
  const { take, store } = opened("all");
  take(begun);
  store.emit("begin", "running");
  store.state.run.generating = false; // as where that could not be asked
  take(written(10, { generating: true }));
  assert.deepEqual([store.state.run.id, store.state.run.generating], [begun.id, false]);
  store.emit("begin", "generating");
  take(written(10, { generating: true })); // its beginning may be missed
  assert.equal(store.state.run.generating, true);
});

test("while another run is looked at nothing is shown, and nothing is lost", async () => {
  const { take, pass, store, pace, text } = opened("4");
  take(runMessage([5, 6], { id: "kept" }));
  store.keep(store.state.trace);
  take(begun);
  take(written(10));
  await pass(500);
  store.showSide("A");
  await pass(3000);
  assert.deepEqual([store.state.trace.id, pace.now()], ["kept", "none"]);
  store.showSide("B");
  await pass(250);
  assert.equal(text(), " Tom is in the"); // one at once, one in its time
});

test("Space holds and goes on, the full stop shows one more; not where they belong to what has the focus", () => {
  const at = (inside) => ({ closest: () => (inside ? {} : null) });
  assert.equal(wayOf({ key: " ", target: at(false) }), "toggle");
  assert.equal(wayOf({ key: ".", target: at(false) }), "next");
  assert.equal(wayOf({ key: " ", target: at(true) }), null);
  assert.equal(wayOf({ key: " ", target: at(false), ctrlKey: true }), null);
  assert.equal(wayOf({ key: "a", target: at(false) }), null);
});

test("tokens of one character are one word to click", () => {
  const tokens = ["院子⟨E9⟩⟨87⟩", "⟨8C⟩", " a"].map((piece, i) => ({ piece, position: 3 + i }));
  assert.deepEqual(shownTokens(tokens), [
    { position: 3, text: "院子里" },
    { position: 5, text: " a" },
  ]);
  assert.deepEqual(shownTokens(tokens.slice(0, 1)), [{ position: 3, text: "院子⟨E9⟩⟨87⟩" }]); // more is to come
});
