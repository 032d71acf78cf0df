// The logit lens: final norm and head applied after every layer, all tokens at once, and one place in detail.

import { once } from "../../arrays.js";
import { exact, h, share } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { momentAt, wordsOf } from "../../chosen-step.js";
import { createDepthMap } from "../../marks/depth.js";
import { noChoice } from "../../parts.js";
import { ownChoice } from "../../pointed.js";
import { inView, placeIn, widthOf } from "../../pointing.js";
import { choices } from "../../controls.js";
import { createChart, pointAt } from "./chart.js";

const DARKEST = 4; // powers of ten below 1 that the colours of a probability span

/**
 * Looks into the answer "lens".
 *
 * @returns ids, probabilities, rank and pieces by depth (0: the embedding) and token
 */
const reader = once((/** @type {object} */ answer) => {
  const [depths, tokens, kept] = answer.ids.shape;
  const pieces = new Map(answer.names.ids.map((id, i) => [id, answer.names.pieces[i]]));
  const at = (depth, token) => depth * tokens + token;
  return {
    depths,
    tokens,
    piece: (id) => visible(pieces.get(id)),
    target: (token) => answer.targets.data[token],
    rank: (depth, token) => answer.rank.data[at(depth, token)],
    own: (depth, token) => answer.probability.data[at(depth, token)],
    best: (depth, token) =>
      Array.from({ length: kept }, (_, k) => {
        const i = at(depth, token) * kept + k;
        return { id: answer.ids.data[i], probability: answer.probabilities.data[i] };
      }),
  };
});

/**
 * What the colour of a cell says, by choice.
 *
 * @type {Record<
 *   "own" | "top",
 *   Omit<import("../../marks/scales.js").Scale, "table"> & {
 *     value: (lens: ReturnType<typeof reader>, depth: number, token: number) => number;
 *   }
 * >}
 */
const COLOURS = {
  own: {
    value: (lens, depth, token) => lens.own(depth, token),
    place: (p) => 1 + Math.max(-DARKEST, Math.log10(p)) / DARKEST,
    ticks: Array.from({ length: DARKEST + 1 }, (_, i) => [
      i / DARKEST,
      i === 0 ? `≤ ${10 ** -DARKEST}` : String(10 ** (i - DARKEST)),
    ]),
  },
  top: {
    value: (lens, depth, token) => lens.best(depth, token)[0].probability,
    place: (x) => x,
    ticks: [
      [0, "0"],
      [0.5, "0.5"],
      [1, "1"],
    ],
  },
};

/**
 * The ranks on the axis: powers of ten, and the last one there is; those that would touch it are left out.
 *
 * @returns {number[]}
 */
export function rankTicks(vocabulary) {
  const powers = Array.from({ length: Math.ceil(Math.log10(vocabulary)) }, (_, i) => 10 ** i);
  return [...powers.filter((power) => power < vocabulary / 2), vocabulary];
}

export const depthName = (glass, depth) =>
  depth === 0 ? glass.text("lens.embedding") : glass.text("lens.layer", { layer: depth - 1 });

/** Whether the embedding is selected or under the pointer: it has no layer in the store. */
const embedding = ownChoice(false);
/** The depth that is selected: 0 the embedding. */
export const depthOf = ({ layer }) => (embedding.now() && layer === 0 ? 0 : layer + 1);
const step =
  (by) =>
  ({ layer, trace }) => {
    const next = Math.max(0, Math.min(trace.model.n_layers, depthOf({ layer }) + by));
    embedding.keep(next === 0);
    embedding.hover(null);
    return { layer: Math.max(0, next - 1) };
  };

/**
 * Every depth and token in the colour that is chosen; of two runs the probability of the token that is followed.
 *
 * @param {string} label the key of its name
 * @param {() => "own" | "top"} colour
 */
export const lensMap = (glass, label, colour) =>
  createDepthMap(glass, {
    label,
    values({ details }) {
      const [lens, { value }] = [reader(details.lens), COLOURS[colour()]];
      return Float64Array.from({ length: lens.depths * lens.tokens }, (_, i) =>
        value(lens, Math.floor(i / lens.tokens), i % lens.tokens),
      );
    },
    scale: () => ({ table: "magnitude", ...COLOURS[colour()], name: glass.text(`lens.scale_${colour()}`) }),
    change: () => glass.text("b_minus_a.p_followed"),
    name: (depth) => depthName(glass, depth),
    word({ details }) {
      const lens = reader(details.lens);
      return (depth, token) => lens.piece(lens.best(depth, token)[0].id);
    },
    at: (state) => ({ row: depthOf(state) }),
    pick: ({ row, token }) => ({ layer: Math.max(0, row - 1), query: token }),
    keep: ({ row }) => embedding.keep(row === 0),
    hover: (place) => embedding.hover(place && place.row === 0),
    moves: { ArrowUp: step(1), ArrowDown: step(-1) },
  });

export const about = { tensors: ["resid_out", "logits"], difference: "depth", absent: noChoice };

/**
 * A row for each depth and token; the heads alone before the answer has come.
 *
 * @param {ReturnType<typeof reader> | null} lens
 * @param {string[]} pieces of the run
 * @returns {(string | number)[][]}
 */
function tableOf(lens, pieces) {
  const top = ["rank_1_id", "rank_1_piece", "rank_1_probability"];
  const followed = ["followed_id", "followed_rank", "followed_probability"];
  const rows = Array.from({ length: lens ? lens.depths * lens.tokens : 0 }, (_, i) => {
    const [depth, t] = [Math.floor(i / lens.tokens), i % lens.tokens];
    const [{ id, probability }] = lens.best(depth, t);
    const own = [lens.target(t), lens.rank(depth, t) + 1, lens.own(depth, t)];
    return [depth, t, pieces[t], id, lens.piece(id), probability, ...own];
  });
  return [["depth", "token", "piece", ...top, ...followed], ...rows];
}

/** The most probable tokens at one place, and the one that is followed where it is not among them. */
function createBest() {
  const list = h("tbody");
  const head = [
    h("th.is-left", { scope: "col", "data-text": "lens.token" }),
    h("th", { scope: "col", colspan: "2", "data-text": "lens.probability" }),
  ];
  const element = h("table.gp-table.ch-best", null, h("thead", null, h("tr", null, ...head)), list);

  function lineOf(rank, piece, probability, followed) {
    const bar = h("span.gp-bar", { style: `width: ${100 * probability}%` });
    const row = h(
      "tr",
      null,
      h("th.gp-token", { scope: "row" }, `${rank}  ${piece}`),
      h("td.gp-track", null, bar),
      h("td.gp-number", null, share(probability)),
    );
    row.classList.toggle("is-chosen", followed);
    return row;
  }
  /** @param {number | undefined} written the id of the token that was written there */
  function draw(lens, { row, token }, written) {
    const target = lens.target(token);
    const best = lens.best(row, token);
    const ticked = (rank, id) => `${rank}${id === written ? " ✓" : ""}`;
    const rows = best.map(({ id, probability }, i) =>
      lineOf(ticked(i + 1, id), lens.piece(id), probability, id === target),
    );
    if (!best.some(({ id }) => id === target)) {
      const rank = ticked(lens.rank(row, token) + 1, target);
      rows.push(lineOf(rank, lens.piece(target), lens.own(row, token), true));
    }
    list.replaceChildren(...rows);
  }
  return { element, draw };
}

/** The curves of one token's followed token through all depths: its probability, and its rank. */
function createCurves(glass, text) {
  const charts = { own: h("canvas.gp-canvas"), rank: h("canvas.gp-canvas") };
  const room = h("div", null, charts.own);
  const drawOwn = createChart(charts.own);
  const drawRank = createChart(charts.rank);
  const width = widthOf(room, glass);
  let count = 1;

  /** @param {(depth: number) => void} choose */
  function onDepth(choose) {
    for (const chart of Object.values(charts))
      chart.addEventListener("click", (event) => choose(pointAt(placeIn(event, chart).x, width(), count)));
  }
  function draw(lens, { row, token }) {
    count = lens.depths;
    const depths = Array.from({ length: count }, (_, i) => i);
    const vocabulary = glass.state.trace.model.vocab_size;
    const piece = lens.piece(lens.target(token));
    const common = {
      axis: text("depth"),
      hue: "output",
      selected: row,
      labels: (i) => (i === 0 ? text("embedding") : String(i - 1)),
    };
    drawOwn(width(), {
      ...common,
      values: depths.map((depth) => lens.own(depth, token)),
      title: text("curve_own", { piece }),
      ticks: [
        [0, "0.0"],
        [0.5, "0.5"],
        [1, "1.0"],
      ],
      y: (p) => p,
    });
    drawRank(width(), {
      ...common,
      values: depths.map((depth) => lens.rank(depth, token) + 1),
      title: text("curve_rank", { piece, vocabulary }),
      ticks: rankTicks(vocabulary).map((rank) => [rank, String(rank)]),
      y: (rank) => 1 - Math.log(rank) / Math.log(vocabulary),
    });
  }
  return { elements: [room, h("div", null, charts.rank)], width, onDepth, draw };
}

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function lensPanel(element, glass) {
  const { state } = glass;
  let lens = null;
  const panel = frame(element, glass, "lens", {
    csv: () => tableOf(lens, state.trace.tokens.pieces),
    parts: ["what", "formula", "myth"],
  });
  const follow = choices(glass, "lens", "follow", ["choice", "text"]);
  const colour = choices(glass, "lens", "colour", ["own", "top"]);
  const map = lensMap(glass, "lens.map", colour.now);
  map.element.dataset.part = "map";
  const subtitle = h("h3.gp-subtitle");
  const best = createBest();
  const curves = createCurves(glass, panel.text);
  panel.body.append(
    h("div.gp-options", null, follow.element, colour.element),
    map.element,
    subtitle,
    h("div.gp-columns", null, best.element, ...curves.elements),
  );
  const wide = widthOf(map.element, glass);
  curves.onDepth((depth) => {
    embedding.keep(depth === 0);
    glass.select({ layer: Math.max(0, depth - 1) });
  });
  glass.on("select", () => {
    if (state.layer !== 0) embedding.keep(false);
  });

  function tell({ row, token }) {
    const target = lens.target(token);
    const [top] = lens.best(row, token);
    const [rank, own] = [lens.rank(row, token) + 1, lens.own(row, token)];
    const at = row === 0 ? "embedding" : `layer ${row - 1}`;
    const params = {
      at: depthName(glass, row),
      piece: visible(state.trace.tokens.pieces[token]),
      top: lens.piece(top.id),
      p: share(top.probability),
      target: lens.piece(target),
      rank,
      own: share(own),
    };
    subtitle.textContent = `${panel.text("place", params)} · ${wordsOf(glass, momentAt(state.trace, token), "short")}`;
    const first = `top ${top.id} p=${exact(top.probability)}`;
    panel.tell(
      `${at} token ${token} ${first} target ${target} rank ${rank} p_target=${exact(own)}`,
      panel.text("read", params),
    );
  }

  let answer = null;
  return inView(element, function draw(fresh) {
    follow.show();
    const { trace, query } = state;
    const came = glass.detail("lens", { follow: follow.now() === "text" });
    element.toggleAttribute("data-loading", !came);
    const widths = [wide(), curves.width()];
    if (!came || widths.includes(0)) return;
    if (came !== answer) lens = reader((answer = came));
    if (fresh) embedding.hover(null);
    const selected = { row: depthOf(state), token: query };
    panel.title.textContent = panel.text("title", { layers: trace.model.n_layers });
    map.draw([{ trace, details: { lens: came } }], widths[0], fresh);
    best.draw(lens, selected, momentAt(trace, query).token?.id);
    curves.draw(lens, selected);
    tell(selected);
  });
}
