// The diagram for B − A: each tensor's change in its place, and its length beside it.

import { largest, poolColumns, subtract } from "../../arrays.js";
import { shareSaid } from "../../counts.js";
import { h, shown } from "../../dom.js";
import { norm } from "../../readings/cell.js";
import { diagramReader, isScores, sizeOf, tensorOf } from "../../readings/diagram.js";
import { rowsOf } from "../../readings/diagram-rows.js";
import { memo } from "../../reads.js";
import { shownIn } from "../../run-for.js";
import { createView, lookedAt } from "./diagram-view.js";
import { nameParts, nameTensors } from "./labels.js";

/**
 * @typedef {import("../../readings/diagram.js").Place} Place
 *
 * @typedef {import("../../readings/diagram.js").DiagramReading} Reading
 *
 * @typedef {import("../../difference/saved.js").Rows} Rows
 *
 * @typedef {import("../../difference/face.js").Run} Run
 */

/** A length to four digits; "0" of what has none. @param {number} length */
const lengthText = (length) => (length === 0 ? "0" : shown(length, 4));

/** @param {Place} place @returns {string[]} */
const keysOf = ({ trace }) => rowsOf(trace.model).map(({ key }) => key);

/**
 * B − A of a row's values; null where it has none, or they are not here yet.
 *
 * @param {Place} a
 * @param {Place} b
 * @param {string} key
 */
function changeOf(a, b, key) {
  const [first, second] = [a, b].map((place) => tensorOf(key, place).values);
  return first && second ? subtract(second, first) : null;
}

/**
 * The length of the selected row's change, which is not the change of its length; none of scores.
 *
 * @param {Reading} a
 * @param {Reading} b
 * @returns {Record<string, number>}
 */
export function apartOf(a, b) {
  const { key } = b.selection;
  const change = isScores(key) ? null : changeOf(a.place, b.place, key);
  return change ? { apart: norm(change) } : {};
}

/**
 * Every row's size, the length of its change, and its values.
 *
 * @param {Place} a
 * @param {Place} b
 * @returns {Rows}
 */
function rowsIn(a, b) {
  /** @type {(key: string, tensor: string) => Rows} */
  const sizes = (key, tensor) => {
    if (key === "ids")
      return [[key, tensor, "id", "", ...[a, b].map(({ trace, token }) => trace.tokens.ids[token]), ""]];
    const [first, second] = [a, b].map((place) => sizeOf(key, place) ?? NaN);
    const change = isScores(key) ? null : changeOf(a, b, key);
    const told = [[key, tensor, isScores(key) ? "largest" : "length", "", first, second, second - first]];
    return change ? [...told, [key, tensor, "length_of_change", "", "", "", norm(change)]] : told;
  };
  /** @type {(key: string) => Rows} */
  const values = (key) => {
    const [first, second] = [a, b].map((place) => tensorOf(key, place));
    const from = first.values;
    if (!from || !second.values) return [];
    return Array.from(second.values, (value, i) => [
      ...[key, second.name, "value", second.ids?.[i] ?? i],
      ...[from[i], value, value - from[i]],
    ]);
  };
  const names = ["row", "tensor", "name", "index", "A", "B", "B_minus_A"];
  return [names, ...keysOf(b).flatMap((key) => [...sizes(key, tensorOf(key, b).name), ...values(key)])];
}

/**
 * The diagram with B − A of every tensor, and its player.
 *
 * @type {import("../../difference/from-reading.js").OwnPart["create"]}
 */
export function createChanges({ glass, text, chosen }) {
  const state = shownIn(glass);
  const { player, diagram, room } = createView(glass);
  /** @type {import("../../types.d.ts").Say} */
  const say = (name, params) => glass.text(`overview.${name}`, params);
  /** @type {{ a: Place; b: Place } | null} null until it is drawn */
  let drawn = null;
  let same = false;

  /**
   * The number beside a row's strip: the length of the change, which is not the change of the length.
   *
   * @param {Place} a
   * @param {Place} b
   * @param {string} key
   * @param {Float64Array | null} change
   */
  function sizeText(a, b, key, change) {
    if (key === "ids") {
      const [first, second] = [a, b].map(({ trace, token }) => trace.tokens.ids[token]);
      return first === second ? say("id", { id: second }) : `${first} → ${second}`;
    }
    if (!isScores(key)) return change ? text("apart_length", { value: lengthText(norm(change)) }) : "…";
    const [first, second] = [a, b].map((place) => {
      const size = sizeOf(key, place) ?? NaN;
      return key === "softmax" ? shareSaid(glass.text, size) : shown(size, 3);
    });
    return text("largest_of_both", { a: first, b: second });
  }

  const build = memo(diagram.build);
  const fill = memo((/** @type {Run} */ first, /** @type {Run} */ second) => {
    const [a, b] = [first, second].map((run) => diagramReader.read(run, lookedAt(glass)).place);
    drawn = { a, b };
    nameParts(diagram, b, say);
    nameTensors(diagram, b);
    const changes = keysOf(b).map((key) => changeOf(a, b, key));
    keysOf(b).forEach((key, i) => {
      const parts = diagram.row(key);
      parts.size.textContent = sizeText(a, b, key, changes[i]);
      const strip = diagram.drawStrip(key, changes[i], false, poolColumns);
      parts.limit.textContent = strip ? (strip.limit === 0 ? "0" : `±${shown(strip.limit, 3)}`) : "";
    });
    same =
      [a, b].every(({ stage, ends }) => stage && ends) && changes.every((values) => !values || largest(values) === 0);
  });

  /** @type {import("../../difference/face.js").Part["draw"]} */
  function draw(a, b, width) {
    const { layer, query: token } = state;
    const next = layer + 1 < b.trace.model.n_layers && player.playing();
    // before the walk is there
    if (next) for (const { trace } of [a, b]) glass.detail("stage", { layer: layer + 1, token }, trace);
    build(width, b.trace.model);
    fill(a, b, width, layer, token);
    const { key, index } = chosen(a, b);
    diagram.activate(key);
    for (const { key: one } of rowsOf(b.trace.model)) diagram.markChannel(one, one === key ? index : null);
    player.show();
  }
  const csv = () => (drawn ? rowsIn(drawn.a, drawn.b) : []);
  return { element: h("div", null, player.element, room), draw, same: () => same, csv, called: "diagram" };
}
