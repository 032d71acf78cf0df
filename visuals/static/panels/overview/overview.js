// The loaded model as a diagram, drawn from its config, with the run's real tensors beside every part.

import { labelsOf } from "../../characters.js";
import { shareSaid } from "../../counts.js";
import { shown } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { normForms } from "../../parts.js";
import { inWidth, widthOf } from "../../pointing.js";
import { still } from "../../pointer-rest.js";
import { diagramReader, tensorOf } from "../../readings/diagram.js";
import { rowsOf, sideBySide } from "../../readings/diagram-rows.js";
import { memo } from "../../reads.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { apartOf, createChanges } from "./changes.js";
import { createView, lookedAt } from "./diagram-view.js";
import { nameParts, nameTensors } from "./labels.js";
import { sentence, sizeText } from "./sentences.js";
import { createBand } from "./stacks.js";
import { sumsOf } from "./sums.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/diagram.js").Place} Place
 *
 * @typedef {import("../../readings/diagram.js").DiagramReading} Reading
 */

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["resid_in", "attn_normed", "attn_out", "resid_mid", "ffn_normed", "ffn_out", "resid_out", "logits"],
  difference: {
    reader: diagramReader,
    select: (glass) => ({ ...lookedAt(glass), other: glass.sides()?.B.id }),
    points: "index",
    most: { rows: "values", column: "value" },
    waits: ["stream"],
    named: (glass) => ({ name: shownIn(glass).trace.model.name }),
    of({ text, chosen: { index }, b, glass }) {
      const { name, ids } = diagramReader.read(b, { ...lookedAt(glass), index }).tensor;
      return index === null ? name : text("of_value", { name, channel: String(ids?.[index] ?? index) });
    },
    worded: ["norm"],
    between: apartOf,
    parts: [
      { draw: "own", create: createChanges },
      {
        draw: "table",
        rows: "values",
        column: "value",
        title: "row_values",
        named: ({ tensor: { name }, selection: { layer } }) => ({ name, layer }),
        heading: "channel",
        name: ({ key }) => String(key.index),
        needs: ["stage", "ends"],
        points: true,
        saved: false, // the diagram has them all
      },
    ],
  },
  // its norms, that of the embedding, and parts side by side
  forms: (model) => [
    ...(model.parts.causal === false ? ["sees_all"] : []),
    ...(model.parts.embed_norm ? ["normed"] : []),
    ...(sideBySide(model) ? ["parallel"] : []),
    ...normForms(model),
  ],
};

/**
 * Shapes, sizes and strips of all rows for the token that is looked at.
 *
 * @param {import("./diagram.js").Diagram} diagram
 * @param {Place} place
 * @param {import("../../types.d.ts").Says} says
 */
function drawTensors(diagram, place, says) {
  nameTensors(diagram, place);
  for (const { key } of rowsOf(place.trace.model)) {
    const parts = diagram.row(key);
    parts.size.textContent = sizeText(says, place, key);
    const strip = diagram.drawStrip(key, tensorOf(key, place).values, key === "softmax");
    const limit =
      strip && (key === "softmax" ? `0–${shareSaid(says.whole, strip.limit)}` : `±${shown(strip.limit, 3)}`);
    parts.limit.textContent = limit || "";
  }
}

/**
 * What is pointed at, in words.
 *
 * @param {Reading} reading
 * @param {string} label of the row
 * @param {Say} text the panel's own
 */
function readText({ place: { trace, token }, tensor, selection: { index }, values: { value } }, label, text) {
  const { ids } = tensor;
  const name = text("named", { label, tensor: tensor.name });
  const piece = visible(labelsOf(trace.tokens.pieces)[token]);
  if (index === null) return text("read_row", { name, piece });
  return text(ids ? "read_token" : "read", { name, index: ids?.[index] ?? index, value: shown(value, 5), piece });
}

/**
 * How the value that is pointed at came about; where the vectors are not here, why.
 *
 * @param {Reading} reading
 * @param {Say} text the panel's own
 */
function sumsIn({ place, tensor: { values, ids }, selection: { key, index } }, text) {
  const { trace, token, stage, ends } = place;
  if (values && index !== null && stage && ends)
    return sumsOf(key, { ...place, stage, ends }, values, index, ids?.[index] ?? index);
  const id = trace.tokens.ids[token];
  const note =
    key === "ids"
      ? text("ids_note", { piece: visible(labelsOf(trace.tokens.pieces)[token]), id })
      : text("locked_only");
  return html`<p .textContent=${note}></p>`;
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function overview(element, glass) {
  const state = shownIn(glass);
  const { svg, player, diagram, room } = createView(glass);
  const panel = frame(element, glass, "overview", { svg: () => svg, parts: ["what", "formula", "myth"] });
  const { text } = panel;
  const says = { text, whole: glass.text };
  const band = createBand(glass, text);

  /**
   * The sentence of the row that is looked at, and its arithmetic.
   *
   * @param {Reading | null} reading null before there is a run
   */
  function view(reading) {
    const stream = reading?.place.stream;
    const said =
      reading && stream
        ? sentence(says, { ...reading.place, stream }, reading.selection.key, !diagram.layout().wide)
        : "";
    return html`
      ${band()} ${player.element}
      <p class="ov-say" .textContent=${said}></p>
      <div class="gp-formula ov-sums">${reading && stream ? sumsIn(reading, text) : ""}</div>
      ${room}
    `;
  }
  render(view(null), panel.body);
  for (const say of panel.body.querySelectorAll("p.ov-say")) still(/** @type {HTMLElement} */ (say));

  const build = memo(diagram.build);
  const name = memo((/** @type {Place["trace"]} */ trace, /** @type {number} */ layer) =>
    nameParts(diagram, { trace, layer }, text),
  );
  /** @type {Place} */
  let place;
  /** Draws `place`. @type {(...key: unknown[]) => void} */
  const fill = memo(() => drawTensors(diagram, place, says));

  /** @param {Reading} reading */
  function tell(reading) {
    const { trace, token } = reading.place;
    const { model, tokens } = trace;
    const named = { ...model, name: glass.modelName(model.name), piece: visible(labelsOf(tokens.pieces)[token]) };
    panel.title.textContent = text("title", named);
    if (reading.place.stream)
      panel.show(reading, readText(reading, diagram.row(reading.selection.key).label.textContent ?? "", text));
  }

  return inWidth(element, widthOf(room, glass), function draw(width) {
    const { trace, layer, query: token } = state;
    if (player.playing() && layer + 1 < trace.model.n_layers) glass.detail("stage", { layer: layer + 1, token });
    const reading = readHere(glass, diagramReader, lookedAt(glass));
    if (!reading) return;
    const { key, index } = reading.selection;
    place = reading.place;
    build(width, trace.model);
    name(trace, layer, width);
    fill(width, ...Object.values(place));
    diagram.activate(key);
    for (const one of rowsOf(trace.model)) diagram.markChannel(one.key, one.key === key ? index : null);
    player.show();
    render(view(reading), panel.body);
    tell(reading);
  });
}
