// @ts-check
// What the diagram of the loaded model reads from a run, and the diagram for B − A: each tensor's change in its place.

import { largest, poolColumns, subtract } from "../arrays.js";
import { h, shown } from "../dom.js";
import { nameParts, nameTensors } from "../panels/overview/labels.js";
import { chosenIndex, createView, rowIn } from "../panels/overview/overview.js";
import { rowsOf as rowsIn, tensorOf } from "../panels/overview/rows.js";
import { norm } from "../readings/cell.js";
import { memo } from "../reads.js";
import { shownIn } from "../run-for.js";
import { rowsOf } from "./saved.js";
import { atToken } from "./selection.js";
import { mostChanged, number, table } from "./table.js";

/**
 * @typedef {import("./face.js").State} State
 *
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {import("./face.js").Run & {
 *   details: {
 *     stream: import("../decoded.d.ts").Detail<"stream">;
 *     stage?: import("../decoded.d.ts").Detail<"stage"> | null;
 *     ends?: import("../decoded.d.ts").Detail<"ends"> | null;
 *   };
 * }} Run
 *
 *
 * @typedef {{ index: number | null; where: string }} Chosen which of a row's values, and that in words
 */

/** @param {Run} run @returns {string[]} */
const keysOf = ({ trace }) => rowsIn(trace.model).map(({ key }) => key);

/**
 * A row's tensor in one run, at the selected token.
 *
 * @param {Pick<Run, "trace" | "details">} run
 * @param {{ layer: number; query: number }} place
 * @param {string} key
 */
const tensorIn = ({ trace, details: { stream, stage, ends } }, { layer, query }, key) =>
  tensorOf(key, { trace, layer, token: query, stream, stage, ends });

/**
 * B − A of a row's values; null where it has none, or they are not here yet.
 *
 * @param {Run} a
 * @param {Run} b
 * @param {State} state
 * @param {string} key
 */
function changeOf(a, b, state, key) {
  const [first, second] = [a, b].map((run) => tensorIn(run, state, key).values);
  return first && second ? subtract(second, first) : null;
}

/**
 * Rows whose strip holds the highest values alone: of them the largest is told, of all others the length.
 *
 * @param {string} key
 */
const isScores = (key) => key === "head" || key === "softmax";

/**
 * How large a row's tensor is in one run: a vector's length, the largest logit or probability; null of the ids.
 *
 * @param {Run} run
 * @param {{ layer: number; query: number }} place
 * @param {string} key
 * @returns {number | null}
 */
function sizeOf({ trace, details: { stream } }, { layer, query }, key) {
  if (key === "head") return stream.best?.logit.data[query] ?? null;
  if (key === "softmax") return stream.best?.probability.data[query] ?? null;
  return tensorIn({ trace, details: { stream } }, { layer, query }, key).norm;
}

/**
 * The diagram with B − A of every tensor, and its player.
 *
 * @param {Glass} glass
 * @param {import("../types.d.ts").Say} text of the section "b_minus_a"
 * @param {() => number | null} pointed the value that a table shows
 * @returns {import("./face.js").Part<Run>}
 */
function diagramOfChanges(glass, text, pointed) {
  const state = shownIn(glass);
  const { player, diagram, room } = createView(glass);
  /** @type {import("../types.d.ts").Say} */
  const say = (name, params) => glass.text(`overview.${name}`, params);
  const element = h("div", null, player.element, room);
  let same = false;

  /**
   * The number beside a row's strip: the length of the change, which is not the change of the length.
   *
   * @param {Run} a
   * @param {Run} b
   * @param {string} key
   * @param {Float64Array | null} change
   */
  function sizeText(a, b, key, change) {
    if (key === "ids") {
      const [first, second] = [a, b].map(({ trace }) => trace.tokens.ids[state.query]);
      return first === second ? say("id", { id: second }) : `${first} → ${second}`;
    }
    if (!isScores(key)) return change ? text("apart_length", { value: number(norm(change), 4) }) : "…";
    const [first, second] = [a, b].map((run) => number(sizeOf(run, state, key) ?? NaN, 3));
    return text("largest_of_both", { a: first, b: second });
  }

  const build = memo((/** @type {number} */ width, /** @type {import("../types.d.ts").Model} */ model) =>
    diagram.build(width, model),
  );
  const fill = memo((/** @type {Run} */ a, /** @type {Run} */ b) => {
    nameParts(diagram, { trace: b.trace, layer: state.layer }, say);
    nameTensors(diagram, { trace: b.trace, layer: state.layer, token: state.query, ...b.details });
    const changes = keysOf(b).map((key) => changeOf(a, b, state, key));
    keysOf(b).forEach((key, i) => {
      const parts = diagram.row(key);
      parts.size.textContent = sizeText(a, b, key, changes[i]);
      const drawn = diagram.drawStrip(key, changes[i], false, poolColumns);
      parts.limit.textContent = drawn ? (drawn.limit === 0 ? "0" : `±${shown(drawn.limit, 3)}`) : "";
    });
    same =
      [a, b].every(({ details: { stage, ends } }) => stage && ends) &&
      changes.every((values) => !values || largest(values) === 0);
  });

  /** @type {[Run, Run] | null} null until it is drawn */
  let both = null;
  /** @type {import("./face.js").Part<Run>["draw"]} */
  function draw(a, b, width) {
    both = [a, b];
    const { layer, query } = state;
    const next = layer + 1 < b.trace.model.n_layers && player.playing();
    // before the walk is there
    if (next) for (const { trace } of [a, b]) glass.detail("stage", { layer: layer + 1, token: query }, trace);
    build(width, b.trace.model);
    fill(a, b, width);
    const key = rowIn(state);
    diagram.activate(key);
    for (const one of keysOf(b)) diagram.markChannel(one, one === key ? indexIn(a, b, state, pointed()) : null);
    player.show();
  }
  const csv = () => (both ? diagramRows(...both, state) : []);
  return { element, draw, same: () => same, csv, called: "diagram" };
}

/**
 * Every row's size, the length of its change, and its values.
 *
 * @param {Run} a
 * @param {Run} b
 * @param {State} state
 * @returns {import("./saved.js").Rows}
 */
function diagramRows(a, b, state) {
  const heads = ["row", "tensor", "name", "index"];
  const [names] = rowsOf(heads, () => [], [], []);
  /** @type {(key: string, tensor: string) => import("./saved.js").Rows} */
  const sizes = (key, tensor) => {
    if (key === "ids")
      return [[key, tensor, "id", "", ...[a, b].map(({ trace }) => trace.tokens.ids[state.query]), ""]];
    const [first, second] = [a, b].map((run) => sizeOf(run, state, key) ?? NaN);
    const change = isScores(key) ? null : changeOf(a, b, state, key);
    const told = [[key, tensor, isScores(key) ? "largest" : "length", "", first, second, second - first]];
    return change ? [...told, [key, tensor, "length_of_change", "", "", "", norm(change)]] : told;
  };
  /** @type {(key: string) => import("./saved.js").Rows} */
  const values = (key) => {
    const [first, second] = [a, b].map((run) => tensorIn(run, state, key));
    return first.values && second.values
      ? rowsOf(heads, (i) => [key, second.name, "value", second.ids?.[i] ?? i], first.values, second.values).slice(1)
      : [];
  };
  return [names, ...keysOf(b).flatMap((key) => [...sizes(key, tensorIn(b, state, key).name), ...values(key)])];
}

/**
 * Which of the selected row's values is looked at: the one that was chosen, else the one that changes most; null
 * where none is here.
 *
 * @param {Run} a
 * @param {Run} b
 * @param {State} state
 * @param {number | null} pointed
 */
function indexIn(a, b, state, pointed) {
  const change = changeOf(a, b, state, rowIn(state));
  return change && Math.min(pointed ?? chosenIndex() ?? mostChanged(change), change.length - 1);
}
/**
 * How the row's value number i is called: a channel, or the id of a token.
 *
 * @param {Run} run
 * @param {State} state
 * @param {number} i
 */
const nameIn = (run, state, i) => String(tensorIn(run, state, rowIn(state)).ids?.[i] ?? i);

/** @type {import("./face.js").View<Run, Chosen>} */
const overview = {
  details: () => ({ stream: ["stream", {}] }),
  later: ({ state: { layer, query: token } }, { B }) => ({
    stage: ["stage", { layer, token }],
    ends: ["ends", { token, other: B.id }],
  }),
  named: (glass) => ({ name: shownIn(glass).trace.model.name }),
  choose(state, a, b, pointed) {
    const index = indexIn(a, b, state, pointed);
    return { index, where: index === null ? "" : ` channel ${nameIn(b, state, index)}` };
  },
  at: (state, _glass, { where }) => `${rowIn(state)} ${atToken(state)}${where}`,
  of({ text, chosen: { index }, b, state }) {
    const { name } = tensorIn(b, state, rowIn(state));
    return index === null ? name : text("of_value", { name, channel: nameIn(b, state, index) });
  },
  /** @returns {Record<string, number>} */
  between(a, b, state) {
    const change = isScores(rowIn(state)) ? null : changeOf(a, b, state, rowIn(state));
    return change ? { apart: norm(change) } : {};
  },
  worded: ["length"],
  numbers(run, state, _glass, { index }) {
    const size = sizeOf(run, state, rowIn(state));
    const { values } = tensorIn(run, state, rowIn(state));
    return {
      ...(size === null ? {} : { [isScores(rowIn(state)) ? "largest" : "length"]: size }),
      ...(index === null || !values ? {} : { value: values[index] }),
    };
  },
  parts(glass, text) {
    const values = table({
      title: "row_values",
      named: (state, /** @type {Run} */ b) => ({ name: tensorIn(b, state, rowIn(state)).name, layer: state.layer }),
      heading: "channel",
      needs: ["stage", "ends"],
      values: (/** @type {Run} */ run, state) => tensorIn(run, state, rowIn(state)).values ?? [], // none of ids
      name: (i, b) => nameIn(b, shownIn(glass), i),
    })(glass, text);
    const diagram = diagramOfChanges(glass, text, () => values.pointed?.() ?? null);
    return [diagram, { ...values, csv: undefined }]; // the diagram has them all
  },
};

export default { overview };
