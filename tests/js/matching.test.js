import assert from "node:assert/strict";
import { test } from "node:test";
import { decimalsIn, printedNumber } from "../../visuals/static/equation.js";
import { chainOf, gapWritten, isWhole, marksOf, namesOf, rowsOf } from "../../visuals/static/panels/glance/matching.js";

const PIECES = ["Tom", " the", " kitchen", " Lily", " the", " garden", " Tom", " the"];
const step = (at, key) => ({ layer: 1, head: 0, at, key, weight: 0.9 });
const told = [step(2, 1), step(1, 0)],
  beside = [step(5, 4), step(4, 3)];
const place = { query: 7, key: 2 };

test("the word that both the key and the query got is told from the one that the rival got", () => {
  const scores = { score: 14, rival_score: 10, from_asked: 3, rival_from_asked: 1 };
  const marks = marksOf({ asked: [step(7, 6)], told, rival_told: beside, ...scores }, place, PIECES);
  assert.deepEqual(marks, { key_from: "Tom", rival_from: "Lily", asked_from: "Tom", asks: "asks_same" });
  assert.equal(marksOf({ asked: [step(7, 5)], told, rival_told: beside, ...scores }, place, PIECES).asks, "asks_other");
  assert.equal(
    marksOf({ asked: [], told, rival_told: beside, ...scores }, { ...place, query: 6 }, PIECES).asks,
    "asks_itself",
  );
  // a match that makes hardly any of the difference explains nothing
  assert.equal(
    marksOf({ asked: [step(7, 6)], told, rival_told: beside, ...scores, from_asked: 1.5 }, place, PIECES),
    null,
  );
});

const found = {
  asked: [step(7, 6)],
  told,
  rival_told: beside,
  rival: 5,
  score: 14.6,
  rival_score: 10.18,
  term: 1.64,
  rival_term: 0.63,
  from_asked: 3.5,
  rival_from_asked: 0.86,
  n_terms: 1089,
  other: null,
};
const plain = (key, params) => `${key.split(".")[1]}(${Object.values(params ?? {}).join(" ")})`;

test("a word that stands in the text more than once is named with its position, another without", () => {
  const names = namesOf(found, place, plain, PIECES);
  assert.deepEqual(
    [names.query, names.key, names.rival, names.near],
    ["token_at(the 7)", "token(kitchen 2)", "token(garden 5)", "token_at(Tom 6)"],
  );
  assert.ok(names.told.includes("token_at(the 1)"), names.told);
});

test("what was fetched and the rest make up both scores and their difference", () => {
  assert.deepEqual(rowsOf(found), [
    ["sum_fetched", 3.5, 0.86],
    ["sum_rest", 14.6 - 3.5, 10.18 - 0.86],
    ["sum_score", 14.6, 10.18],
  ]);
  assert.equal(rowsOf({ ...found, asked: [] })[0][0], "sum_own"); // the query's own
});

test("nothing is said where a token was told nothing by another, or both by the same", () => {
  const asked = [step(7, 6)];
  for (const found of [
    { told: [], rival_told: [] },
    { told, rival_told: null },
    { told, rival_told: [step(5, 0)] },
  ])
    assert.equal(marksOf({ asked, ...found }, place, PIECES), null);
  // its own embedding, of another word
  assert.equal(marksOf({ asked: [], told, rival_told: beside }, place, PIECES), null);
});

test("a way is told token by token, from where it began to where it ends", () => {
  const text = (key, params) => plain(`why.${key.split(".")[1]}`, params);
  assert.equal(
    chainOf(told, text, PIECES),
    "token_at(Tom 0) → head_of(1 0) → token_at(the 1) → head_of(1 0) → token(kitchen 2)",
  );
  assert.equal(chainOf([], text, PIECES), "");
});

test("of what makes all of a difference, or more, no rest is told", () => {
  const of = (from) => isWhole({ score: 14, rival_score: 10, from_asked: from, rival_from_asked: 0 });
  assert.deepEqual([2, 3.8, 3.9, 4.5].map(of), [false, false, true, true]);
});

test("both scores, their difference, and its parts come out with the few digits that are printed", () => {
  /** @param {string} text */
  const half = (text) => {
    const unit = 10 ** -decimalsIn(text.replace("%", ""));
    return (text.endsWith("%") ? unit / 100 : unit) / 2 + 1e-9;
  };
  for (let seed = 1; seed < 2000; seed++) {
    const [score, rival] = [20 * Math.sin(seed * 7.3), 20 * Math.sin(seed * 7.3) - 3 - 2 * Math.cos(seed)];
    const from_asked = (score - rival) * 1.2 * Math.abs(Math.sin(seed * 1.7)); // any share of the difference, or more
    const one = { ...found, score, rival_score: rival, from_asked, rival_from_asked: 0 };
    const [said, whole] = [gapWritten(one), isWhole(one)];
    const read = (/** @type {keyof typeof said} */ name) => printedNumber(said[name]);
    /** @type {[number, keyof typeof said][]} */
    const sums = [[read("score") - read("rival_score"), "gap"]];
    if (whole) sums.push([read("from_asked") + read("rest"), "gap"]);
    else assert.equal(said.from_share, `${Number(((100 * from_asked) / (score - rival)).toPrecision(2))}%`);
    for (const [worked, name] of sums)
      assert.ok(Math.abs(worked - read(name)) <= half(said[name]), `${name} of ${JSON.stringify(said)}`);
    for (const name of /** @type {const} */ (["score", "rival_score", "gap", "from_asked"])) {
      const digits = said[name].replace(/^−?0?\.?0*|[.]/g, "");
      assert.ok(digits.length <= 3, `${name} of ${JSON.stringify(said)}`); // to be read
    }
  }
});
