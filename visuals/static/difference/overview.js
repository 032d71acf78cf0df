// What the diagram of the loaded model reads from a run, and the diagram for B − A: each tensor's change in its place.

import { largest, poolColumns, subtract } from "../arrays.js";
import { h, shown } from "../dom.js";
import { nameParts, nameTensors } from "../panels/overview/labels.js";
import { chosenIndex, createView, rowIn } from "../panels/overview/overview.js";
import { rowsOf as rowsIn, tensorOf } from "../panels/overview/rows.js";
import { norm } from "../readings/cell.js";
import { memo } from "../reads.js";
import { rowsOf } from "./saved.js";
import { atToken } from "./selection.js";
import { mostChanged, number, table } from "./table.js";

const keysOf = ({ trace }) => rowsIn(trace.model).map(({ key }) => key);

/**
 * A row's tensor in one run, at the selected token.
 *
 * @param {{ trace: object; details: { stream: object; stage?: object; ends?: object } }} run
 */
const tensorIn = ({ trace, details: { stream, stage, ends } }, { layer, query }, key) =>
  tensorOf(key, { trace, layer, token: query, stream, stage, ends });

/** B − A of a row's values; null where it has none, or they are not here yet. */
function changeOf(a, b, state, key) {
  const [first, second] = [a, b].map((run) => tensorIn(run, state, key).values);
  return first && second ? subtract(second, first) : null;
}

/** Rows whose strip holds the highest values alone: of them the largest is told, of all others the length. */
const isScores = (key) => key === "head" || key === "softmax";

/** How large a row's tensor is in one run: a vector's length, the largest logit or probability. */
function sizeOf({ trace, details: { stream } }, { layer, query }, key) {
  if (key === "head") return stream.best.logit.data[query];
  if (key === "softmax") return stream.best.probability.data[query];
  return tensorIn({ trace, details: { stream } }, { layer, query }, key).norm;
}

/**
 * The diagram with B − A of every tensor, and its player.
 *
 * @param {Function} text of the section "b_minus_a"
 * @param {() => number | null} pointed the value that a table shows
 * @returns {import("./face.js").Part}
 */
function diagramOfChanges(glass, text, pointed) {
  const { state } = glass;
  const { player, diagram, room } = createView(glass);
  const say = (name, params) => glass.text(`overview.${name}`, params);
  const element = h("div", null, player.element, room);
  let same = false;

  /** The number beside a row's strip: the length of the change, which is not the change of the length. */
  function sizeText(a, b, key, change) {
    if (key === "ids") {
      const [first, second] = [a, b].map(({ trace }) => trace.tokens.ids[state.query]);
      return first === second ? say("id", { id: second }) : `${first} → ${second}`;
    }
    if (!isScores(key)) return change ? text("apart_length", { value: number(norm(change), 4) }) : "…";
    const [first, second] = [a, b].map((run) => number(sizeOf(run, state, key), 3));
    return text("largest_of_both", { a: first, b: second });
  }

  const build = memo((width, model) => diagram.build(width, model));
  const fill = memo((a, b) => {
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

  let both = [];
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
  return { element, draw, same: () => same, csv: () => diagramRows(...both, state), called: "diagram" };
}

/**
 * Every row's size, the length of its change, and its values.
 *
 * @returns {import("./saved.js").Rows}
 */
function diagramRows(a, b, state) {
  const heads = ["row", "tensor", "name", "index"];
  const [names] = rowsOf(heads, () => [], [], []);
  const sizes = (key, tensor) => {
    if (key === "ids")
      return [[key, tensor, "id", "", ...[a, b].map(({ trace }) => trace.tokens.ids[state.query]), ""]];
    const [first, second] = [a, b].map((run) => sizeOf(run, state, key));
    const change = isScores(key) ? null : changeOf(a, b, state, key);
    const told = [[key, tensor, isScores(key) ? "largest" : "length", "", first, second, second - first]];
    return change ? [...told, [key, tensor, "length_of_change", "", "", "", norm(change)]] : told;
  };
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
 */
function indexIn(a, b, state, pointed) {
  const change = changeOf(a, b, state, rowIn(state));
  return change && Math.min(pointed ?? chosenIndex() ?? mostChanged(change), change.length - 1);
}
/** How the row's value number i is called: a channel, or the id of a token. */
const nameIn = (run, state, i) => String(tensorIn(run, state, rowIn(state)).ids?.[i] ?? i);

const overview = {
  details: () => ({ stream: ["stream", {}] }),
  later: ({ state: { layer, query: token } }, { B }) => ({
    stage: ["stage", { layer, token }],
    ends: ["ends", { token, other: B.id }],
  }),
  named: ({ state: { trace } }) => ({ name: trace.model.name }),
  choose(state, a, b, pointed) {
    const index = indexIn(a, b, state, pointed);
    return { index, where: index === null ? "" : ` channel ${nameIn(b, state, index)}` };
  },
  at: (state, _glass, { where }) => `${rowIn(state)} ${atToken(state)}${where}`,
  of({ text, chosen: { index }, b, state }) {
    const { name } = tensorIn(b, state, rowIn(state));
    return index === null ? name : text("of_value", { name, channel: nameIn(b, state, index) });
  },
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
      ...(index === null ? {} : { value: values[index] }),
    };
  },
  parts(glass, text) {
    const values = table({
      title: "row_values",
      named: (state, b) => ({ name: tensorIn(b, state, rowIn(state)).name, layer: state.layer }),
      heading: "channel",
      needs: ["stage", "ends"],
      values: (run, state) => tensorIn(run, state, rowIn(state)).values ?? [], // the row of ids has none
      name: (i, b) => nameIn(b, glass.state, i),
    })(glass, text);
    return [diagramOfChanges(glass, text, values.pointed), { ...values, csv: undefined }]; // the diagram has them all
  },
};

export default { overview };
