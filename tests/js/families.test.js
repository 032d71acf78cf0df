// What the chapter on families reads off its table of facts, against sums done by hand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { valueOf } from "../../visuals/static/frame.js";
import { percentagesOf } from "../../visuals/static/panels/families/answer.js";
import { wordsOf } from "../../visuals/static/panels/families/cells.js";
import { productOf, readFamilies, readMyths, readParameters } from "../../visuals/static/readings/families.js";
import { savedRows } from "../../visuals/static/readings/reading.js";

const part = (label, layers, copies, each, how = "") => ({
  label,
  layers,
  copies,
  each,
  how,
  weights: layers * copies * each,
});
const column = (id, total, groups) => ({
  id,
  name: id.toUpperCase(),
  cells: {
    norm: {
      lines: [
        { code: "rms_norm", params: { size: 4096 } },
        { code: "after", params: {}, differs: true },
      ],
    },
  },
  cache: { bytes: 1234567 },
  parameters: { total, active: 60, groups, published: total === null ? { total: 65 } : null },
});
const experts = [part("expert", 2, 8, 5)];
const ANSWER = {
  rows: ["norm"],
  views: { eight: ["mixtral", "old"], llamas: ["old"] },
  claims: [
    { name: "falcon_norm", verdict: "wrong", column: "old", row: "norm" },
    { name: "mixtral_size", verdict: "part", column: "mixtral", row: "parameters" },
  ],
  columns: [
    column("old", null, []),
    column("mixtral", 100, [
      { group: "embedding", weights: 20, parts: [part("embed", 1, 1, 20, "4 × 5")] },
      { group: "experts", weights: 80, parts: experts },
    ]),
  ],
};
const say = ({ key, params }) => `<${key} ${Object.values(params ?? {}).join(",")}>`;

test("a view's cells are read in its order; a file has all of their lines", () => {
  const read = (view, looked = null) => readFamilies(ANSWER, view, looked);
  assert.equal(valueOf(read("eight")), "view=eight columns=2");
  assert.equal(valueOf(read("eight", { id: "old", row: "norm" })), "old norm rms_norm after");
  assert.equal(valueOf(read("eight", { id: "mixtral", row: "cache" })), "mixtral cache bytes=1234567");
  assert.equal(valueOf(read("eight", { id: "mixtral", row: "parameters" })), "mixtral parameters total=100");
  assert.equal(valueOf(read("llamas", { id: "mixtral", row: "norm" })), "view=llamas columns=1"); // not in this view
  assert.deepEqual(savedRows(read("eight"), say), [
    ["part", "MIXTRAL", "OLD"],
    [
      "<families.row_norm >",
      "<families.line_rms_norm 4,096>; <families.line_after >",
      "<families.line_rms_norm 4,096>; <families.line_after >",
    ],
    ["parameters", 100, 65], // as published where it is not counted
    ["cache_bytes_per_token", 1234567, 1234567],
  ]);
});

test("in Chinese a count of tokens has Chinese units, and a size its name", () => {
  const line = (code, params) => ({ lines: [{ code, params }] });
  const cells = { data: line("data", { tokens: "3T" }), sizes: line("sizes", { sizes: "671B" }) };
  const glass = { state: { language: "zh" }, text: (_, params) => Object.values(params).join() };
  const said = (row) => wordsOf(glass, { ...column("one", null, []), cells }, row, glass.text)[0].words;
  assert.equal(said("data"), "3 万亿");
  assert.equal(said("sizes"), "671B");
});

test("parameters are those of every network that is counted, each part with its product", () => {
  const reading = readParameters(ANSWER, "eight", "nobody");
  assert.equal(valueOf(reading), "mixtral total=100 embedding=20 experts=80");
  assert.deepEqual(savedRows(reading), [
    ["model", "group", "part", "product", "weights"],
    ["MIXTRAL", "embedding", "embed", "4 × 5", 20],
    ["MIXTRAL", "experts", "expert", "2 × 8 × 5", 80],
  ]);
  assert.equal(productOf({ layers: 3, copies: 1, each: 9, how: "4 + 5" }), "3 × (4 + 5)");
});

test("shares of one network add up to 100% as they are printed, or are said to be rounded", () => {
  const words = { others: "others", rounded: "each rounded" };
  // Mixtral's 46.7 billion by hand: 96.562%, 2.874%, 0.561% and 0.003% come to 101%, or with one decimal to 100.1%
  const mixtral = /** @type {[string, number][]} */ ([
    ["embeddings", 262_144_000],
    ["attention", 1_342_177_280],
    ["experts", 45_097_156_608],
    ["norms", 1_314_816],
  ]);
  assert.deepEqual(percentagesOf(mixtral, 46_702_792_704, words), [
    "experts 97%",
    "attention 3%",
    "embeddings 1%",
    "each rounded",
  ]);
  const shares = (/** @type {number[]} */ ...of) =>
    percentagesOf(
      of.map((share, i) => ["abcde"[i], share]),
      100,
      words,
    ).join(" ");
  assert.equal(shares(70, 29.8, 0.2), "a 70% b 30%");
  assert.equal(shares(66.4, 18.4, 15.2), "a 66.4% b 18.4% c 15.2%"); // 66, 18 and 15 are 99
  assert.equal(shares(98, 1, 0.4, 0.3, 0.3), "a 98% b 1% others 1%");
});

test("what tables get wrong has Mixtral's own numbers", () => {
  const reading = readMyths(ANSWER);
  assert.equal(valueOf(reading), "myths=2 mixtral=100 active=60");
  const { said, verdict } = reading.myths[1];
  assert.equal(verdict, "part");
  assert.deepEqual(said.right, {
    key: "family-myths.mixtral_size_right",
    params: { total: "100", active: "60", experts: "80", rest: "20" },
  });
  const [head, first] = savedRows(reading, say);
  assert.deepEqual(head, ["claim", "right", "source", "parameters"]);
  assert.equal(first[3], ""); // the old one's are not counted
});
