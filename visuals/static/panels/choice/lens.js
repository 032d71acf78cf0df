// What the output head reads off the stream after every layer, all tokens at once, and one place in detail: as the
// stream is (the logit lens), or carried by the mean effect of the layers that are left (the Jacobian lens).

import { brief, exact, h, share } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { glossed, glossOf } from "../../gloss.js";
import { momentAt, wordsOf } from "../../chosen-step.js";
import { createDepthMap } from "../../marks/depth.js";
import { noChoice } from "../../parts.js";
import { ownChoice } from "../../pointed.js";
import { inView, placeIn, widthOf } from "../../pointing.js";
import { choices } from "../../controls.js";
import { shownIn } from "../../run-for.js";
import { lensTable, readLens, readOneToken } from "../../readings/lens.js";
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
 * @typedef {{ row: number; token: number }} Place
 */

/** What a file holds before all tokens are read. */
const NOTHING_YET = { logit: null, jacobian: null };
const DARKEST = 4; // powers of ten below 1 that the colours of a probability span

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
      i === 0 ? `≤ ${10 ** -DARKEST}` : String(10 ** (i - DARKEST)),
    ]),
  },
  top: {
    value: (lens, depth, token) => lens.best(depth, token)[0]?.probability ?? NaN,
    place: (x) => x,
    ticks: [
      [0, "0"],
      [0.5, "0.5"],
      [1, "1"],
    ],
  },
};

/**
 * @param {Pick<Glass, "text">} glass
 * @param {number} depth
 */
export const depthName = (glass, depth) =>
  depth === 0 ? glass.text("lens.embedding") : glass.text("lens.layer", { layer: depth - 1 });

/** Whether the embedding is selected or under the pointer: it has no layer in the store. */
const embedding = ownChoice(false);
/**
 * The depth that is selected: 0 the embedding.
 *
 * @param {{ layer: number }} at
 */
export const depthOf = ({ layer }) => (embedding.now() && layer === 0 ? 0 : layer + 1);
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
 * What the server is asked for the lens that is chosen: the logit lens until the other is fitted.
 *
 * @param {Glass} glass
 * @returns {{ follow: boolean; jacobian?: true }}
 */
export function lensAsked(glass) {
  const follow = glass.settings.get("lens").follow === "text";
  if (!wantsJacobian(glass)) return { follow };
  const fit = fitOf(glass);
  fit.follow(shownIn(glass).trace.model.name);
  return isFitted(fit) ? { follow, jacobian: true } : { follow };
}

/**
 * Every depth and token in the colour that is chosen; of two runs the probability of the token that is followed.
 *
 * @typedef {import("../../marks/runs.js").RunWith<{ lens: import("../../readings/lens.js").Answer }>} LensRun
 * @param {Glass} glass
 * @param {string} label the key of its name
 * @param {() => "own" | "top"} colour
 */
export const lensMap = (glass, label, colour) =>
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

/** @type {import("../../frame.js").About} */
export const about = { tensors: ["resid_out", "logits"], difference: "depth", absent: noChoice };

/**
 * The lines of the table: the most probable tokens, and the one that is followed where it is not among them.
 *
 * @param {Lens} lens
 * @param {Place} place
 * @param {number | undefined} written the id of the token that was written there
 * @param {import("../../gloss.js").Gloss} gloss
 */
function bestLines(lens, { row, token }, written, gloss) {
  const target = lens.target(token);
  /** @type {(rank: number, id: number, probability: number) => unknown} */
  const line = (rank, id, probability) => html`
    <tr class=${id === target ? "is-chosen" : ""}>
      <th class="gp-token" scope="row">
        ${glossed(`${rank}${id === written ? " ✓" : ""}  ${lens.piece(id)}`, gloss(lens.piece(id)))}
      </th>
      <td class="gp-track"><span class="gp-bar" style=${`width: ${100 * probability}%`}></span></td>
      <td class="gp-number" title=${share(probability)}>${brief(share(probability))}</td>
    </tr>
  `;
  const best = lens.best(row, token);
  const apart = best.length > 0 && !best.some(({ id }) => id === target);
  return [
    ...best.map(({ id, probability }, i) => line(i + 1, id, probability)),
    ...(apart ? [line(lens.rank(row, token) + 1, target, lens.own(row, token))] : []),
  ];
}

/**
 * The most probable tokens at one place.
 *
 * @param {Glass} glass
 * @param {Lens | null} lens null before it has come
 * @param {Place} place
 * @param {number | undefined} written as in `bestLines`
 */
function bestTable(glass, lens, place, written) {
  return html`
    <table class="gp-table ch-best">
      <thead>
        <tr>
          <th class="is-left" scope="col" .textContent=${glass.text("lens.token")}></th>
          <th scope="col" colspan="2" .textContent=${glass.text("lens.probability")}></th>
        </tr>
      </thead>
      <tbody>
        ${lens ? bestLines(lens, place, written, glossOf(glass)) : nothing}
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
  /**
   * @param {Lens} lens
   * @param {Place} place
   */
  function draw(lens, { row, token }) {
    count = lens.depths;
    const depths = Array.from({ length: count }, (_, i) => i);
    const vocabulary = shownIn(glass).trace.model.vocab_size;
    const followed = lens.piece(lens.target(token));
    const piece = followed + glossOf(glass)(followed);
    const common = {
      axis: text("depth"),
      hue: "output",
      selected: row,
      labels: (/** @type {number} */ i) => (i === 0 ? text("embedding") : String(i - 1)),
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
 * The value line of a place, and what is read out of it.
 *
 * @param {Glass} glass
 * @param {import("../../frame.js").Panel} panel
 * @param {Lens} lens
 * @param {Place} place
 */
function tellPlace(glass, panel, lens, { row, token }) {
  const at = row === 0 ? "embedding" : `layer ${row - 1}`;
  const params = { at: depthName(glass, row), piece: visible(shownIn(glass).trace.tokens.pieces[token]) };
  const target = lens.target(token);
  if (!lens.here(row)) {
    panel.tell(`${at} token ${token} unfitted`, panel.text("unfitted", { ...params, layer: lens.first - 1 }));
    return;
  }
  const [top] = lens.best(row, token);
  const [rank, own] = [lens.rank(row, token) + 1, lens.own(row, token)];
  const first = `top ${top.id} p=${exact(top.probability)}`;
  const [gloss, named] = [glossOf(glass), [top.id, target].map(lens.piece)];
  const [best, followed] = named.map((piece) => piece + gloss(piece));
  const words = { top: best, p: share(top.probability), target: followed, rank };
  panel.tell(
    `${at} token ${token} ${first} target ${target} rank ${rank} p_target=${exact(own)}`,
    panel.text("read", { ...params, ...words, own: share(own) }),
  );
}

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

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function lensPanel(element, glass) {
  const state = shownIn(glass);
  const fit = fitOf(glass);
  /** @type {Record<"logit" | "jacobian", Lens | null>} */
  const read = { logit: null, jacobian: null };
  const panel = frame(element, glass, "lens", {
    csv: () => lensTable(read.logit, read.jacobian, state.trace.tokens.pieces),
    parts: ["what", "formula", "myth"],
  });
  const set = settingsOf(glass);
  const map = lensMap(glass, "lens.map", set.colour.now);
  map.element.dataset.part = "map";
  const curves = createCurves(glass, panel.text);

  /** @param {Lens | null} lens null before it has come */
  function view(lens, selected = { row: 0, token: 0 }) {
    const { trace } = state;
    const moment = lens && momentAt(trace, selected.token);
    const place = moment && {
      at: depthName(glass, selected.row),
      piece: visible(trace.tokens.pieces[selected.token]),
    };
    const title = place
      ? `${panel.text("place", place)} · ${wordsOf({ state, text: glass.text }, moment, "short")}`
      : "";
    const about = trace && wantsJacobian(glass) ? fitView(panel.text, trace.model.n_layers, fit) : nothing;
    render(
      html`
        <div class="gp-options">${set.kind.element} ${set.follow.element} ${set.colour.element}</div>
        ${about} ${map.element}
        <h3 class="gp-subtitle" .textContent=${title}></h3>
        <div class="gp-columns">${bestTable(glass, lens, selected, moment?.token?.id)} ${curves.elements}</div>
      `,
      panel.body,
    );
  }
  view(null);
  const wide = widthOf(map.element, glass);
  curves.onDepth((depth) => {
    embedding.keep(depth === 0);
    glass.select({ layer: Math.max(0, depth - 1) });
  });
  glass.on("select", () => {
    if (state.layer !== 0) embedding.keep(false);
  });

  return inView(element, function draw(fresh) {
    for (const { show } of Object.values(set)) show();
    const { trace, query } = state;
    const asked = lensAsked(glass);
    const answer = glass.detail("lens", asked);
    const plain = asked.jacobian ? glass.detail("lens", { follow: asked.follow }) : answer; // a file holds both
    const came = answer && plain;
    // one token of many is read much sooner than all
    const early = came ? null : glass.detail("lens", { ...asked, token: query });
    element.toggleAttribute("data-loading", !came);
    const widths = [wide(), curves.width()];
    const lens = came ? readLens(answer) : early && readOneToken(early);
    if (!lens || widths.includes(0)) return;
    const whole = came ? { logit: readLens(plain), jacobian: asked.jacobian ? lens : null } : NOTHING_YET;
    Object.assign(read, whole);
    if (fresh) embedding.hover(null);
    const selected = { row: depthOf(state), token: query };
    panel.title.textContent = panel.text("title", { layers: trace.model.n_layers });
    map.element.style.visibility = came ? "" : "hidden"; // that of another run is not shown, and keeps its room
    if (came) map.draw([{ trace, details: { lens: answer } }], widths[0], fresh);
    curves.draw(lens, selected);
    view(lens, selected);
    tellPlace(glass, panel, lens, selected);
  });
}
