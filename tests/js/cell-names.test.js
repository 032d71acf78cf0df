// The words of the text at a map's rows and columns: which sides have theirs, and in whose hue.

import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = { body: { classList: { contains: () => false } } };
globalThis.getComputedStyle = () => ({
  getPropertyValue: (name) => (/magnitude|signed/.test(name) ? "#000000, #ffffff" : name),
});
const { drawChosen, drawNames, LEFT, LOW, TOP } = await import("../../visuals/static/marks/cell-names.js");

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
    measureText: (text) => ({ width: 7 * text.length }),
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
