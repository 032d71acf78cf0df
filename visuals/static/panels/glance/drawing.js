// A circuit drawn: columns are tokens, rows are layers, nodes are buttons, and edges lie between them.

import { labelsOf } from "../../characters.js";
import { h, shown, svg } from "../../dom.js";
import { widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { still } from "../../pointer-rest.js";
import { shownIn } from "../../run-for.js";
import { roleOf } from "./circuit-says.js";
import { columnsOf, rowsOf } from "./circuit-grid.js";
import { leadTo, readBy, selecting, word } from "./words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/circuit.js").Stack} Stack
 *
 * @typedef {import("../../readings/circuit.js").Circuit} Circuit
 *
 * @typedef {import("../../readings/circuit.js").CircuitReading} CircuitReading
 *
 * @typedef {Circuit["nodes"][number]} Node
 *
 * @typedef {Map<string, Element>} Places the element of each node, by its key
 *
 * @typedef {{
 *   most: number;
 *   count: number;
 *   say: (words: string) => void;
 *   places: Places;
 *   goal: HTMLElement;
 *   circuit: Circuit;
 * }} About
 *   `most`: the largest score of its nodes, `count` how many there are; `goal`: what stands over the stack that
 *   answers
 */

const LEAST = 0.01; // the smallest effect that is drawn
/**
 * @param {Omit<import("../../messages.d.ts").CircuitNode, "stack"> & { stack?: Stack["stack"] }} node
 * @returns {string}
 */
const keyOf = ({ kind, layer, head, token, stack = null }) => `${stack} ${kind} ${layer} ${head} ${token}`;
/** What words.js calls heads that look at a source. @type {Record<string, import("./words.js").PartKind>} */
const PARTS = { cross: "cross", head_encoder: "encoder_head" };
/** What is written on a node. @param {Pick<Node, "kind" | "head">} node */
const markOf = ({ kind, head }) => (kind === "ffn" ? "F" : `${kind === "cross" ? "×" : ""}${head}`);

/**
 * A token's word; the decoder's first is that which every text begins with.
 *
 * @param {Stack} part
 * @param {number} t
 * @param {Say} text glass.text
 */
const called = ({ stack, pieces }, t, text) =>
  stack === "decoder" && t === 0 ? text("why.from_start") : word(labelsOf(pieces)[t]);

/**
 * A node as a button that selects its place and says what it is; to an encoder's the page leads, as nothing is
 * chosen there.
 *
 * @param {Glass} glass
 * @param {Node} node
 * @param {string} piece its token's word
 * @param {About} about
 */
function nodeOf(glass, node, piece, { most, say, circuit }) {
  const { kind, layer, head, token, score, stack } = node;
  const form = stack === "encoder" ? "_encoder" : "";
  const name = glass.text(`why.node_${kind}${form}`, { layer, head, piece });
  /** @type {Say} */
  const text = (key, params) => glass.text(`why.${key}`, params);
  const role = roleOf(node, circuit, readBy(shownIn(glass).trace, PARTS[`${kind}${form}`] ?? "head"), text);
  const said = name + glass.text("marks.colon") + role;
  const button = h(
    `button.wy-node.is-${kind}${score < 0 ? ".is-against" : ""}`,
    { "aria-label": said, style: `--part: ${Math.round(100 * Math.sqrt(Math.abs(score) / most))}%` },
    markOf(node),
  );
  const tell = () => say(said);
  const place = { layer, query: token, ...(head !== null && { head }) };
  const [chapter, panel] = kind === "ffn" ? ["ffn", "ffn-token"] : ["attend", "attention"];
  const act = form
    ? { click: () => leadTo(glass, chapter, panel, () => glass.readStack("encoder", place)) }
    : selecting(glass, place);
  for (const event of ["click", "pointerenter", "focus"]) button.addEventListener(event, tell);
  for (const [event, done] of Object.entries(act)) button.addEventListener(event, done);
  return button;
}

/**
 * The nodes of one layer at one token: FFN, heads that look at a source, heads.
 *
 * @param {Node[]} nodes of the stack
 * @param {{ layer: number; token: number }} place
 * @param {(node: Node) => HTMLElement} draw
 */
function cellOf(nodes, { layer, token }, draw) {
  const here = nodes
    .filter((node) => node.layer === layer && node.token === token)
    .sort((a, b) => (a.head ?? -1) - (b.head ?? -1));
  const of = (/** @type {Node["kind"]} */ kind) =>
    h("span.wy-nodes", null, ...here.filter((node) => node.kind === kind).map(draw));
  return h("div.wy-cell", null, of("ffn"), of("cross"), of("head"));
}

/**
 * A stack's layers above the tokens of its text.
 *
 * @param {Glass} glass
 * @param {Stack} part
 * @param {About} about
 * @returns {HTMLElement[]}
 */
function gridOf(glass, part, about) {
  const { stack, nodes, differ, theirs } = part;
  const { count, places, goal } = about;
  /** @type {Say} */
  const text = (name, params) => glass.text(`why.${name}`, params);
  const columns = columnsOf(part);
  const draw = (/** @type {Node} */ node) => {
    const button = nodeOf(glass, node, called(part, node.token, glass.text), about);
    places.set(keyOf(node), button);
    return button;
  };
  const across = `grid-column: 2 / span ${Math.max(1, columns.length)}`;
  const tokenAt = (/** @type {number} */ t) => {
    const other = differ.includes(t) ? [h("i", null, word(labelsOf(theirs)[t]))] : [];
    const name = h("span.wy-token", { dir: "auto" }, h("b", null, called(part, t, glass.text)), ...other);
    places.set(keyOf({ kind: "embedding", layer: -1, head: null, token: t, stack }), name);
    return name;
  };
  const rows = rowsOf(part, part.layers).flatMap(({ from, to, empty }) => {
    const name = h("span.wy-layer", null, text(from === to ? "layer" : "layers", { layer: from, from, to }));
    return empty
      ? [name, h("span.wy-none", { style: across }, h("span", null, text("no_part", { count })))]
      : [name, ...columns.map((token) => cellOf(nodes, { layer: to, token }, draw))];
  });
  const top = part.answers ? [h("span.wy-layer"), h("div.wy-top", { style: across }, goal)] : [];
  const style = `grid-template-columns: max-content repeat(${Math.max(1, columns.length)}, minmax(48px, 220px))`;
  return [
    ...(stack ? [h("h4.wy-stack", null, text(`stack_${stack}`))] : []),
    h("div.wy-grid", { style }, ...top, ...rows, h("span.wy-layer"), ...columns.map(tokenAt)),
  ];
}

/**
 * Lines between the elements, as thick as their effect; they lie where the browser has laid these out.
 *
 * @param {Places} places
 * @param {DOMRect} box in which the elements lie
 * @param {import("../../messages.d.ts").CircuitEdge[]} edges
 * @returns {SVGElement[]}
 */
function linesOf(places, box, edges) {
  /**
   * @param {import("../../messages.d.ts").CircuitNode} node
   * @param {boolean} above whether the line begins at the upper edge
   */
  const at = (node, above) => {
    const of = places.get(keyOf(node))?.getBoundingClientRect();
    return of && [of.left + of.width / 2 - box.left, (above ? of.top : of.bottom) - box.top];
  };
  return edges.flatMap(({ from, to, effect }) => {
    const [start, goal] = [at(from, true), at(to, false)];
    if (!start || !goal) return [];
    const bend = (start[1] - goal[1]) / 2;
    const path = `M${start} C${start[0]} ${start[1] - bend} ${goal[0]} ${goal[1] + bend} ${goal}`;
    const width = String(Math.min(10, 1 + 12 * Math.abs(effect)));
    return [svg(`path.${effect > 0 ? "is-for" : "is-against"}`, { d: path, "stroke-width": width })];
  });
}

/** @param {Glass} glass */
export function createDrawing(glass) {
  /** @type {Say} */
  const text = (name, params) => glass.text(`why.${name}`, params);
  const lines = svg("svg.wy-edges", { "aria-hidden": "true" });
  const grids = h("div.wy-grids");
  const room = h("div.wy-room", { tabindex: "0", role: "group", "data-text-label": "why.drawing" }, grids);
  const read = h("p.gp-note.wy-read");
  const element = h("div", null, room, read);
  still(read);
  const say = (/** @type {string} */ words) => {
    read.textContent = words;
  };
  /** @type {Places} */
  let places = new Map();

  /** @param {CircuitReading} reading */
  function build({ circuit, stacks, largest }) {
    const { nodes, answer, other } = circuit;
    places = new Map();
    const goal = h("span.wy-goal", null, text("goal", { answer: word(answer.piece), other: word(other.piece) }));
    const { stack, layers, pieces } = stacks[0];
    places.set(keyOf({ kind: "logits", layer: layers, head: null, token: pieces.length - 1, stack }), goal);
    const about = { most: largest || 1, count: nodes.length, say, places, goal, circuit };
    grids.replaceChildren(lines, ...stacks.flatMap((one) => gridOf(glass, one, about)));
    say(text(stack ? "drawing_means_two" : "drawing_means"));
  }

  /** @param {import("./circuit.js").Known | null} known */
  function connect(known) {
    const box = grids.getBoundingClientRect();
    const drawn = (known?.edges ?? []).filter(({ effect }) => Math.abs(effect) >= LEAST);
    lines.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    lines.replaceChildren(...linesOf(places, box, drawn));
    const least = shown(100 * LEAST, 1);
    if (known) say(text("edges_shown", { drawn: drawn.length, total: known.edges.length, least }));
  }
  const wide = widthOf(room, glass);
  const connectAnew = memo(connect);

  /** @param {import("./circuit.js").Known | null} known what is known of the edges between what was built */
  const draw = (known) => connectAnew(known && known.edges.length ? known : null, wide());
  return { element, build, draw };
}
