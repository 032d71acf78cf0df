// What the output head reads off the stream after every layer, all tokens at once, and one place in detail: as the
// stream is (the logit lens), or carried by the mean effect of the layers that are left (the Jacobian lens).

import { onceFor } from "../../arrays.js";
import { labelsOf } from "../../characters.js";
import { count as asCount, h, percent, share } from "../../dom.js";
import { visible } from "../../draw.js";
import { chanceSaid } from "../../counts.js";
import { frame } from "../../frame.js";
import { glossed, glossOf } from "../../gloss.js";
import { momentAt, wordsOf } from "../../chosen-step.js";
import { createDepthMap } from "../../marks/depth.js";
import { noChoice } from "../../parts.js";
import { ownChoice } from "../../pointed.js";
import { inView, placeIn, widthOf } from "../../pointing.js";
import { choices } from "../../controls.js";
import { readHere, shownIn } from "../../run-for.js";
import { followedReader, lensReader, readLens } from "../../readings/lens.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { createChart, pointAt, rankTicks } from "./chart.js";
import { fitOf, isFitted } from "./lens-fit.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/lens.js").Lens} Lens
 *
 * @typedef {import("../../readings/lens.js").LensReading} LensReading
 */

const DARKEST = 4; // powers of ten below 1 that the colours of a probability span

/** @type {[number, string][]} */
const HALVES = [0, 0.5, 1].map((p) => [p, percent(p)]);

/**
 * What the colour of a cell says, by choice.
 *
 * @type {Record<
 *   "own" | "top",
 *   Omit<import("../../marks/scales.js").Scale, "table"> & {
 *     value: (lens: Lens, depth: number, token: number) => number;
 *   }
 * >}
 */
const COLOURS = {
  own: {
    value: (lens, depth, token) => lens.own(depth, token),
    place: (p) => 1 + Math.max(-DARKEST, Math.log10(p)) / DARKEST,
    ticks: Array.from({ length: DARKEST + 1 }, (_, i) => [
      i / DARKEST,
      `${i === 0 ? "≤ " : ""}${percent(10 ** (i - DARKEST))}`,
    ]),
  },
  top: {
    value: (lens, depth, token) => lens.best(depth, token)[0]?.probability ?? NaN,
    place: (x) => x,
    ticks: HALVES,
  },
};

/**
 * @param {Pick<Glass, "text">} glass
 * @param {number} depth
 */
const depthName = (glass, depth) =>
  depth === 0 ? glass.text("lens.embedding") : glass.text("lens.layer", { layer: depth - 1 });

/** Whether the embedding is selected or under the pointer: it has no layer in the store. */
const embedding = ownChoice(false);
/**
 * The depth that is selected: 0 the embedding.
 *
 * @param {{ layer: number }} at
 */
const depthOf = ({ layer }) => (embedding.now() && layer === 0 ? 0 : layer + 1);
/** @type {(by: number) => import("../../pointing.js").Move} */
const step =
  (by) =>
  ({ layer, trace }) => {
    const next = Math.max(0, Math.min(trace.model.n_layers, depthOf({ layer }) + by));
    embedding.keep(next === 0);
    embedding.hover(null);
    return { layer: Math.max(0, next - 1) };
  };

/**
 * Whether the Jacobian lens is chosen.
 *
 * @param {Pick<Glass, "settings">} glass
 */
const wantsJacobian = (glass) => glass.settings.get("lens").kind === "jacobian";

/**
 * What the panel's reader is asked about: the logit lens until the other is fitted.
 *
 * @param {Glass} glass
 * @returns {import("../../readings/lens.js").LensSelection}
 */
function select(glass) {
  const { trace, layer, query } = shownIn(glass);
  const fit = fitOf(glass);
  if (wantsJacobian(glass)) fit.follow(trace.model.name);
  return {
    depth: depthOf({ layer }),
    token: query,
    follow: glass.settings.get("lens").follow === "text",
    jacobian: wantsJacobian(glass) && isFitted(fit),
  };
}

/**
 * Every depth and token in the colour that is chosen; of two runs the probability of the token that is followed.
 *
 * @typedef {import("../../readings/reading.js").Run} LensRun with the answer "lens"
 * @param {Glass} glass
 * @param {string} label the key of its name
 * @param {() => "own" | "top"} colour
 */
const lensMap = (glass, label, colour) =>
  createDepthMap(glass, {
    label,
    values(/** @type {LensRun} */ { details }) {
      const [lens, { value }] = [readLens(details.lens), COLOURS[colour()]];
      return Float64Array.from({ length: lens.depths * lens.tokens }, (_, i) =>
        value(lens, Math.floor(i / lens.tokens), i % lens.tokens),
      );
    },
    scale: () => ({ table: "magnitude", ...COLOURS[colour()], name: glass.text(`lens.scale_${colour()}`) }),
    change: () => glass.text("b_minus_a.p_followed"),
    name: (depth) => depthName(glass, depth),
    short: (depth) => (depth === 0 ? depthName(glass, depth) : glass.text("why.layer", { layer: depth - 1 })),
    word(/** @type {LensRun} */ { details }) {
      const lens = readLens(details.lens);
      return (depth, token) => (lens.here(depth) ? lens.piece(lens.best(depth, token)[0].id) : "");
    },
    at: (state) => ({ row: depthOf(state) }),
    pick: ({ row, token }) => ({ layer: Math.max(0, row - 1), query: token }),
    keep: ({ row }) => embedding.keep(row === 0),
    hover: (place) => embedding.hover(place && place.row === 0),
    moves: { ArrowUp: step(1), ArrowDown: step(-1) },
  });

const IN_KEY = 24; // words that the key under the map explains

/** What stands in the map's cells and is not plain to every reader: the meanings of words, and the signs. */
const keyOf = onceFor(
  (
    /** @type {Parameters<typeof readLens>[0]} */ answer,
    /** @type {ReturnType<typeof glossOf>} */ gloss,
    /** @type {Glass} */ glass,
  ) => {
    const lens = readLens(answer);
    const ids = new Set();
    for (let depth = lens.first; depth < lens.depths; depth++)
      for (let token = 0; token < lens.tokens; token++) ids.add(lens.best(depth, token)[0].id);
    const ends = shownIn(glass).trace.model.eos_ids;
    const pieces = [...ids].map((id) => ({ id, piece: lens.piece(id) }));
    const words = pieces.filter(({ piece }) => gloss(piece)).map(({ piece }) => piece + gloss(piece));
    const signs = [
      ...pieces.filter(({ id }) => ends.includes(id)).map(({ piece }) => glass.text("lens.key_end", { piece })),
      ...(pieces.some(({ piece }) => piece.includes("⏎")) ? [glass.text("lens.key_line")] : []),
    ];
    return [...signs, ...words.slice(0, IN_KEY), ...(words.length > IN_KEY ? ["…"] : [])].join(" · ");
  },
);

/**
 * What the panel is set with.
 *
 * @param {Glass} glass
 */
const settingsOf = (glass) => ({
  kind: choices(glass, "lens", "kind", ["logit", "jacobian"]),
  follow: choices(glass, "lens", "follow", ["choice", "text"]),
  colour: choices(glass, "lens", "colour", /** @type {("own" | "top")[]} */ (["own", "top"])),
});

/** @param {Glass} glass */
function followedControls(glass) {
  const { kind, follow } = settingsOf(glass);
  return { elements: [kind.element, follow.element], show: () => [kind, follow].forEach((one) => one.show()) };
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["resid_out", "logits"],
  difference: {
    reader: followedReader,
    // Both runs are asked about B's tokens, so that one token's numbers are subtracted.
    select: (glass) => ({ ...select(glass), other: glass.sides()?.B.id ?? null }),
    controls: followedControls,
    without: "b_minus_a.without_colour",
    of: ({ text, glass, state, named }) => text("of_place", { part: depthName(glass, depthOf(state)), ...named }),
    parts: [
      { draw: "map", create: (...to) => lensMap(...to, () => "own"), called: "p_followed" },
      {
        draw: "table",
        rows: "depths",
        column: "p",
        title: "p_by_depth",
        heading: "place",
        name: ({ index, glass }) => depthName(glass, index),
        free: ["depth"],
        pick: (depth) => ({ layer: Math.max(0, depth - 1) }),
        most: 16,
      },
    ],
  },
  absent: noChoice,
};

/**
 * The lines of the table: the most probable tokens, and the one that is followed where it is not among them.
 *
 * @param {Glass} glass
 * @param {LensReading} reading
 * @param {number | undefined} written the id of the token that was written there
 */
function bestLines(glass, { lens, best, followed }, written) {
  const gloss = glossOf(glass);
  /** @type {(rank: number, id: number, probability: number) => unknown} */
  const line = (rank, id, probability) => html`
    <tr class=${id === followed.id ? "is-chosen" : ""}>
      <th class="gp-token" scope="row">
        ${glossed(`${rank}${id === written ? " ✓" : ""}  ${lens.piece(id)}`, gloss(lens.piece(id)))}
      </th>
      <td class="gp-track"><span class="gp-bar" style=${`width: ${100 * probability}%`}></span></td>
      <td class="gp-number" title=${share(probability)}>${chanceSaid(glass.text, probability)}</td>
    </tr>
  `;
  const apart = best.length > 0 && !best.some(({ id }) => id === followed.id);
  return [
    ...best.map(({ id, probability }, i) => line(i + 1, id, probability)),
    ...(apart ? [line(followed.rank, followed.id, followed.p)] : []),
  ];
}

/**
 * The most probable tokens at one place.
 *
 * @param {Glass} glass
 * @param {LensReading | null} reading null before it has come
 * @param {number | undefined} written as in `bestLines`
 */
function bestTable(glass, reading, written) {
  return html`
    <table class="gp-table ch-best">
      <thead>
        <tr>
          <th class="is-left" scope="col" .textContent=${glass.text("lens.token")}></th>
          <th scope="col" colspan="2" .textContent=${glass.text("lens.probability")}></th>
        </tr>
      </thead>
      <tbody>
        ${reading ? bestLines(glass, reading, written) : nothing}
      </tbody>
    </table>
  `;
}

/**
 * What is said of the Jacobian lens while it is chosen: what its mean is over, or how far it is, with a button.
 *
 * @param {Say} text the panel's own
 * @param {number} layers
 * @param {import("./lens-fit.js").Fit} fit
 */
function fitView(text, layers, fit) {
  const { now, running, trouble } = fit;
  if (!now) return html`<p class="gp-note" role="status" .textContent=${trouble ? text("fit_refused") : ""}></p>`;
  const { done, tokens, first, own_texts: own } = now;
  if (isFitted(fit)) {
    const texts = text(own ? "texts_own" : "texts_any");
    const late = first ? ` ${text("fit_late", { layer: first - 1, count: layers - first })}` : "";
    return html`<p class="gp-note" .textContent=${text("fitted", { tokens, texts }) + late}></p>`;
  }
  if (!tokens) return html`<p class="gp-note" .textContent=${text("fit_too_large")}></p>`;
  const said = trouble ? text("fit_refused") : text(running ? "fit_running" : "fit_ready", { done, tokens });
  const act = () => (running ? fit.stop() : fit.start());
  return html`
    <p class="gp-note" role="status">
      <button class="gp-option" @click=${act}>${text(running ? "fit_stop" : "fit_start")}</button> ${said}
      ${running || done ? html`<progress max=${tokens} .value=${done}></progress>` : nothing}
    </p>
  `;
}

/**
 * The curves of one token's followed token through all depths: its probability, and its rank.
 *
 * @param {Glass} glass
 * @param {Say} text the panel's own
 */
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
  /** @param {LensReading} reading */
  function draw({ lens, selection: { depth }, followed, way }) {
    count = way.length;
    const vocabulary = shownIn(glass).trace.model.vocab_size;
    const name = lens.piece(followed.id);
    const piece = name + glossOf(glass)(name);
    const common = {
      axis: text("depth"),
      hue: "output",
      selected: depth,
      labels: (/** @type {number} */ i) => (i === 0 ? text("embedding") : String(i - 1)),
    };
    drawOwn(width(), {
      ...common,
      values: way.map(({ p }) => p),
      title: text("curve_own", { piece }),
      ticks: HALVES,
      y: (p) => p,
    });
    drawRank(width(), {
      ...common,
      values: way.map(({ rank }) => rank),
      title: text("curve_rank", { piece, vocabulary: asCount(vocabulary) }),
      ticks: rankTicks(vocabulary).map((rank) => [rank, asCount(rank)]),
      y: (rank) => 1 - Math.log(rank) / Math.log(vocabulary),
    });
  }
  return { elements: [room, h("div", null, charts.rank)], width, onDepth, draw };
}

/**
 * What is read at a place, in words.
 *
 * @param {Glass} glass
 * @param {Say} text the panel's own
 * @param {LensReading} reading
 */
function wordsAt(glass, text, { lens, selection: { depth, token }, here, best, followed }) {
  const params = { at: depthName(glass, depth), piece: visible(labelsOf(shownIn(glass).trace.tokens.pieces)[token]) };
  if (!here) return text("unfitted", { ...params, layer: lens.first - 1 });
  const gloss = glossOf(glass);
  const [top, target] = [best[0].id, followed.id].map(lens.piece).map((piece) => piece + gloss(piece));
  const numbers = { p: percent(best[0].probability, 3), rank: followed.rank, own: percent(followed.p, 3) };
  return text("read", { ...params, top, target, ...numbers });
}

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function lensPanel(element, glass) {
  const state = shownIn(glass);
  const fit = fitOf(glass);
  const panel = frame(element, glass, "lens", { parts: ["what", "formula", "myth"] });
  const set = settingsOf(glass);
  const map = lensMap(glass, "lens.map", set.colour.now);
  map.element.dataset.part = "map";
  const curves = createCurves(glass, panel.text);

  /** @param {LensReading | null} reading null before it has come */
  function view(reading) {
    const { trace } = state;
    const moment = reading && momentAt(trace, reading.selection.token);
    const place = reading && {
      at: depthName(glass, reading.selection.depth),
      piece: visible(labelsOf(trace.tokens.pieces)[reading.selection.token]),
    };
    const title =
      place && moment ? `${panel.text("place", place)} · ${wordsOf({ state, text: glass.text }, moment, "short")}` : "";
    const key = reading?.answer && map.written() ? keyOf(reading.answer, glossOf(glass), glass) : "";
    const about = trace && wantsJacobian(glass) ? fitView(panel.text, trace.model.n_layers, fit) : nothing;
    return html`
      <div class="gp-options">${set.kind.element} ${set.follow.element} ${set.colour.element}</div>
      ${about} ${map.element}
      <p class="gp-note" data-part="key" dir="auto" .textContent=${key}></p>
      <h3 class="gp-subtitle" .textContent=${title}></h3>
      <div class="gp-columns">${bestTable(glass, reading, moment?.token?.id)} ${curves.elements}</div>
    `;
  }
  render(view(null), panel.body);
  const wide = widthOf(map.element, glass);
  curves.onDepth((depth) => {
    embedding.keep(depth === 0);
    glass.select({ layer: Math.max(0, depth - 1) });
  });
  glass.on("select", () => {
    if (state.layer !== 0) embedding.keep(false);
  });

  return inView(element, function draw(fresh) {
    if (fresh) embedding.hover(null);
    const reading = readHere(glass, lensReader, select(glass));
    const answer = reading?.answer;
    element.toggleAttribute("data-loading", !answer);
    const widths = [wide(), curves.width()];
    if (!reading || widths.includes(0)) return undefined;
    if (answer) map.draw([{ trace: state.trace, details: { lens: answer } }], widths[0], fresh);
    curves.draw(reading);
    return () => {
      for (const { show } of Object.values(set)) show();
      panel.title.textContent = panel.text("title", { layers: state.trace.model.n_layers });
      map.element.style.visibility = answer ? "" : "hidden"; // that of another run is not shown, and keeps its room
      render(view(reading), panel.body);
      panel.show(reading, wordsAt(glass, panel.text, reading));
    };
  });
}
