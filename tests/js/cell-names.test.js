// The words at a map's rows and columns: which sides have theirs and in whose hue, as many as fit, and a chosen one
// over its neighbours alone.

import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = { body: { classList: { contains: () => false } } };
globalThis.getComputedStyle = () => ({
  getPropertyValue: (name) => (/magnitude|signed/.test(name) ? "#000000, #ffffff" : name),
});
const { drawChosen, drawChosenAt, drawNames, drawSide, heightOf, LEFT, LOW, sizeOf, TOP } =
  await import("../../visuals/static/marks/cell-names.js");

/** What is written, with its hue, whether it is turned upwards, and how often something was cleared for it. */
function written(draw) {
  const words = [];
  const kept = [];
  let [up, cleared] = [false, 0];
  const context = {
    save: () => kept.push(up),
    restore: () => {
      up = kept.pop();
    },
    translate() {},
    rotate: () => {
      up = true;
    },
    measureText(text) {
      return { width: (Number(/(\d+)px/.exec(this.font)[1]) / 2) * text.length };
    },
    fillRect: () => cleared++,
    fillText(text) {
      words.push([text, this.fillStyle, up]);
    },
  };
  draw(context);
  return { words, cleared };
}
const pieces = ["a", "b"];
const [high, low] = [TOP, LOW].map((y) => ({ x: LEFT, y, size: 100 }));

test("rows and columns have their words, a map beside another its columns alone, and a low one its rows", () => {
  const names = (place, how) => written((context) => drawNames(context, place, pieces, how)).words;
  const [beside, above] = [
    ["a", false],
    ["a", true],
  ];
  const sides = (words) => words.filter(([text]) => text === "a").map(([text, , up]) => [text, up]);
  assert.deepEqual(sides(names(high)), [beside, above]);
  assert.deepEqual(sides(names(high, { rows: false })), [above]);
  assert.deepEqual(sides(names(low)), [beside]);
  assert.deepEqual(names(low, { rows: false }), []);
});

test("the chosen cell's words are in the hues of query and key, and the key's stands over a low map, too", () => {
  const chosen = (place, how) => written((context) => drawChosen(context, place, { query: 1, key: 0, pieces }, how));
  const hues = ({ words }) => words.map(([text, hue]) => [text, hue]);
  const [query, key] = [
    ["b", "--glass-q"],
    ["a", "--glass-k"],
  ];
  assert.deepEqual(hues(chosen(high)), [query, key]);
  assert.deepEqual(hues(chosen(high, { rows: false })), [key]);
  assert.deepEqual(hues(chosen(low)), [query, key]);
  assert.deepEqual([chosen(high).cleared, chosen(low).cleared], [2, 1]); // over a low map no other word stands
});

const PLACE = { x: 82, y: 72, size: 108 };

/** What is drawn, with where its line is moved to. */
function drawn(draw) {
  const found = { words: [], cleared: [] };
  let at = [0, 0];
  const calls = {
    translate: (...to) => (at = to),
    measureText: (text) => ({ width: 7 * text.length }),
    fillText: (text) => found.words.push([text, ...at]),
    fillRect: () => found.cleared.push(at),
  };
  const context = new Proxy({}, { get: (_, name) => calls[name] ?? (() => {}), set: () => true });
  draw(context);
  return found;
}

test("a chosen word takes away the words beside it, and nothing past the map's end", () => {
  const pieces = Array.from("abcdefghijkl"); // 9 px each: every second one is written
  const side = { pieces, step: 9, above: false, room: 66 };
  for (const t of pieces.keys()) {
    const { words, cleared } = drawn((context) => drawChosenAt(context, PLACE, side, { t, role: "q" }));
    assert.deepEqual(
      words.map(([word]) => word),
      [pieces[t]],
    );
    assert.ok(cleared.length > 0);
    for (const [, y] of cleared) assert.ok(y < PLACE.y + PLACE.size, `${pieces[t]}: ${y}`);
  }
});

test("where a word has a little less room than its letters take, all stand there in smaller ones", () => {
  const letters = Array.from("abcd");
  const words = (step) => {
    const said = [];
    const pen = { ...Object.fromEntries(["save", "restore", "translate", "rotate"].map((name) => [name, () => {}])) };
    pen.measureText = (text) => ({ width: text.length });
    pen.fillText = (text) => said.push([text, pen.font.split(" ")[1]]);
    drawSide(pen, PLACE, { pieces: letters, step, above: false });
    return said;
  };
  assert.deepEqual(
    words(13),
    letters.map((one) => [one, "12px"]),
  );
  assert.deepEqual(
    words(20),
    letters.map((one) => [one, "14px"]),
  );
  assert.deepEqual(
    words(11),
    ["a", "c"].map((one) => [one, "14px"]),
  );
});

test("Chinese words stand upright above columns, sign by sign, and leave room between two", () => {
  const pieces = ["汤姆", "在", "里", "。"];
  const upright = [];
  const kept = [];
  let [turned, along] = [0, 0];
  const pen = {
    save: () => kept.push([turned, along]),
    restore: () => ([turned, along] = kept.pop()),
    rotate: (angle) => (turned += angle),
    translate: (x) => turned && (along = x),
    measureText: (text) => ({ width: 14 * text.length }),
    fillText: (text) => upright.push([text, turned, along]),
  };
  drawSide(pen, PLACE, { pieces, step: 20, above: true });
  assert.deepEqual(upright, [
    ["汤", 0, 21],
    ["姆", 0, 7],
    ["在", 0, 7],
    ["里", 0, 7],
    ["。", 0, 7],
  ]);
  for (let step = 4; step < 24; step++) {
    const rows = drawn((context) => drawSide(context, PLACE, { pieces, step, above: false })).words;
    const size = sizeOf(step, pieces);
    for (const [i, [, , y]] of rows.entries()) if (i) assert.ok(y - rows[i - 1][2] >= size + 3, `${step}`);
  }
});

test("rows and columns of a map may be of different texts, each with cells of its own size", () => {
  const { words } = drawn((context) => {
    drawSide(context, PLACE, { pieces: ["·x", "·y"], step: 24, above: false });
    drawSide(context, PLACE, { pieces: ["a", "b", "c", "d"], step: 7, above: true });
  });
  assert.deepEqual(
    words.map(([word]) => word),
    ["x", "y", "a", "c"],
  );
  assert.deepEqual(
    words.slice(0, 2).map(([, , y]) => y),
    [PLACE.y + 12, PLACE.y + 36],
  );
  assert.deepEqual(
    words.slice(2).map(([, x]) => x),
    [PLACE.x + 3.5, PLACE.x + 17.5],
  );
});

test("names of an axis stand side by side where all fit whole, else upright, and the chosen one always", async () => {
  const { axisOf, drawAxis, drawChosenName } = await import("../../visuals/static/marks/axis-names.js");
  const names = ["Tom", "kitchen", "in", "the", "box", "old"]; // at 7 px a letter
  /**
   * The names that are written at so many px a column, and over them the chosen one, each with whether it is
   * upright.
   */
  function drawn(step, t, second) {
    const told = (draw) =>
      written((context) => draw(context, axisOf(context, names, step, second), { left: 0, y: 50 }));
    const all = told(drawAxis).words.map(([name, , up]) => [name, up]);
    const chosen = told((...to) => drawChosenName(...to, { t, role: "q" })).words;
    return { all, chosen };
  }
  const whole = (up) => names.map((name) => [name, up]);
  assert.deepEqual(drawn(60, 1), { all: whole(false), chosen: [["kitchen", "--glass-q", false]] });
  assert.deepEqual(drawn(48, 1), { all: whole(true), chosen: [["kitchen", "--glass-q", true]] });
  assert.deepEqual(drawn(12, 1).all, whole(true));
  assert.deepEqual(drawn(7, 1), {
    all: [names[0], names[2], names[4]].map((name) => [name, true]),
    chosen: [["kitchen", "--glass-q", true]],
  });
  const second = ["", "→0", "", "", "", ""];
  assert.deepEqual(drawn(12, 1, second).all[1], ["kitchen →0", true]); // upright names have both in one line
  assert.equal(drawn(60, 1, second).all.length, 2 * names.length);
});

test("the words of a map without room in its cells stand beside it: those of the chosen row and column", async () => {
  const { besideOf, drawBeside } = await import("../../visuals/static/marks/depth-names.js");
  const word = (row, token) => `${row}${token}`;
  const size = { left: 40, top: 60, rows: 3, tokens: 4, cell: 16, column: 14, room: 80 };
  const said = (row) =>
    written((context) => drawBeside(context, size, besideOf(context, word, size), { row, token: 2, word })).words;
  const texts = (row, up) => [
    ...new Set(
      said(row)
        .filter(([, , turned]) => turned === up)
        .map(([text]) => text),
    ),
  ];
  assert.deepEqual(texts(1, false), ["02", "12", "22"]); // at the right, from below
  assert.deepEqual(texts(1, true), ["10", "11", "12", "13"]);
  assert.deepEqual(texts(-1, true), []); // no row is selected
});

test("words above a map are as tall as their letters, which are small where columns are close, need", () => {
  const under = (room) => (above) => room - above;
  const many = Array.from({ length: 16 }, () => "a");
  assert.equal(heightOf(72, under(400), many), 72); // letters of 14 px
  const low = heightOf(72, under(270), many);
  assert.equal(low, 59); // of 11 px
  assert.ok(sizeOf(under(270)(low) / 16) >= 11 && under(270)(low) > under(270)(72));
  assert.equal(heightOf(72, under(100), many), 72); // too close for all words: some are left out
});
