// @ts-check
// The loaded model as a diagram, drawn from its config, with the run's real tensors beside every part.

import { exact, h, shown, svg as s } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { normForms } from "../../parts.js";
import { ownChoice } from "../../pointed.js";
import { inView, widthOf } from "../../pointing.js";
import { still } from "../../pointer-rest.js";
import { memo } from "../../reads.js";
import { shownIn } from "../../run-for.js";
import { createDiagram } from "./diagram.js";
import { nameParts, nameTensors } from "./labels.js";
import { createPlayer } from "./play.js";
import { rowFor, rowsOf, shapeText, sideBySide, tensorOf } from "./rows.js";
import { sentence, sizeText } from "./sentences.js";
import { createBand } from "./stacks.js";
import { sumsOf } from "./sums.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("./rows.js").Place} Place
 */

/**
 * In which form the diagram speaks of a network: its norms, that of the embedding, and parts side by side.
 *
 * @type {NonNullable<import("../../frame.js").About["forms"]>}
 */
const forms = (model) => [
  ...(model.parts.causal === false ? ["sees_all"] : []),
  ...(model.parts.embed_norm ? ["normed"] : []),
  ...(sideBySide(model) ? ["parallel"] : []),
  ...normForms(model),
];

export const about = {
  tensors: ["resid_in", "attn_normed", "attn_out", "resid_mid", "ffn_normed", "ffn_out", "resid_out", "logits"],
  difference: "overview",
  forms,
};

/** The row that is looked at; an index of its values. */
export const row = ownChoice("attn");
/**
 * The same, in a network that may not have it.
 *
 * @param {{ trace: import("../../decode.js").Trace }} run
 */
export const rowIn = ({ trace }) => rowFor(trace.model, row.now());
const channel = ownChoice(/** @type {number | null} */ (null));
/** Which value of the row is looked at; null for the one that speaks for itself. */
export const chosenIndex = () => channel.under() ?? (row.now() === row.kept() ? channel.kept() : null);

/**
 * The diagram and the walk through it: pointing at a row or a value looks at it, a click keeps it.
 *
 * @param {Glass} glass
 */
export function createView(glass) {
  const state = shownIn(glass);
  const svg = s("svg.ov-diagram");
  const go = (/** @type {string} */ key) => {
    row.keep(key);
    channel.keep(null);
    leave();
  };
  const player = createPlayer(glass, { now: row.kept, go });
  /** @param {() => void} act not while the walk goes on */
  const pointing = (act) => {
    if (player.playing()) return;
    act();
    glass.repaint();
  };
  const diagram = createDiagram(svg, {
    hover: (key) =>
      pointing(() => {
        row.hover(key);
        channel.hover(null);
      }),
    choose(key) {
      channel.keep(channel.now());
      row.keep(key);
      glass.repaint();
    },
    open(key) {
      const chapter = rowsOf(state.trace.model).find((one) => one.key === key)?.chapter;
      if (chapter) glass.open(chapter);
    },
    channel: (_key, index, lock) =>
      pointing(() => {
        channel.hover(index);
        if (lock) channel.keep(index);
      }),
  });
  function leave() {
    row.hover(null);
    channel.hover(null);
    glass.repaint();
  }
  svg.addEventListener("pointerleave", leave);
  return { svg, player, diagram, room: h("div.ov-room", null, svg) };
}

/**
 * Every value of every row for the token that is looked at; the heads alone before there is a run.
 *
 * @param {Place | null} run
 * @returns {(string | number)[][]}
 */
function tableOf(run) {
  const heads = ["row", "tensor", "shape", "index", "value"];
  if (!run) return [heads];
  const rows = rowsOf(run.trace.model).flatMap(({ key }) => {
    const { name, shape, values, ids } = tensorOf(key, run);
    return Array.from(values ?? [], (x, i) => [key, name, shapeText(shape), ids ? ids[i] : i, x]);
  });
  return [heads, ...rows];
}

/**
 * The value that speaks for a row: of the logits the highest, else that of the largest size.
 *
 * @param {ArrayLike<number>} values
 * @param {string} key
 */
function largest(values, key) {
  const size = (/** @type {number} */ x) => (key === "head" ? x : Math.abs(x));
  let best = 0;
  for (let i = 1; i < values.length; i++) if (size(values[i]) > size(values[best])) best = i;
  return best;
}

/**
 * Shapes, sizes and strips of all rows for the token that is looked at.
 *
 * @param {import("./diagram.js").Diagram} diagram
 * @param {Place} run
 * @param {import("../../types.d.ts").Say} text the panel's own
 */
function drawTensors(diagram, run, text) {
  nameTensors(diagram, run);
  for (const { key } of rowsOf(run.trace.model)) {
    const parts = diagram.row(key);
    const tensor = tensorOf(key, run);
    parts.size.textContent = sizeText(text, run, key, tensor);
    const strip = diagram.drawStrip(key, tensor.values, key === "softmax");
    parts.limit.textContent = strip ? `${key === "softmax" ? "0–" : "±"}${shown(strip.limit, 3)}` : "";
  }
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function overview(element, glass) {
  const state = shownIn(glass);
  const { svg, player, diagram, room } = createView(glass);
  /** @type {Place | null} null until it is drawn */
  let drawn = null;
  const panel = frame(element, glass, "overview", {
    svg: () => svg,
    csv: () => tableOf(drawn),
    parts: ["what", "formula", "myth"],
  });
  const say = h("p.ov-say");
  const sums = h("div.gp-formula.ov-sums");
  const band = createBand(glass, panel.text);
  panel.body.append(band.element, player.element, say, sums, room);
  still(say);
  const wide = widthOf(room, glass);

  /**
   * The row that is looked at: its sentence, its arithmetic, one of its values.
   *
   * @param {Place} run
   */
  function tell(run) {
    const key = rowIn(state);
    const { token, layer, stage, ends, stream, trace } = run;
    diagram.activate(key);
    if (!stream) return;
    say.textContent = sentence(panel.text, { ...run, stream }, key);
    const { name, values, ids, norm } = tensorOf(key, run);
    for (const one of rowsOf(trace.model)) diagram.markChannel(one.key, null);
    const piece = visible(trace.tokens.pieces[token]);
    const where = `${key} layer ${layer} token ${token} ${name}`;
    const length = norm === null ? "" : ` norm=${exact(norm)}`;
    if (!values || !(stage && ends)) {
      const note =
        key === "ids" ? panel.text("ids_note", { piece, id: trace.tokens.ids[token] }) : panel.text("locked_only");
      sums.replaceChildren(h("p", null, note));
      panel.tell(`${where}${length}`, panel.text("read_row", { name, piece }));
      return;
    }
    const wanted = chosenIndex();
    const j = wanted !== null && wanted < values.length ? wanted : largest(values, key);
    diagram.markChannel(key, j);
    const index = ids ? ids[j] : j;
    sums.replaceChildren(...sumsOf(key, { ...run, stage, ends }, values, j, index));
    panel.tell(
      `${where}${length} channel ${index} value=${exact(values[j])}`,
      panel.text(ids ? "read_token" : "read", { name, index, value: shown(values[j], 5), piece }),
    );
  }

  const build = memo(diagram.build);
  const name = memo((/** @type {Place["trace"]} */ trace, /** @type {number} */ layer) =>
    nameParts(diagram, { trace, layer }, panel.text),
  );
  /** @type {Place} */
  let now;
  /** Writes `now`. @type {(...key: unknown[]) => void} */
  const fill = memo(() => drawTensors(diagram, now, panel.text));
  return inView(element, function draw() {
    const { trace, layer, query: token } = state;
    const stream = glass.detail("stream");
    const stage = glass.detail("stage", { layer, token });
    const ends = glass.detail("ends", { token });
    if (player.playing() && layer + 1 < trace.model.n_layers) glass.detail("stage", { layer: layer + 1, token });
    const width = wide();
    if (width === 0) return;
    now = { trace, layer, token, stream, stage, ends };
    drawn = now;
    build(width, trace.model);
    name(trace, layer, width);
    fill(width, ...Object.values(now));
    const { model } = trace;
    panel.title.textContent = panel.text("title", {
      ...model,
      name: glass.modelName(model.name),
      piece: visible(trace.tokens.pieces[token]),
    });
    player.show();
    band.draw();
    tell(now);
  });
}
