// A circuit drawn: columns are tokens, rows are layers, nodes are buttons, and edges lie between them.

import { h, shown, signed, svg } from "../../dom.js";
import { widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { still } from "../../pointer-rest.js";
import { leadTo, word } from "./words.js";

const LEAST = 0.01; // the smallest effect that is drawn
const keyOf = ({ kind, layer, head, token, stack = null }) => `${stack} ${kind} ${layer} ${head} ${token}`;

/**
 * What is drawn of a network's stacks, from the top: the decoder above the encoder whose source it looks at.
 *
 * @returns {{
 *   stack: "decoder" | "encoder" | null;
 *   nodes: object[];
 *   differ: number[];
 *   pieces: string[];
 *   theirs: string[];
 *   layers: number;
 *   answers: boolean;
 * }[]}
 *   `pieces` of the text that it reads, `theirs` of the other text, `differ` the tokens that are another there
 */
export function stacksOf({ nodes, differ, other_pieces: theirs, written }, { encoder, tokens: { pieces }, model }) {
  if (!encoder)
    return [
      {
        stack: null,
        nodes,
        differ,
        pieces: pieces.slice(0, theirs.length),
        theirs,
        layers: model.n_layers,
        answers: true,
      },
    ];
  const of = (stack) => ({ stack, nodes: nodes.filter((node) => node.stack === stack) });
  return [
    {
      ...of("decoder"),
      differ: [],
      pieces: pieces.slice(0, written),
      theirs: [],
      layers: model.n_layers,
      answers: true,
    },
    { ...of("encoder"), differ, pieces: encoder.tokens.pieces, theirs, layers: encoder.model.n_layers, answers: false },
  ];
}

/**
 * The columns: tokens that hold a node, those that differ, and where it answers the last.
 *
 * @returns {number[]}
 */
export function columnsOf({ nodes, differ, pieces, answers }) {
  return [...new Set([...nodes.map(({ token }) => token), ...differ, ...(answers ? [pieces.length - 1] : [])])].sort(
    (a, b) => a - b,
  );
}

/**
 * The rows from the top: layers that hold a node, and between them the stretches of layers that hold none.
 *
 * @param {{ nodes: object[] }} stack
 * @param {number} count of all layers
 * @returns {{ from: number; to: number; empty: boolean }[]}
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

const MARKS = { ffn: () => "F", head: String, cross: (head) => `×${head}` };

/** @param {import("../../types.d.ts").Glass} glass */
export function createDrawing(glass) {
  const text = (name, params) => glass.text(`why.${name}`, params);
  const lines = svg("svg.wy-edges", { "aria-hidden": "true" });
  const grids = h("div.wy-grids");
  const room = h("div.wy-room", { tabindex: "0", role: "group", "data-text-label": "why.drawing" }, grids);
  const read = h("p.gp-note.wy-read");
  const element = h("div", null, room, read);
  still(read);
  let places = new Map(); // the element of each node

  /** A token's word; the decoder's first is that which every text begins with. */
  const called = ({ stack, pieces }, t) => (stack === "decoder" && t === 0 ? text("from_start") : word(pieces[t]));

  /**
   * A node as a button that selects its place and says what it is; to an encoder's the page leads, as nothing is
   * chosen there.
   */
  function nodeOf(node, part, most) {
    const { kind, layer, head, token, score, stack } = node;
    const form = stack === "encoder" ? "_encoder" : "";
    const name = text(`node_${kind}${form}`, { layer, head, piece: called(part, token) });
    const button = h(
      `button.wy-node.is-${kind}`,
      { "aria-label": name, style: `--part: ${Math.round(100 * Math.sqrt(Math.abs(score) / most))}%` },
      MARKS[kind](head),
    );
    const tell = () => {
      read.textContent = `${name}: ${text("node_score", { score: signed(score, 3) })}`;
    };
    const place = { layer, query: token, ...(kind !== "ffn" && { head }) };
    const [chapter, panel] = kind === "ffn" ? ["ffn", "ffn-token"] : ["attend", "attention"];
    const look = () =>
      form ? leadTo(glass, chapter, panel, () => glass.readStack(stack, place)) : glass.select(place);
    button.addEventListener("click", () => {
      tell();
      look();
    });
    button.addEventListener("pointerenter", tell);
    button.addEventListener("focus", tell);
    places.set(keyOf(node), button);
    return button;
  }

  /** A stack's layers above the tokens of its text, in which `goal` stands where it answers. */
  function gridOf(part, most, count, goal) {
    const { stack, nodes, differ, theirs } = part;
    const columns = columnsOf(part);
    const cell = (layer, token) => {
      const here = nodes
        .filter((node) => node.layer === layer && node.token === token)
        .sort((a, b) => (a.head ?? -1) - (b.head ?? -1));
      const of = (...kinds) =>
        h(
          "span.wy-nodes",
          null,
          ...kinds.flatMap((kind) => here.filter((node) => node.kind === kind)).map((node) => nodeOf(node, part, most)),
        );
      return h("div.wy-cell", null, of("ffn"), of("cross"), of("head"));
    };
    const across = `grid-column: 2 / span ${Math.max(1, columns.length)}`;
    const token = (t) => {
      const name = h(
        "span.wy-token",
        { dir: "auto" },
        h("b", null, called(part, t)),
        ...(differ.includes(t) ? [h("i", null, word(theirs[t]))] : []),
      );
      places.set(keyOf({ kind: "embedding", layer: -1, head: null, token: t, stack }), name);
      return name;
    };
    const rows = rowsOf(part, part.layers).flatMap(({ from, to, empty }) => {
      const name = h("span.wy-layer", null, text(from === to ? "layer" : "layers", { layer: from, from, to }));
      return empty
        ? [name, h("span.wy-none", { style: across }, h("span", null, text("no_part", { count })))]
        : [name, ...columns.map((t) => cell(to, t))];
    });
    const top = goal ? [h("span.wy-layer"), h("div.wy-top", { style: across }, goal)] : [];
    const style = `grid-template-columns: max-content repeat(${Math.max(1, columns.length)}, minmax(48px, 220px))`;
    return [
      ...(stack ? [h("h4.wy-stack", null, text(`stack_${stack}`))] : []),
      h("div.wy-grid", { style }, ...top, ...rows, h("span.wy-layer"), ...columns.map(token)),
    ];
  }

  const build = memo((circuit, trace, _pieces, _language) => {
    const { nodes, answer, other } = circuit;
    const most = Math.max(...nodes.map(({ score }) => Math.abs(score))) || 1;
    places = new Map();
    const goal = h("span.wy-goal", null, text("goal", { answer: word(answer.piece), other: word(other.piece) }));
    const stacks = stacksOf(circuit, trace);
    const { stack, layers, pieces } = stacks[0];
    places.set(keyOf({ kind: "logits", layer: layers, head: null, token: pieces.length - 1, stack }), goal);
    grids.replaceChildren(lines, ...stacks.flatMap((one) => gridOf(one, most, nodes.length, one.answers && goal)));
    read.textContent = text(stack ? "drawing_means_two" : "drawing_means");
  });

  /** Lines between the elements, as thick as their effect; they lie where the browser has laid these out. */
  function connect(known) {
    const box = grids.getBoundingClientRect();
    const drawn = (known?.edges ?? []).filter(({ effect }) => Math.abs(effect) >= LEAST);
    const at = (node, end) => {
      const of = places.get(keyOf(node))?.getBoundingClientRect();
      return of && [of.left + of.width / 2 - box.left, (end ? of.top : of.bottom) - box.top];
    };
    lines.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    lines.replaceChildren(
      ...drawn.flatMap(({ from, to, effect }) => {
        const [start, goal] = [at(from, true), at(to, false)];
        if (!start || !goal) return [];
        const bend = (start[1] - goal[1]) / 2;
        const path = `M${start} C${start[0]} ${start[1] - bend} ${goal[0]} ${goal[1] + bend} ${goal}`;
        return [
          svg(`path.${effect > 0 ? "is-for" : "is-against"}`, {
            d: path,
            "stroke-width": String(Math.min(10, 1 + 12 * Math.abs(effect))),
          }),
        ];
      }),
    );
    if (known)
      read.textContent = text("edges_shown", {
        drawn: drawn.length,
        total: known.edges.length,
        least: shown(100 * LEAST, 1),
      });
  }
  const wide = widthOf(room, glass);
  const link = memo((known, _width) => connect(known));

  return {
    element,
    draw(circuit, known) {
      const { trace, language } = glass.state;
      build(circuit, trace, trace.tokens.pieces, language);
      link(known && known.edges.length ? known : null, wide());
      return undefined;
    },
  };
}
