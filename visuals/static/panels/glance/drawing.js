// A circuit drawn: columns are tokens, rows are layers, nodes are buttons, and edges lie between them.

import { h, shown, signed, svg } from "../../dom.js";
import { widthOf } from "../../pointing.js";
import { part } from "../../reads.js";
import { still } from "../../still.js";
import { word } from "./words.js";

const LEAST = 0.01; // the smallest effect that is drawn
const keyOf = ({ kind, layer, head, token }) => `${kind} ${layer} ${head} ${token}`;

/** The columns: tokens that hold a node, those that differ, and the last. @returns {number[]} */
export function columnsOf({ nodes, differ, other_pieces: pieces }) {
  return [...new Set([...nodes.map(({ token }) => token), ...differ, pieces.length - 1])].sort((a, b) => a - b);
}

/**
 * The rows from the top: layers that hold a node, and between them the stretches of layers that hold none.
 * @param {number} count of all layers @returns {{ from: number, to: number, empty: boolean }[]}
 */
export function rowsOf({ nodes }, count) {
  const rows = [];
  for (let layer = count - 1; layer >= 0; layer -= 1) {
    const empty = !nodes.some((node) => node.layer === layer);
    const last = rows.at(-1);
    if (empty && last?.empty) last.from = layer;
    else rows.push({ from: layer, to: layer, empty });
  }
  return rows;
}

/** @param {object} glass */
export function createDrawing(glass) {
  const text = (name, params) => glass.text(`why.${name}`, params);
  const lines = svg("svg.wy-edges", { "aria-hidden": "true" });
  const grid = h("div.wy-grid");
  const room = h("div.wy-room", { tabindex: "0", role: "group", "data-text-label": "why.drawing" }, grid);
  const read = h("p.gp-note.wy-read");
  const element = h("div", null, room, read);
  still(read);
  let places = new Map(); // the element of each node

  /** A node as a button that selects its place and says what it is. */
  function nodeOf(node, most) {
    const { kind, layer, head, token, score } = node;
    const name = text(kind === "ffn" ? "node_ffn" : "node_head", { layer, head, piece: word(glass.state.trace.tokens.pieces[token]) });
    const button = h(`button.wy-node.is-${kind}`, { "aria-label": name, style: `--part: ${Math.round(100 * Math.sqrt(Math.abs(score) / most))}%` }, kind === "ffn" ? "F" : String(head));
    const tell = () => { read.textContent = `${name}: ${text("node_score", { score: signed(score, 3) })}`; };
    button.addEventListener("click", () => { tell(); glass.select({ layer, query: token, ...(kind === "head" && { head }) }); });
    button.addEventListener("pointerenter", tell);
    button.addEventListener("focus", tell);
    places.set(keyOf(node), button);
    return button;
  }

  const build = part((circuit, pieces, _language) => {
    const { nodes, differ, other_pieces: theirs, answer, other } = circuit;
    const columns = columnsOf(circuit);
    const most = Math.max(...nodes.map(({ score }) => Math.abs(score))) || 1;
    const layers = rowsOf(circuit, glass.state.trace.model.n_layers);
    places = new Map();
    const cell = (layer, token) => {
      const here = nodes.filter((node) => node.layer === layer && node.token === token).sort((a, b) => (a.head ?? -1) - (b.head ?? -1));
      const of = (kind) => h("span.wy-nodes", null, ...here.filter((node) => node.kind === kind).map((node) => nodeOf(node, most)));
      return h("div.wy-cell", null, of("ffn"), of("head"));
    };
    const last = pieces.length - 1;
    const across = `grid-column: 2 / span ${columns.length}`;
    const goal = h("span.wy-goal", null, text("goal", { answer: word(answer.piece), other: word(other.piece) }));
    places.set(`logits ${glass.state.trace.model.n_layers} null ${last}`, goal);
    const token = (t) => {
      const name = h("span.wy-token", { dir: "auto" }, h("b", null, word(pieces[t])), ...(differ.includes(t) ? [h("i", null, word(theirs[t]))] : []));
      places.set(`embedding -1 null ${t}`, name);
      return name;
    };
    grid.style.gridTemplateColumns = `auto repeat(${columns.length}, minmax(48px, 220px))`;
    grid.replaceChildren(
      lines,
      h("span.wy-layer"), h("div.wy-top", { style: across }, goal),
      ...layers.flatMap(({ from, to, empty }) => {
        const name = h("span.wy-layer", null, text(from === to ? "layer" : "layers", { layer: from, from, to }));
        return empty ? [name, h("span.wy-none", { style: across }, text("no_part", { count: nodes.length }))] : [name, ...columns.map((t) => cell(to, t))];
      }),
      h("span.wy-layer"), ...columns.map(token),
    );
    read.textContent = text("drawing_means");
  });

  /** Lines between the elements, as thick as their effect; they lie where the browser has laid these out. */
  function connect(known) {
    const box = grid.getBoundingClientRect();
    const drawn = (known?.edges ?? []).filter(({ effect }) => Math.abs(effect) >= LEAST);
    const at = (node, end) => {
      const of = places.get(keyOf(node))?.getBoundingClientRect();
      return of && [of.left + of.width / 2 - box.left, (end ? of.top : of.bottom) - box.top];
    };
    lines.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    lines.replaceChildren(...drawn.flatMap(({ from, to, effect }) => {
      const [start, goal] = [at(from, true), at(to, false)];
      if (!start || !goal) return [];
      const bend = (start[1] - goal[1]) / 2;
      const path = `M${start} C${start[0]} ${start[1] - bend} ${goal[0]} ${goal[1] + bend} ${goal}`;
      return [svg(`path.${effect > 0 ? "is-for" : "is-against"}`, { d: path, "stroke-width": String(Math.min(10, 1 + 12 * Math.abs(effect))) })];
    }));
    if (known) read.textContent = text("edges_shown", { drawn: drawn.length, total: known.edges.length, least: shown(100 * LEAST, 1) });
  }
  const wide = widthOf(room, glass);
  const link = part((known, _width) => connect(known));

  return {
    element,
    draw(circuit, known) {
      build(circuit, glass.state.trace.tokens.pieces, glass.state.language);
      link(known && known.edges.length ? known : null, wide());
      return undefined;
    },
  };
}
