import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeRun } from "../../visuals/static/decode.js";
import { askedOf, choiceAt, momentAt, momentOf, placeOfToken, wordsOf } from "../../visuals/static/chosen-step.js";
import { candidatesOf } from "../../visuals/static/readings/next.js";
import { createStore } from "../../visuals/static/store.js";
import { runMessage, stepMessage } from "./payload_help.js";

globalThis.requestAnimationFrame = (paint) => setTimeout(paint);
const sampling = { temperature: 0.8, top_k: 40, top_p: 0.9, seed: 3, draws: 0 };
/** Two tokens of a prompt, 5 and 6, then 7 and 8, which were written. */
const message = (more = {}) =>
  runMessage([5, 6, 7, 8], {
    n_prompt: 2,
    steps: [
      { ...stepMessage(0, 7), sampling },
      { ...stepMessage(1, 8), sampling: { ...sampling, draws: 1 } },
    ],
    ...more,
  });

test("of every written token the moment at which it was chosen is known, and how it was drawn", () => {
  const trace = decodeRun(message());
  assert.deepEqual(
    [0, 1, 2, 3].map((at) => momentAt(trace, at).kind),
    ["prompt", "chosen", "chosen", "end"],
  );
  const moment = momentAt(trace, 2);
  assert.deepEqual(moment.token, { position: 3, id: 8, piece: "8" });
  assert.deepEqual(moment.step.sampling, { ...sampling, draws: 1 });
  assert.deepEqual([askedOf(moment), askedOf(momentAt(trace, 3))], [{ token: 2 }, {}]);
});

test("a prompt was chosen by nobody: the choice that is shown there is the one at the end", () => {
  const trace = decodeRun(message());
  assert.deepEqual(
    [0, 1, 2, 3].map((at) => choiceAt(trace, at).at),
    [3, 1, 2, 3],
  );
});

test("where the model has ended the text, the last choice is that of its end", () => {
  const trace = decodeRun(message());
  trace.model.eos_ids = [8];
  assert.deepEqual(
    [0, 1, 2, 3].map((at) => choiceAt(trace, at).at),
    [2, 1, 2, 2],
  );
  assert.equal(choiceAt(trace, 3).token.id, 8);
  const text = (key) => key;
  assert.equal(wordsOf({ state: { trace }, text }, momentAt(trace, 3)), "moment.long_end_ended");
  trace.nPrompt = 4; // a prompt that holds such a token is not ended by it
  assert.equal(choiceAt(trace, 3).kind, "end");
});

test("a click on a written token leads to where it was chosen, on another to itself", () => {
  const trace = decodeRun(message());
  assert.deepEqual(
    [0, 1, 2, 3].map((position) => placeOfToken(trace, position)),
    [0, 1, 1, 2],
  );
});

test("a run chose nothing of what one with other changes wrote, a changed run nothing of what a link brought", () => {
  const changes = { heads: [[0, 1]] };
  const steps = message().steps.map((step) => ({ ...step, own: false }));
  for (const more of [{ changes, steps }, { steps }, { changes, steps: [] }]) {
    const moment = momentAt(decodeRun(message(more)), 2);
    assert.deepEqual([moment.kind, moment.step], ["given", null]);
  }
  const own = momentAt(decodeRun(message({ changes })), 2);
  assert.deepEqual([own.kind, own.step.id], ["chosen", 8]);
});

test("what a link brought back was chosen, but nobody knows how", () => {
  const moment = momentAt(decodeRun(message({ steps: [] })), 2);
  assert.deepEqual([moment.kind, moment.step], ["chosen", null]);
});

test("who writes on lets go of a kept token and follows the text; who chooses one afterwards keeps it", () => {
  const store = createStore();
  store.publish(message());
  store.select({ query: 0 });
  store.toEnd();
  assert.deepEqual([store.state.query, store.state.key, momentOf(store.state).kind], [3, 2, "end"]);
  store.publish(message({ id: "2", tokens: { ids: [5, 6, 7, 8, 9], pieces: ["5", "6", "7", "8", "9"] } }));
  assert.equal(store.state.query, 4);
  store.select({ query: 1 });
  store.publish(message({ id: "3", tokens: { ids: [5, 6, 7, 8, 9, 4], pieces: [..."567894"] } }));
  assert.deepEqual([store.state.query, momentOf(store.state).kind], [1, "chosen"]);
});

test("the written token has a row of its own where it is not among the first, and all still sum to 1", () => {
  const logits = { data: Float32Array.from([2, 1, 0]) };
  const logZ = Math.log(Math.exp(2) + Math.exp(1) + Math.exp(0) + 4 * Math.exp(-1));
  const offered = { ids: [4, 5, 6], pieces: [..."abc"], logits, logZ, vocabSize: 7, tail: 4 * Math.exp(-1 - logZ) };
  const far = candidatesOf({ ...offered, written: { id: 1, logit: -1, rank: 4 } }, { id: 1, piece: "x" }, 2);
  assert.deepEqual([far.extra.id, far.extra.rank, far.others.count], [1, 4, 4]);
  const sum = [...far.rows, far.extra, far.others].reduce((all, { probability }) => all + probability, 0);
  assert.ok(Math.abs(sum - 1) < 1e-7, String(sum));
  assert.equal(
    candidatesOf({ ...offered, written: { id: 5, logit: 1, rank: 1 } }, { id: 5, piece: "b" }, 2).extra,
    null,
  );
});
