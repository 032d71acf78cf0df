// The settings of sampling: within their bounds, and only what differs from greedy is kept.
import assert from "node:assert/strict";
import { test } from "node:test";
import { goesRound, samplingOf, setSampling } from "../../visuals/static/sampling.js";
import { createSettings } from "../../visuals/static/settings.js";

function settingsWith(given) {
  const told = [];
  const settings = createSettings({ state: {}, emit: (event, name) => told.push([event, name]) }, { sampling: given });
  return { settings, told };
}

test("where nothing is set, the most probable token is taken out of all", () => {
  assert.deepEqual(samplingOf(settingsWith({}).settings), { temperature: 0, top_k: 0, top_p: 1, seed: 0 });
});

test("what a link holds is kept within bounds", () => {
  const { settings } = settingsWith({ temperature: "9", top_k: "-3", top_p: "nothing", seed: "12" });
  assert.deepEqual(samplingOf(settings), { temperature: 2, top_k: 0, top_p: 1, seed: 12 });
});

test("a change is told once, and a link holds only what was changed", () => {
  const { settings, told } = settingsWith({});
  setSampling(settings, { temperature: 0.8, top_p: 1 });
  setSampling(settings, { temperature: 0.8 });
  assert.deepEqual(told, [["settings", "sampling"]]);
  assert.deepEqual(settings.get("sampling"), { temperature: "0.8" });
});

test("a text goes round when it ends in the same tokens again and again", () => {
  assert.equal(goesRound([1, 2, 3, 4, 1, 2, 3, 4]), true);
  assert.equal(goesRound([9, 9, 5, 1, 2, 3, 1, 2, 3, 1, 2]), true); // in the middle of the third time
  assert.equal(goesRound([7, 7, 7, 7, 7, 7, 7, 7]), true);
  assert.equal(goesRound([7, 7, 7]), false); // "ha ha ha" is none yet
  assert.equal(goesRound([1, 2, 3, 4, 1, 2, 3, 5]), false);
  assert.equal(goesRound([1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3]), false); // not yet twice
  assert.equal(goesRound([]), false);
});
