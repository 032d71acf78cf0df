// Ways to route tokens to experts: slots, what is dropped, balance, and what passes between devices.

import assert from "node:assert/strict";
import test from "node:test";

import {
  balanceOf,
  guestsOf,
  routingKinds,
  sentBetween,
  slotsOf,
} from "../../visuals/static/readings/routing-kinds.js";

const array = (shape, data) => ({ shape, data: Float32Array.from(data) });
const chosen = array([4, 2], [0, 1, 1, 0, 0, 1, 0, 2]);

test("slots of an expert, by hand", () => {
  assert.deepEqual([slotsOf(64, 8, 1, 1), slotsOf(64, 8, 2, 1.25), slotsOf(10, 8, 1, 1)], [8, 20, 2]);
});

test("first choices come before second ones", () => {
  const kept = guestsOf(chosen, 3, 2).map((row) => row.map(({ token, choice, kept: k }) => [token, choice, k]));
  assert.deepEqual(kept, [
    [
      [0, 0, true],
      [2, 0, true],
      [3, 0, false],
      [1, 1, false],
    ],
    [
      [1, 0, true],
      [0, 1, true],
      [2, 1, false],
    ],
    [[3, 1, true]],
  ]);
});

const own = {
  name: "own",
  shared: false,
  chosen,
  weight: array([4, 2], [0.5, 0.5, 0.75, 0.25, 0.5, 0.5, 0.75, 0.25]),
  gram: array([4, 2, 2], [9, 0, 0, 16, 9, 0, 0, 16, 9, 0, 0, 16, 9, 0, 0, 16]),
  length: array([4], [5, 5, 5, 5]),
  change: array([4], [0, 0, 0, 0]),
};
const found = {
  schemes: [own, { ...own, name: "switch", change: array([4], [0.5, 1, 0, 0.5]) }],
  probabilities: array([4, 3], [0.5, 0.25, 0.25, 0.25, 0.5, 0.25, 0.5, 0.25, 0.25, 0.5, 0, 0.5]),
  alpha: 0.02,
};
const read = (selection) =>
  routingKinds.read(
    { details: { found } },
    { layer: 1, query: 3, scheme: "own", factor: 0.75, devices: 2, ...selection },
  );

test("what is lost without a slot, and for whom", () => {
  const { values, dropped } = read({}); // two slots
  assert.deepEqual([values.slots, values.choices_dropped, values.tokens_dropped], [2, 3, 0]);
  assert.deepEqual(
    [...dropped.change].map((x) => Number(x.toFixed(6))),
    [0, 0.8, 0.8, 0.6],
  );
  assert.equal(values.switch, 0.5);
  assert.equal(read({ factor: 3 }).dropped.choices, 0);
  assert.equal(read({ scheme: "no such" }).scheme.name, "own");
});

test("the loss is α where all are used alike, and more where the probable experts get the tokens", () => {
  const rows = balanceOf(found);
  assert.deepEqual(
    rows.map(({ f }) => f),
    [0.75, 0.25, 0],
  );
  assert.deepEqual(
    rows.map(({ p }) => p),
    [0.4375, 0.25, 0.3125],
  );
  assert.ok(Math.abs(read({}).values.loss_first - 0.02 * 3 * (0.75 * 0.4375 + 0.25 * 0.25)) < 1e-12);
  const even = {
    ...found,
    schemes: [{ ...own, chosen: array([3, 1], [0, 1, 2]), weight: array([3, 1], [1, 1, 1]) }],
    probabilities: array([3, 3], Array(9).fill(1 / 3)),
  };
  const sumOf = (/** @type {any} */ one) => balanceOf(one).reduce((all, { f, p }) => all + f * p, 0);
  assert.ok(Math.abs(3 * sumOf(even) - 1) < 1e-6);
  const biased = { ...found, schemes: [{ ...own, chosen: array([4, 2], [1, 0, 0, 1, 1, 0, 2, 0]) }] };
  assert.deepEqual(
    balanceOf(biased).map(({ f }) => f),
    [0.75, 0.25, 0], // by the probability alone, whatever a bias puts first
  );
  const apart = { ...even, probabilities: array([3, 3], [0.4, 0.3, 0.3, 0.4, 0.3, 0.3, 0, 0.5, 0.5]) };
  assert.ok(3 * sumOf(apart) < 1); // f and P disagree: α is not the least
});

test("what passes between devices", () => {
  assert.deepEqual(sentBetween(chosen, 3, 2), [
    [4, 0],
    [3, 1],
  ]);
});
