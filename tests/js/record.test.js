// What the story of the training reads off a log.

import assert from "node:assert/strict";
import { test } from "node:test";
import { startsOf } from "../../visuals/static/story/curve.js";
import {
  fallOf,
  inductionOf,
  isTold,
  leapOf,
  learnedOf,
  lossOf,
  lowestOf,
  pointsOf,
  riseOf,
} from "../../visuals/static/readings/record.js";

const skill = (name, y) => ({ name: `text:training.skill_${name}`, x: [0.5, 1, 1.5, 2].slice(0, y.length), y });
/**
 * Induction leaps at 1.5 million tokens, counting is there at once, pronouns never come, recall was never looked
 * at.
 */
const TRAINING = {
  stages: [
    { number: 1, name: "text:training.stage_patterns", tokens: 0 },
    { number: 2, name: "my own", tokens: 1e6 },
  ],
  log: [
    ["patterns", 0.5e6, 2, 3.0],
    ["my own", 2e6, 2, 1.0],
  ],
  answers: {
    data: [
      skill("induction", [0.1, 0.2, 0.95, 0.9]),
      skill("counting", [0.9, 0.2, 1, 1]),
      skill("pronouns", [0, 0.1, 0.2, 0.3]),
      skill("recall", []),
    ],
  },
  measured: [
    { name: "induction", language: "en", right: 190, cases: 200, bar: 0.98 },
    { name: "free stories", language: "zh", right: 15, cases: 20, bar: 0.95 },
    { name: "recall", language: "en", right: 200, cases: 200, bar: 0.95 },
  ],
};

test("a skill is learned at the first look with nine right answers of ten; what never was comes last", () => {
  const found = learnedOf(TRAINING).map(({ name, tokens, last }) => [name.split("_").at(-1), tokens, last]);
  assert.deepEqual(found, [
    ["counting", 0.5e6, 1],
    ["induction", 1.5e6, 0.9],
    ["pronouns", Infinity, 0.3],
  ]);
});

test("what is learned may fall again, and the stage in which it is lowest is named", () => {
  const { stages } = TRAINING;
  assert.equal(fallOf(inductionOf(TRAINING), stages), null); // from 0.95 to 0.9, which counts as learned
  assert.equal(fallOf({ tokens: [1, 2], shares: [0.1, 0.2] }, stages), null);
  const found = fallOf({ tokens: [0.5e6, 1e6, 1.5e6, 2e6], shares: [0.2, 0.92, 0.5, 0.97] }, stages);
  assert.deepEqual(
    [found.first, found.low, found.stage, found.end.share],
    [{ tokens: 1e6, share: 0.92 }, { tokens: 1.5e6, share: 0.5 }, 2, 0.97],
  );
});

test("a leap is the largest rise from one look to the next, or what was there at the first", () => {
  const { from, to, end } = leapOf(inductionOf(TRAINING));
  assert.deepEqual([from, to, end.share], [{ tokens: 1e6, share: 0.2 }, { tokens: 1.5e6, share: 0.95 }, 0.9]);
  assert.equal(leapOf({ tokens: [1, 2], shares: [0.8, 0.9] }).from, null);
});

test("the lowest number is that of shares, not of counts, and the loss is that of held-out texts", () => {
  assert.equal(lowestOf(TRAINING.measured).name, "free stories");
  assert.deepEqual(pointsOf(TRAINING), [
    { tokens: 0.5e6, heldout: 3 },
    { tokens: 2e6, heldout: 1 },
  ]);
});

test("where the loss rises is the stage in which it stands highest above its beginning", () => {
  assert.equal(riseOf(TRAINING), null);
  const log = [
    ["patterns", 5e5, 2, 3],
    ["patterns", 1e6, 2, 1.5],
    ["my own", 1.5e6, 2, 4],
    ["my own", 2e6, 2, 1],
  ];
  assert.deepEqual(riseOf({ ...TRAINING, log }), { number: 2, from: 1.5, to: 4 });
});

test("a loss falls from its first to its last, beside that of who gives every token the same probability", () => {
  const { points, starts, read, blind, first, last, p } = lossOf(TRAINING, 8);
  assert.deepEqual(points, [
    { x: 0.5, y: 3 },
    { x: 2, y: 1 },
  ]);
  assert.deepEqual(starts, [
    { number: 1, tokens: 0 },
    { number: 2, tokens: 1 },
  ]);
  assert.deepEqual([read, first, last], [2, 3, 1]);
  assert.ok(Math.abs(blind - 3 * Math.LN2) < 1e-12);
  assert.ok(Math.abs(p - 1 / Math.E) < 1e-12);
});

test("without a log, or without answers that were looked at, there is nothing to tell", () => {
  assert.equal(isTold(TRAINING), true);
  assert.equal(isTold({ ...TRAINING, log: [] }), false);
  assert.equal(isTold({ ...TRAINING, answers: null }), false);
});

test("of stages that begin close together the later ones have no number", () => {
  const stages = [0, 1, 1.5, 12].map((tokens, i) => ({ number: i + 1, name: "", tokens }));
  assert.deepEqual(
    startsOf(stages, 48).map(({ words }) => words),
    ["1", "", "", "4"],
  );
});
