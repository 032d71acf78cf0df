import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { formOf } from "../../visuals/static/story/scenes/answer.js";
import { withoutBlankEnd } from "../../visuals/static/story/remarks.js";
import { knownOf } from "../../visuals/static/panels/glance/missed.js";
import { othersSaid } from "../../visuals/static/story/remarks.js";
import { aloneForm, amongOthers, followsForm, shownSaid, sinksSaid } from "../../visuals/static/story/scenes/looks.js";
import { wordAround } from "../../visuals/static/panels/glance/words.js";
import { formSaid, isRecalled } from "../../visuals/static/panels/glance/rests.js";
import { filled } from "../../visuals/static/panels/glance/words.js";
import { savedRows } from "../../visuals/static/readings/reading.js";
import { lookUp } from "../../visuals/static/texts.js";
import { found } from "./rests_help.js";
import {
  askRests,
  isLittle,
  leftWithout,
  mostOf,
  nearlyNeeded,
  partsLost,
  restsOf,
  restsTable,
} from "../../visuals/static/readings/rests.js";

test("what is drawn of a token is its part of the largest, sinks and the last token apart", () => {
  assert.deepEqual(partsLost(found), [null, -0.5, 1, null]);
  const little = { ...found, lost: { shape: [3], data: Float32Array.of(0, 0.04, 0) } };
  assert.deepEqual(partsLost(little), [null, 0, null]); // nothing counts as needed, as is said of it
  assert.deepEqual(partsLost({ ...found, most: 8 }), [null, -0.125, 0.25, null]); // on the scale of all windows
  assert.equal(mostOf(found), 2);
  const one = { ...found, sinks: [], lost: { shape: [1], data: Float32Array.of(NaN) } };
  assert.deepEqual(partsLost(one), [null]);
});

test("tokens are needed nearly as much as the first where at least two thirds of its loss are theirs", () => {
  const lost = { shape: [5], data: Float32Array.of(0.9, 0.6, 0.59, 5, 0) };
  assert.deepEqual(nearlyNeeded({ ...found, lost, tokens: [0, 1, 2], sinks: [3] }), [1]);
  assert.deepEqual(nearlyNeeded({ ...found, lost, tokens: [] }), []);
});

test("what is left is the probability less the nats that are lost, and no more than one", () => {
  assert.ok(Math.abs(leftWithout(found, 2) - 0.5 * Math.exp(-2)) < 1e-9);
  assert.equal(leftWithout(found, 1), 1);
});

test("an answer that is recalled and hardly fetched late has a sentence of its own", () => {
  assert.equal(formSaid(found), "form_recalled");
  assert.equal(formSaid({ ...found, fetched: 0.1 }), "form_recalled_early");
  assert.equal(formSaid({ ...found, form: "habit", fetched: 0.1 }), "form_habit");
  const copied = { ...found, form: "copied", fetched: 3.3, from_hidden: 2 };
  assert.equal(formSaid({ ...copied, from_answer: 3.2 }), "form_copied");
  assert.equal(formSaid({ ...copied, from_answer: 3.31 }), "form_copied"); // it reads as much
  assert.equal(formSaid({ ...copied, from_answer: 3.7 }), "form_copied_against");
  assert.equal(formSaid({ ...copied, from_answer: 3.7, from_hidden: -0.002 }), "form_copied_unneeded");
  assert.equal(formSaid({ ...copied, from_answer: 3.2, from_hidden: 0.4 }), "form_copied_unneeded"); // 67% are left
  assert.equal(formSaid({ ...copied, from_answer: 3.2, from_hidden: 0.41 }), "form_copied"); // 66%
});

test("an answer with less than half of the probability is not said to be recalled", () => {
  assert.equal(isRecalled({ form: "recalled", probability: 0.77 }), true);
  assert.equal(isRecalled({ form: "recalled", probability: 0.0554 }), false);
  assert.equal(isRecalled({ form: "copied", probability: 0.77 }), false);
});

test("a loss is little where most of the probability is left and few points of it are gone", () => {
  assert.equal(isLittle(0.95, 0.9), true);
  assert.equal(isLittle(0.95, 0.8), false); // fifteen points are gone, though most is left
  assert.equal(isLittle(0.06, 0.05), true);
  assert.equal(isLittle(0.06, 0.03), false); // half is gone, though few points are
  assert.equal(isLittle(0.3, 0.35), true); // it gains
});

test("a copy is spoken of where what is needed most is copied, and of a word that is not there where it is not", () => {
  const told = (form, best) =>
    formOf({ found, rests: { form, tokens: [2] }, best: { piece: best } }, [".", " is", " in"]);
  assert.equal(told("copied", " in"), "_copied");
  assert.equal(told("copied", " on"), "_needs");
  assert.equal(told("recalled", " the"), "_recalled");
  assert.equal(told("recalled", " Is"), "_needs");
  assert.equal(formOf({ found: null, rests: null, best: { piece: "." } }, []), "_waits");
});

test("an answer is not said to be copied where more than two thirds of it are left without the word", () => {
  const told = (probability, left) =>
    formOf({ found, rests: { form: "copied", tokens: [0] }, best: { piece: "高兴", probability }, left }, [
      "高兴",
      "很",
    ]);
  assert.equal(told(0.543, 0.431), "_there");
  assert.equal(told(0.9, 0.89), "_there");
  assert.equal(told(0.9, 0.59), "_copied");
  assert.equal(told(0.9, 0.01), "_copied");
  for (const code of ["en", "zh"]) {
    const { story } = JSON.parse(readFileSync(new URL(`../../app/${code}.json`, import.meta.url)));
    assert.doesNotMatch(story.answer_says_there, /cop(y|ies|ied)|抄/);
  }
});

test("that no single word decides is said apart from attention sinks, without which a model may break", () => {
  for (const code of ["en", "zh"]) {
    const { story } = JSON.parse(readFileSync(new URL(`../../app/${code}.json`, import.meta.url)));
    for (const name of ["none", "little"]) assert.match(story[`answer_says_${name}`], /\{apart\}[：:]/);
  }
});

test("of a space, of a sign and of the rest of a word it is not said whether the word stands in the text", () => {
  const told = (form, piece) => formOf({ found, rests: { form, tokens: [0] }, best: { piece } }, [" key", " unlock"]);
  for (const piece of [" ", "\n", ".", "ed"]) {
    assert.equal(told("recalled", piece), "_needs");
    assert.equal(told("copied", piece), "_needs");
    assert.equal(told("habit", piece), "_habit");
  }
  assert.equal(told("recalled", " door"), "_recalled");
});

test("of a text that ends with a token that is a space alone, and of no other, the text without it is known", () => {
  /** @param {string} prompt @param {string[]} pieces */
  const without = (prompt, pieces, nPrompt = pieces.length) =>
    withoutBlankEnd({ prompt, tokens: { ids: pieces.map(() => 0), pieces }, T: pieces.length, nPrompt });
  assert.equal(without("in the ", ["in", " the", " "]), "in the");
  assert.equal(without("in the  ", ["in", " the", " ", " "]), "in the"); // else it would still end with one
  assert.equal(without("猫 ", ["猫", " "]), "猫");
  for (const end of ["the", "the\n", "the\u3000", "the\u00a0"])
    assert.equal(without(`in ${end}`, ["in", ` ${end}`]), null);
  assert.equal(without("in the ", ["in", " the "]), null); // no token of its own
  assert.equal(without("in the", ["in", " the", " "], 2), null); // the model wrote it
  assert.equal(without(" ", [" "]), null); // nothing is left to be read
});

test("the map of attention names the few tokens that it has no room for", () => {
  const en = JSON.parse(readFileSync(new URL("../../app/en.json", import.meta.url)));
  const text = (key, params) => lookUp(en, key, params);
  const pieces = ["Tom", " is", " in", " the", " garden", "."];
  assert.deepEqual(shownSaid(text, [0, 1, 2, 3, 4, 5], pieces), []);
  const [one] = shownSaid(text, [0, 1, 3, 4, 5], pieces);
  assert.match(one, /^5 of 6 tokens/);
  assert.match(one, /“in”$/);
  const [many] = shownSaid(text, [0, 1], pieces);
  assert.match(many, /^2 of 6 tokens/);
  assert.doesNotMatch(many, /“/);
});

test("others are said perhaps to do a head's work only where what they add has its sign", () => {
  const look = { layer: 4, head: 2, adds: 0.0365, missed: 0 };
  const looking = [
    [1, 0],
    [4, 2],
  ];
  assert.equal(aloneForm(look, { looking, together: 0.4 }, false), "shared");
  assert.equal(aloneForm(look, { looking, together: 0.4 }, true), "same");
  assert.equal(aloneForm(look, { looking, together: -0.0821 }, true), "little_same");
  assert.equal(aloneForm(look, { looking, together: 0.02 }, false), "little"); // the others take some of it away
  assert.equal(aloneForm(look, { looking: [[4, 2]], together: 0.0365 }, false), "only");
  assert.equal(aloneForm({ ...look, missed: 0.06 }, { looking, together: 0.4 }, false), "missed");
  assert.equal(aloneForm({ ...look, missed: -0.15 }, { looking, together: 0.4 }, false), "gains");
  assert.equal(aloneForm({ ...look, missed: -0.01 }, { looking, together: 0.4 }, false), "gains");
  assert.equal(aloneForm({ ...look, missed: -0.01 }, { looking, together: 0.4 }, true), "same"); // as it is written
});

test("under the map a head is said to be one of many, and hardly missed alone, only where that is so", () => {
  const en = JSON.parse(readFileSync(new URL("../../app/en.json", import.meta.url)));
  const text = (key, params) => lookUp(en, key, params);
  const many = {
    looking: [
      [1, 0],
      [4, 2],
      [4, 3],
    ],
    together: 0.4,
  };
  const said = (missed, back = many, head = 2, rival = undefined) => {
    const look = { layer: 4, head, adds: 0.0365, missed };
    return amongOthers(text, look, back, { probability: 0.998 }, "“kitchen”", rival).join(" · ");
  };
  assert.match(
    said(0.003),
    /^one of 3 heads that look most at “kitchen”.+hardly missed \(99\.8% → 99\.5%\): the others remain$/,
  );
  assert.match(said(0.5), /^one of 3 heads[^·]+$/); // it is missed
  assert.match(said(0.5, many, 2, "“garden”"), /the scenes follow it, since .+ from “garden”$/);
  assert.match(said(0.003, many, 7), /^alone it is hardly missed/); // it looks elsewhere most
  assert.equal(said(0.003, { looking: [[4, 2]], together: 0.0365 }), ""); // no other looks there
});

test("of the token that looks it is said that it is an attention sink itself", () => {
  const en = JSON.parse(readFileSync(new URL("../../app/en.json", import.meta.url)));
  const text = (key, params) => lookUp(en, key, params);
  const said = sinksSaid(text, [0, 2], 2, ["Tom", " is", " the"]);
  assert.deepEqual(said, ["“Tom”: an attention sink", "“the” itself: an attention sink"]);
});

test("why a head is followed: it adds most, or of the first few it is the one that is missed", () => {
  const look = { layer: 4, head: 2, adds: 0.4 };
  const [own, other] = [
    [4, 2],
    [1, 0],
  ];
  assert.equal(followsForm(look, { looking: [own, other], together: 0.6 }), "");
  assert.equal(followsForm(look, { looking: [own, other], together: 0.1 }), "_others");
  assert.equal(followsForm({ ...look, adds: -0.1 }, { looking: [own, other], together: -0.6 }), "_less");
  assert.equal(followsForm(look, { looking: [other, own], together: 0.9 }), "_missed");
  assert.equal(followsForm(look, { looking: [], together: 0 }), "_others"); // nobody looks there most
});

test("an answer with less than half is said to be unsure, unless that is said elsewhere", () => {
  const en = JSON.parse(readFileSync(new URL("../../app/en.json", import.meta.url)));
  const text = (key, params) => lookUp(en, key, params);
  const rows = (p) => [p, 0.1, 0.05].map((probability, id) => ({ id, piece: ` w${id}`, probability }));
  const never = () => false;
  assert.match(othersSaid(text, rows(0.196), never, false), /not sure.*19\.6%.*“w1” 10/);
  assert.doesNotMatch(othersSaid(text, rows(0.196), never, true), /not sure/);
  assert.equal(othersSaid(text, rows(0.5), never, false), "");
  assert.equal(othersSaid(text, [], never, false), "");
  const gloss = (piece) => ` (meaning of ${piece.trim()})`;
  assert.match(othersSaid(text, rows(0.196), never, false, gloss), /“w1” \(meaning of w1\) 10.*“w2” \(meaning of w2\)/);
});

test("a text's places are filled, and of two words one is taken", () => {
  const template = "Up to {parked} {parked|head parks|heads park} there; {other} stays.";
  assert.equal(filled(template, { parked: "2" }).join(""), "Up to 2 heads park there; {other} stays.");
  assert.equal(filled(template, { parked: "1" }).join(""), "Up to 1 head parks there; {other} stays.");
});

test("a network in which it is not measured has none", () => {
  assert.equal(restsOf(null), null);
  assert.equal(restsOf({}), null);
  assert.equal(restsOf(found), found);
});

test("a file holds every token, then every head", () => {
  const grid = {
    ablation: "mean",
    lost: { shape: [1, 2], data: Float32Array.of(1, -0.25) },
    measured: { shape: [1, 2], data: Uint8Array.of(1, 0) },
  };
  const saved = (more) =>
    savedRows({ rows: { all: () => restsTable(found, ["The", " capital", " France", " is"], more) } });
  const [names, ...rows] = saved({ grid });
  assert.deepEqual(
    rows.map((row) => [row[0], row.at(-1)]),
    [
      ["sink", 1],
      ["token", 1],
      ["token", 1],
      ["token", 1],
      ["head", 1],
      ["head", 0],
    ],
  );
  assert.deepEqual(rows.at(-1).slice(0, 6), ["head", 0, 1, "", "", -0.25]);
  assert.ok(rows.every((row) => row.length === names.length));
  assert.equal(saved().length, 5);
});

test("heads that are not measured yet have no number, unless it is an estimate that stays", () => {
  const grid = {
    ablation: "mean",
    lost: { shape: [1, 2], data: Float32Array.of(1, 0) },
    measured: { shape: [1, 2], data: Uint8Array.of(1, 0) },
  };
  assert.deepEqual(Array.from(knownOf(grid, { grid, done: 1, total: 2 }).lost.data), [1, NaN]);
  assert.equal(knownOf(grid, { grid, done: 1, total: 1 }), grid);
  assert.equal(knownOf(grid, null), grid);
});

test("a token of a word in several pieces is told from the word, of which it is one", () => {
  const pieces = ["The", "n", " the", " w", "ug", ".", "ug", "在", "家"];
  const of = (t) => Object.values(wordAround(pieces, t));
  assert.deepEqual([0, 1].map(of), [
    ["Then", 0, 2],
    ["Then", 0, 2],
  ]);
  assert.deepEqual(of(2), ["the", 2, 1]);
  assert.deepEqual([3, 4].map(of), [
    ["wug", 3, 2],
    ["wug", 3, 2],
  ]);
  assert.deepEqual(
    [5, 6, 8].map((t) => of(t)[2]),
    [1, 1, 1],
  ); // no letters go on there, or none of such a script
});

test("of a long text the tokens are knocked out in parts, each asked for once the one before has come", () => {
  const asked = [];
  const answers = new Map([["knocked 0", { done: 189, total: 300 }]]);
  const detail = (what, { token, start }) => {
    asked.push([what, token, start]);
    return answers.get(start === undefined ? what : `${what} ${start}`) ?? null;
  };
  assert.deepEqual(askRests({ detail }, { token: 299 }), { found: null, part: { done: 189, total: 300 } });
  assert.deepEqual(asked, [
    ["knocked", 299, 0],
    ["knocked", 299, 189],
  ]);
  answers.set("knocked 189", { done: 300, total: 300 }).set("rests", found);
  assert.deepEqual(askRests({ detail }, { token: 299 }), { found, part: { done: 300, total: 300 } });
  answers.set("knocked 0", {}).set("rests", {}); // of a network in which it is not measured
  assert.deepEqual(askRests({ detail }, { token: 299 }), { found: {}, part: null });
  answers.clear();
  assert.deepEqual(askRests({ detail }, { token: 299 }), { found: null, part: { done: 0, total: 300 } });
  asked.length = 0;
  assert.deepEqual(askRests({ detail }, { token: 188 }), { found: null, part: null }); // one part: nothing to tell
  assert.deepEqual(asked, [["rests", 188, undefined]]);
});
