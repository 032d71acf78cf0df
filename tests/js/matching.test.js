import assert from "node:assert/strict";
import { test } from "node:test";
import { marksOf } from "../../visuals/static/panels/glance/matching.js";

const PIECES = ["Tom", " the", " kitchen", " Lily", " the", " garden", " Tom", " the"];
const step = (at, key) => ({ layer: 1, head: 0, at, key, weight: 0.9 });
const told = [step(2, 1), step(1, 0)], beside = [step(5, 4), step(4, 3)];
const place = { query: 7, key: 2 };

test("the word that both the key and the query got is told from the one that the rival got", () => {
  const marks = marksOf({ asked: [step(7, 6)], told, rival_told: beside }, place, PIECES);
  assert.deepEqual(marks, { key_from: "Tom", rival_from: "Lily", asked_from: "Tom", asks: "asks_same" });
  assert.equal(marksOf({ asked: [step(7, 5)], told, rival_told: beside }, place, PIECES).asks, "asks_other");
  assert.equal(marksOf({ asked: [], told, rival_told: beside }, { ...place, query: 6 }, PIECES).asks, "asks_itself");
});

test("nothing is said where a token was told nothing by another, or both by the same", () => {
  const asked = [step(7, 6)];
  for (const found of [{ told: [], rival_told: [] }, { told, rival_told: null }, { told, rival_told: [step(5, 0)] }]) assert.equal(marksOf({ asked, ...found }, place, PIECES), null);
  assert.equal(marksOf({ asked: [], told, rival_told: beside }, place, PIECES), null); // its own embedding, of another word
});
