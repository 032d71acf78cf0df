// @ts-check
// The live cache: which rows each token writes and reads, and its bytes as measured beside the formula. A button plays
// the run again: the prefill, then one generated token after the other; where nothing was written yet, it has it
// written.

import { largest } from "../../arrays.js";
import { row as attentionRow } from "../../compute.js";
import { h, share, shown, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { noCache } from "../../parts.js";
import { inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { shownIn } from "../../run-for.js";
import { both, equals, exactBytes, product, whole } from "./format.js";
import { cellAt, drawGrid, roleOf } from "./live-grid.js";
import {
  agreement,
  bytesOf,
  elementBytes,
  factorsOf,
  heldBytes,
  keptNumbers,
  latentOf,
  measuredAt,
  momentOf,
  piecesOf,
  sourceFactors,
} from "./live-state.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../types.d.ts").Shown} Shown
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("./live-state.js").Live} Live
 *
 * @typedef {import("./live-grid.js").Scene & ReturnType<typeof momentOf>} Scene
 */

/**
 * What the grid shows.
 *
 * @param {Shown} state
 * @param {import("../../decode.js").Layer | null} layer
 * @returns {Scene}
 */
function sceneOf(state, layer) {
  const { trace } = state;
  const pieces = piecesOf(trace);
  // The token of the last step is chosen but not yet read: the one before it is what the cache took in last.
  const query = trace.generating ? trace.nPrompt - 1 + Math.max(0, trace.steps.length - 1) : state.query;
  const known = layer && query < trace.T;
  const weights = known ? attentionRow(layer, trace.model, state.head, query).weights : null;
  return {
    layers: trace.model.n_layers,
    columns: pieces.length,
    pieces,
    prompt: trace.nPrompt,
    layer: state.layer,
    head: state.head,
    weights,
    ...momentOf(trace, query),
  };
}

/**
 * Every length that was measured, with the formula's bytes beside it.
 *
 * @param {Trace} trace
 * @param {Live | null} detail
 * @returns {(string | number)[][]}
 */
function table(trace, detail) {
  const rows = Array.from({ length: trace.T }, (_, t) => t + 1);
  const cells = rows.map((held) => [held, heldBytes(trace, held), measuredAt(trace, detail, held) ?? ""]);
  return [["tokens", "formula_bytes", "measured_bytes"], ...cells];
}

/**
 * The formula with its numbers, and what the tensors say.
 *
 * @param {import("../../frame.js").Panel} panel
 * @param {Glass} glass
 * @param {number} held tokens
 * @param {number | null} measured bytes
 * @param {ReturnType<typeof agreement>} tally
 */
function sums(panel, glass, held, measured, tally) {
  const { trace } = shownIn(glass);
  /** @type {import("./format.js").Named} */
  const name = (code, params) => glass.text(`kv.factor_${code}`, params);
  const [own, source, bytes] = [factorsOf(trace, held), sourceFactors(trace), heldBytes(trace, held)];
  const more = source
    ? [
        h("p.kv-line", null, panel.text("source_line", { tokens: trace.encoder?.T })),
        product(source, name, equals(bytesOf(source))),
        h(
          "p.kv-line",
          null,
          panel.text("together"),
          ` ${exactBytes(bytesOf(own))} + ${exactBytes(bytesOf(source))} = `,
          h("strong", null, exactBytes(bytes)),
        ),
      ]
    : [];
  const [look, verdict] =
    measured === null ? ["open", "unmeasured"] : measured === bytes ? ["equal", "equal"] : ["unequal", "unequal"];
  const check = h(`span.kv-check.is-${look}`, null, panel.text(verdict));
  const said = measured === null ? "—" : exactBytes(measured);
  return [
    h("p.kv-line", null, panel.text("formula_line")),
    product(own, name, equals(bytesOf(own))),
    ...more,
    h(
      "p.kv-line.kv-verdict",
      null,
      panel.text("measured_line", { held: whole(held) }),
      " ",
      h("strong", null, said),
      " ",
      check,
      h("span.gp-note", null, ` ${both(bytes)}`),
    ),
    h("p.gp-note", null, panel.text("tally", tally)),
  ];
}

/**
 * What this step writes and reads, and why Q is in none of it; with this run's numbers.
 *
 * @param {import("../../frame.js").Panel} panel
 * @param {Trace} trace
 * @param {ReturnType<typeof momentOf>} moment
 */
function story(panel, trace, moment) {
  const { n_layers, n_heads, n_kv_heads, head_dim } = trace.model;
  const { rank: latent = 0, rope = 0 } = latentOf(trace) ?? {};
  const size = elementBytes(trace);
  const rows = moment.held - moment.from;
  const wrote = bytesOf(factorsOf(trace, rows));
  const read = heldBytes(trace, moment.held);
  const query = n_layers * n_heads * head_dim * size;
  const params = {
    rows,
    held: moment.held,
    layers: n_layers,
    kv: n_kv_heads,
    heads: n_heads,
    head_dim,
    bytes: size,
    group: n_heads / n_kv_heads,
    latent,
    rope,
    wrote: exactBytes(wrote),
    read: exactBytes(read),
    query: exactBytes(query),
    token: moment.query,
    percent: Math.round((100 * n_heads * head_dim) / keptNumbers(trace)),
  };
  const part = (/** @type {string} */ title, /** @type {string[]} */ ...names) =>
    h(
      "div",
      null,
      h("h3.gp-subtitle", null, panel.text(title)),
      ...names.map((name) => h("p", null, panel.text(name, params))),
    );
  return [
    part(
      "step_title",
      moment.prefill ? "step_prefill" : "step_decode",
      moment.prefill ? "read_prefill" : "read_decode",
    ),
    part("q_title", "q_used", "q_cost"),
  ];
}

function legend() {
  const sample = (/** @type {string} */ role, /** @type {string} */ name) =>
    h("span.gp-sample", null, h(`span.kv-swatch.is-${role}`), h("span", { "data-text": `kv-live.${name}` }));
  return h(
    "div.gp-samples.kv-legend",
    null,
    sample("new", "is_new"),
    sample("read", "is_read"),
    sample("held", "is_held"),
    sample("empty", "is_empty"),
    h("span.gp-sample", null, tinted("k", "K"), " | ", tinted("v", "V")),
  );
}

const PACE = 160; // ms a token: slow enough to follow, whatever the model took

/**
 * The button that plays the run again, or has it written.
 *
 * @param {Glass} glass
 * @returns {{ element: HTMLElement; draw: () => void }}
 */
export function player(glass) {
  const { state } = glass;
  let timer = 0;
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    draw();
  };
  const step = () => {
    const { trace, locked } = state;
    if (!trace || !button.isConnected || trace !== played || locked.query >= trace.T - 1) stop();
    else glass.select({ query: Math.max(locked.query + 1, trace.nPrompt) });
  };
  /** @type {Trace | null} */
  let played = null;
  /** @type {(trace: Trace | null) => trace is Trace} */
  const isWritten = (trace) => trace !== null && trace.T > trace.nPrompt;
  const button = h("button.kv-button", { click: () => (isWritten(state.trace) ? play(state.trace) : write()) });
  /** Has the text be written; what is watched comes to the top first, as the written words take room above it. */
  function write() {
    const panel = button.closest("section");
    if (panel && panel.getBoundingClientRect().bottom > innerHeight) panel.scrollIntoView();
    /** @type {HTMLElement | null} */ (document.querySelector("#generate"))?.click();
  }
  /** @param {Trace} trace */
  function play(trace) {
    if (timer) {
      stop();
      return;
    }
    played = trace;
    glass.select({ query: trace.nPrompt - 1 });
    timer = setInterval(step, PACE);
    draw();
  }
  const note = h("span.gp-note");

  function draw() {
    const { trace } = state;
    const [written, writing] = [isWritten(trace), trace?.generating];
    button.textContent = glass.text(timer ? "kv-live.pause" : written || writing ? "kv-live.play" : "kv-live.write");
    button.disabled = !trace || Boolean(writing) || (!written && state.status !== "idle");
    note.textContent = written || writing ? "" : glass.text("kv-live.nothing_written");
  }
  return { element: h("div.kv-player", null, button, note), draw };
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["k", "k_rot", "v", "kv_latent", "k_rope"],
  absent: noCache,
  forms: ({ parts }) => (parts.latent ? ["latent"] : parts.stack ? ["source"] : []),
};

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function kvLive(element, glass) {
  const state = shownIn(glass);
  const canvas = h("canvas.gp-canvas.kv-grid", { "data-part": "grid", "data-text-label": "kv-live.grid" });
  const detailOf = () => (state.trace.generating ? null : glass.detail("kv_live"));
  const panel = frame(element, glass, "kv-live", {
    csv: () => table(state.trace, detailOf()),
    parts: ["what", "formula", "myth"],
  });
  const play = player(glass);
  const arithmetic = h("div.kv-sums", { "data-part": "sums" });
  const stories = h("div.gp-columns.kv-story", { "data-part": "story" });
  const caption = h("p.gp-note.kv-caption");
  const room = h("div", null, caption, canvas);
  panel.body.append(h("div.kv-bar", null, play.element, legend()), room, arithmetic, stories);
  /** @type {{ scene: Scene; size: import("./live-grid.js").Size } | null} null until it is drawn */
  let drawn = null;
  bindPointer(canvas, glass, (x, y) => {
    const cell = drawn && !state.trace.generating && cellAt(drawn.scene, drawn.size, x, y);
    if (!cell) return null;
    return state.trace.layers.has(cell.layer) ? { layer: cell.layer, query: cell.token } : { query: cell.token };
  });
  bindArrowKeys(canvas, glass, {});

  /**
   * @param {Scene} scene
   * @param {Live | null} detail
   * @param {number | null} measured bytes
   * @param {number} bytes
   */
  function tell(scene, detail, measured, bytes) {
    const { trace, layer } = state;
    const { query, held } = scene;
    const at = layer * trace.T + query;
    const norms =
      detail && query < trace.T ? [shown(detail.k_norm.data[at], 4), shown(detail.v_norm.data[at], 4)] : ["…", "…"];
    const bytesEach = whole(bytesOf(factorsOf(trace, 1)) / trace.model.n_layers);
    const reading = {
      layer,
      token: query,
      piece: visible(scene.pieces[query]),
      k: norms[0],
      v: norms[1],
      bytes: bytesEach,
    };
    const sizes = `tokens=${held} bytes=${bytes} measured=${measured ?? "none"}`;
    panel.tell(`layer ${layer} token ${query} ${sizes} ${roleOf(scene, query)}`, panel.text("read", reading));
  }

  return inWidth(element, widthOf(room, glass), function draw(width) {
    const { trace } = state;
    const detail = detailOf();
    play.draw();
    const scene = sceneOf(state, glass.layer());
    const [bytes, measured] = [heldBytes(trace, scene.held), measuredAt(trace, detail, scene.held)];
    panel.title.textContent = panel.text(trace.encoder ? "title_source" : "title", {
      tokens: whole(scene.held),
      source: whole(trace.encoder?.T ?? 0),
      layers: trace.model.n_layers,
      bytes: exactBytes(bytes),
    });
    caption.textContent = scene.weights
      ? panel.text("weights", { layer: scene.layer, head: scene.head, most: share(largest(scene.weights)) })
      : "";
    drawn = { scene, size: drawGrid(canvas, scene, width, panel.text) };
    arithmetic.replaceChildren(...sums(panel, glass, scene.held, measured, agreement(trace, detail)));
    stories.replaceChildren(...story(panel, trace, scene));
    tell(scene, detail, measured, bytes);
  });
}
