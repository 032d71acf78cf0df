// The stops of the first tour where heads were measured one by one: the answer to "why" then has a grid.

import assert from "node:assert/strict";
import { test } from "node:test";
import { lookUp } from "../../visuals/static/texts.js";
import { pack, runMessage } from "./payload_help.js";
import { TABLES, T, at, ramp, world } from "./tour_help.js";

const { STOPS } = await import("../../visuals/static/tour/stops.js");
const { createPlaces } = await import("../../visuals/static/tour/places.js");

/** Head 1.2's weights from the last token, by numpy's way: RoPE of two pairs, scores over √4, softmax. */
function weightsOf({ raw: { q, k } }) {
  const turned = (data, head, t) => {
    const x = data.subarray((head * T + t) * 4, (head * T + t) * 4 + 4);
    const angles = [t, t * Math.fround(0.1)];
    const even = angles.map((a, i) => x[i] * Math.cos(a) - x[i + 2] * Math.sin(a));
    return [...even, ...angles.map((a, i) => x[i + 2] * Math.cos(a) + x[i] * Math.sin(a))];
  };
  const query = turned(q, 2, 2);
  const powers = [0, 1, 2].map((t) => Math.exp(turned(k, 1, t).reduce((sum, x, i) => sum + x * query[i], 0) / 2));
  return powers.map((one) => one / powers.reduce((a, b) => a + b, 0));
}

/** The world of three tokens, its heads measured one by one: head 0.1 is missed most, and 1.2 looks at token 1. */
function measuredWorld({ sinks = [0], key = 1, without = 0.45, lost = 6 } = {}) {
  const made = world();
  const { why } = made.answers;
  const part = (layer, index, left, at) => ({
    kind: "head",
    layer,
    index,
    head: index,
    without: left,
    loss: 1,
    key: at,
  });
  Object.assign(why, {
    first: { ...why.first, key },
    look: { ...why.look, key },
    parts: [part(0, 1, 0.1, 0), part(1, 2, without, key)],
    grid: {
      ablation: "zero",
      lost: pack(ramp(16), [4, 4]),
      measured: pack(Array(16).fill(1).fill(0, lost), [4, 4], "u1"),
    },
  });
  made.answers.rests = { sinks, tokens: [key], lost: pack([0, 1, 0]) };
  return made;
}
const placesIn = ({ glass, store }) => {
  const found = createPlaces(glass)();
  if (found) store.select({ layer: found.head.layer, head: found.head.head, query: found.at, key: found.head.key });
  return found;
};
const stopOf = (name) => STOPS.find((stop) => stop.name === name);
/** What a stop says of the measured heads, its texts filled in. */
function saidAt(name, made) {
  const told = stopOf(name).told(made.glass, placesIn(made));
  const { numbers, say = "", asks = say, answers = asks } = told;
  const params = Object.fromEntries(Object.entries(numbers).map(([key, one]) => [key, one.text]));
  const said = (part, form) => lookUp(TABLES.en, `tour.${name}_${part}${form}`, params);
  return { told, says: said("says", say), asks: said("asks", asks), answers: said("answers", answers) };
}

test("where heads were measured one by one, the token named is that of the largest knock-out", () => {
  const { says, answers, told } = saidAt("tokens", measuredWorld());
  assert.match(answers, /may not look at “6”, position 1 .*sinks/);
  assert.equal(told.numbers.key_at.value, 1);
  assert.match(says, /is 3 of them/);
  const none = saidAt("tokens", measuredWorld({ key: 2 })); // it looks at itself: no other is needed
  assert.equal(none.told.answers, "_group_none");
  assert.match(none.answers, /no single one/);
});

test("the head that the tour follows is said to be missed most only where it is", () => {
  const { says, asks, answers, told } = saidAt("head", measuredWorld());
  assert.match(says, /Of the 6 heads that were tried .* head 1 of layer 0 is missed most: 0\.1000 is left/);
  assert.match(says, /look most at “6”.* it is head 2 of layer 1/);
  assert.match(says, /“a” goes from 0\.6000 to 0\.4500/);
  assert.match(asks, /the 2 heads that are missed most are off together/);
  assert.match(answers, /layer 1 head 2, layer 0 head 1\. With all of them switched off together, 0\.2000 is left/);
  const weights = weightsOf(measuredWorld());
  assert.ok(Math.abs(told.numbers.weight.value - weights[1]) < 1e-6);
  assert.ok(says.includes(`${weights[0].toFixed(4)} of its weight at “5” (an attention sink`), says);
  assert.ok(says.includes(`looks most at “6”, with weight ${weights[1].toFixed(4)}`), says);

  const made = measuredWorld({ sinks: [], lost: 16 });
  made.answers.why.parts.reverse();
  const most = saidAt("head", made);
  assert.match(most.says, /Of all heads head 2 of layer 1 is missed most\. Without it alone/);
  assert.match(most.says, /From “5” it looks most at “6”, with weight/);
  assert.doesNotMatch(most.says, /sink/);
  assert.match(saidAt("head", measuredWorld({ key: 2 })).says, /look most at “5” itself, the last token/);
});

test("the places of heads measured one by one wait for the sinks, and keep them in a changed run", () => {
  const made = measuredWorld();
  const { rests } = made.answers;
  delete made.answers.rests;
  const places = createPlaces(made.glass);
  assert.equal(places(), null);
  made.answers.rests = rests;
  assert.deepEqual(places().sinks, [0]);
  made.store.publish({ ...runMessage([5, 6, 5]), id: "changed", changes: { heads: [[1, 2]] } });
  assert.deepEqual(places().sinks, [0]);
  made.answers.rests = {}; // as of a run into which something was patched
  made.store.publish({ ...runMessage([5, 6, 7]), id: "other" });
  assert.deepEqual(places().sinks, []);
});

test("the last stop switches off the heads that are missed most, and compares them with others of their layers", () => {
  const { says, answers, told } = saidAt("off", measuredWorld());
  assert.match(says, /One by one, these heads are missed most \(layer\.head\): 1\.2, 0\.1\./);
  assert.deepEqual(told.act.changes, {
    heads: [
      [1, 2],
      [0, 1],
    ],
  });
  assert.match(answers, /0\.2000 is left; with as many random heads of the same layers, 0\.5500/);
  const alike = measuredWorld();
  alike.answers.why.look.by_chance = [0.1, 0.2, 0.3];
  assert.match(saidAt("off", alike).answers, /heads of the same layers, 0\.2000 .* the test fails/);
});

test("where a head does not follow the answer to the other text, the stop on matching says so", () => {
  const made = world();
  assert.equal(at("match", made).answers, "");
  Object.assign(made.answers.matching.other, { score: 0.9, rival_score: 0.75 });
  made.glass.state.trace.details.clear();
  assert.equal(at("match", made).answers, "_not");
});
