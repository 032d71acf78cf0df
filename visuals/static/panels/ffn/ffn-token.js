// A feed-forward at one token: the quadrants of gate × up, one neuron's arithmetic, and what the strongest neurons
// write.

import { onceFor } from "../../arrays.js";
import { labelsOf } from "../../characters.js";
import { h, line, percent, shown, strong, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { bracketed } from "../../equation.js";
import { frame } from "../../frame.js";
import { glossOf } from "../../gloss.js";
import { neuronName } from "../../neuron-names.js";
import { neuronsOff } from "../../off.js";
import { noChoice } from "../../parts.js";
import { along, inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { ffnForms } from "../../readings/ffn-kinds.js";
import { everyWrites, writesReader } from "../../readings/neuron-writes.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { neuronWritten } from "./neuron-written.js";
import { createScatter } from "./scatter.js";
import { createWritten, pushes } from "./written.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/neurons.js").Drawn} Drawn
 *
 * @typedef {import("../../readings/neuron-writes.js").WritesReading} WritesReading
 */

const KIND = "ffn-token";

/**
 * What the panel's readers are asked for at a place: what is pointed at, or what is locked.
 *
 * @param {Pick<Glass, "state">} glass
 * @param {{ layer: number; query: number }} [place]
 */
const select = ({ state }, { layer, query } = state) => ({
  layer,
  query,
  neuron: state.neuron,
  lockedLayer: state.locked.layer,
  lockedQuery: state.locked.query,
  lockedNeuron: state.locked.neuron,
});

/**
 * The activation and the product with the numbers of one neuron.
 *
 * @param {import("../../readings/ffn-kinds.js").Kind} kind
 * @param {import("./neuron-written.js").NeuronWritten} said
 * @param {{ gated: boolean; weighted: boolean }} has
 */
function products({ act, activation, reads, routed }, said, { gated, weighted }) {
  const { read } = said;
  /** @type {Record<string, string>} */
  const bends = {
    silu: `${read} × σ(${read})`,
    relu: `max(0, ${read})`,
    gelu: `${read} × Φ(${read})`,
    gelu_new: `½ × ${read} × (1 + tanh(√(2/π) × (x + 0.044715 x³))), x = ${read}`,
  };
  const first = [
    tinted(reads, `${act}(${reads})`),
    " = ",
    tinted(reads, bends[activation]),
    " = ",
    strong(said.activated),
  ];
  if (!gated) return [first];
  const factors = [
    bracketed(said.activated),
    " × ",
    tinted("up", bracketed(said.up)),
    ...(weighted ? [" × ", said.weight] : []),
  ];
  return [
    first,
    [
      tinted("gate", `${act}(gate)`),
      " · ",
      tinted("up", "up"),
      ...(routed ? [" · g"] : []),
      " = ",
      ...factors,
      " = ",
      strong(said.product),
    ],
  ];
}

/**
 * From what is read to the product, with the numbers of one neuron, and the length of what it writes where that is
 * here.
 *
 * @param {WritesReading} reading
 * @param {string} name the neuron's
 * @param {Say} text
 */
function arithmetic({ full, chosen, row }, name, text) {
  const { gate, up, activated, weight, product, kind } = full;
  const said = neuronWritten(kind.activation, {
    read: (gate ?? up)[chosen],
    activated: activated[chosen],
    up: gate ? up[chosen] : NaN,
    weight: kind.routed && weight ? weight[chosen] : 1,
    product: product[chosen],
    column: row?.column ?? NaN,
    norm: row?.norm ?? NaN,
  });
  const has = { gated: Boolean(gate), weighted: Boolean(kind.routed && weight) };
  const [first, ...others] = products(kind, said, has);
  const lines = [line`${text("at", { neuron: name })}   ${first}`, ...others.map((one) => line`${one}`)];
  if (row?.norm === 0) return [...lines, line`${text("silent")}`];
  if (!row) return lines;
  const column = ["‖W", sub("down"), `[:, ${name}]‖`];
  const numbers = [`${said.product.replace("−", "")} × ${said.column} = `, strong(said.norm)];
  return [...lines, line`‖${text("writes")}‖ = |${said.product}| × ${column} = ${numbers}`];
}

/**
 * A neuron of a run that is compared, by its number.
 *
 * @param {import("../../difference/from-reading.js").RowAbout} row
 */
const neuronOf = ({ key, b, glass }) => nameIn(b, Number(key.neuron), glass);
/** @type {(run: import("../../difference/face.js").Run, neuron: number, glass: Glass) => string} */
const nameIn = ({ trace, layer }, neuron, glass) => neuronName(trace.model.parts.ffn[layer], neuron, glass.text);

/**
 * The neurons that change most in one vector.
 *
 * @param {string} title
 * @param {"gate" | "up"} column
 * @returns {import("../../difference/from-reading.js").PartView}
 */
const mostChangedIn = (title, column) => ({
  draw: "table",
  rows: "neurons",
  column,
  title,
  heading: "neuron",
  name: neuronOf,
  selects: "neuron",
  absent: ({ kind }) => column === "gate" && kind.reads === "up",
});

/**
 * What is common to the tables of what B's strongest neurons write: of the locked token, whose name is above them.
 *
 * @type {Pick<
 *   import("../../difference/from-reading.js").TablePart,
 *   "needs" | "absent" | "named" | "free" | "pick" | "draw"
 * >}
 */
const ofLocked = {
  draw: "table",
  named: ({ selection: { lockedLayer: layer, lockedQuery: token } }, { tokens }) => ({
    layer,
    m: token,
    piece: visible(labelsOf(tokens.pieces)[token]),
  }),
  needs: ["written"],
  absent: (_reading, { model }) => Boolean(noChoice(model)),
  free: ["neuron"],
  pick: (_i, { neuron }) => ({ neuron: Number(neuron) }),
};

/**
 * As `glossOf`, and a piece that is a space alone is called that. @type {(glass: Glass) =>
 * import("../../gloss.js").Gloss}
 */
const meaningOf = (glass) => withSpace(glossOf(glass), glass.text);
const withSpace = onceFor(
  (/** @type {import("../../gloss.js").Gloss} */ gloss, /** @type {Glass["text"]} */ text) =>
    (/** @type {string} */ piece) => (/^[ ·]+$/.test(piece) ? ` (${text("story.blank")})` : gloss(piece)),
);

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["router_scores", "experts", "expert_weight", "gate", "up", "ffn_out"],
  difference: {
    reader: everyWrites,
    select: (glass) => ({ ...select(glass), other: glass.sides()?.B.id }), // both are asked about B's neurons
    of: ({ text, chosen, b, glass }) => text("of_neuron", { neuron: nameIn(b, chosen.neuron, glass) }),
    said: ["gate", "up", "product"],
    parts: [
      mostChangedIn("gates", "gate"),
      mostChangedIn("ups", "up"),
      {
        draw: "table",
        rows: "quadrants",
        column: "count",
        title: "quadrants",
        heading: "quadrant",
        name({ key, text }) {
          const [gate, up] = String(key.quadrant).replaceAll("<=", "≤").split(", ");
          return up ? text("quadrant_of", { gate, up }) : gate;
        },
        step: 1,
        free: ["neuron"],
        wordy: true,
      },
      {
        ...ofLocked,
        rows: "lengths",
        column: "length",
        title: "written_lengths",
        heading: "neuron",
        name: neuronOf,
        step: 1,
      },
      {
        ...ofLocked,
        rows: "pushes",
        column: "by",
        title: "written_logits",
        heading: "push",
        name: (row) =>
          `${neuronOf(row)} → ${visible(String(row.key.piece))}${glossOf(row.glass)(String(row.key.piece))}`,
      },
    ],
  },
  unused: "neuron",
  forms: ffnForms,
};

/**
 * The chart of the quadrants, which is pointed at.
 *
 * @param {Glass} glass
 * @param {Say} text the panel's own
 */
function createQuadrants(glass, text) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart` });
  const scatter = createScatter(canvas, text);
  /** @type {WritesReading | null} what is drawn */
  let drawn = null;
  const choose = (/** @type {number | null} */ place) =>
    place === null || !drawn ? null : { neuron: drawn.full.of(place) };
  bindPointer(canvas, glass, (x, y) => choose(scatter.find(x, y)));
  const count = () => drawn?.full.up.length ?? 0;
  bindArrowKeys(
    canvas,
    glass,
    along(count, () => drawn?.chosen ?? 0, choose),
  );

  /**
   * @param {number} width
   * @param {WritesReading} reading
   */
  function draw(width, reading) {
    drawn = reading;
    const { full, chosen, selection } = reading;
    const places = neuronsOff(shownIn(glass).trace, selection.layer)?.map(full.place);
    const off = places?.filter((place) => place >= 0) ?? null;
    scatter.draw(width, full, { off, word: glass.text("off.word") }, chosen);
  }
  return { room: h("div", null, canvas), draw };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function ffnToken(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth"] });
  const chart = createQuadrants(glass, panel.text);
  const written = createWritten(glass);
  const nameOf = (/** @type {WritesReading} */ { ffn, selection }) => neuronName(ffn, selection.neuron, glass.text);
  const named = (/** @type {number} */ layer, /** @type {number} */ token) => ({
    layer,
    token,
    piece: visible(labelsOf(state.trace.tokens.pieces)[token]),
  });

  /** What the listed neurons write together, and all others. @param {WritesReading} reading */
  function sumsOf({ written: found }) {
    if (found)
      return panel.text("sums", { count: found.count, whole: shown(found.whole, 4), rest: shown(found.rest, 4) });
    return noChoice(state.trace.model) ? panel.text("no_logits") : "";
  }
  /** @param {WritesReading} reading */
  const titleOf = ({ selection: { lockedLayer, lockedQuery } }) =>
    panel.text("written_title", named(lockedLayer, lockedQuery));
  /** @param {WritesReading} reading */
  const noteOf = ({ full, ffn }) => {
    // of the four corners the two whose gate is below 0
    // To two digits, since the corners' three are rounded each.
    const left = full.gate ? percent(full.quadrants[0].share + full.quadrants[2].share) : "";
    return panel.text("note", { ...full.kind, f: full.up.length, experts: ffn.top_k, left });
  };
  /** @param {WritesReading | null} reading null before it has come */
  const view = (reading) => html`
    <div class="gp-columns">
      ${chart.room}
      <div>
        <div class="gp-formula" data-part="formula">${reading && arithmetic(reading, nameOf(reading), panel.text)}</div>
        <div class="ffn-pushes">${reading && pushes(reading.row, nameOf(reading), panel.text, meaningOf(glass))}</div>
      </div>
    </div>
    <p class="gp-note" .textContent=${reading ? noteOf(reading) : ""}></p>
    <h3 class="gp-subtitle" .textContent=${reading ? titleOf(reading) : ""}></h3>
    <p class="gp-note" .textContent=${reading ? sumsOf(reading) : ""}></p>
    ${written.box}
  `;
  render(view(null), panel.body);

  /** @param {WritesReading} reading */
  function wordsOf(reading) {
    const { full, chosen } = reading;
    return panel.text("read", {
      ...full.kind,
      neuron: nameOf(reading),
      gate: full.gate ? shown(full.gate[chosen], 4) : "",
      up: shown(full.up[chosen], 4),
      product: shown(full.product[chosen], 5),
    });
  }

  return inWidth(element, widthOf(chart.room, glass), function draw(width) {
    const reading = readHere(glass, writesReader, select(glass), select(glass, state.locked));
    element.classList.toggle("is-coming", !reading);
    if (!reading) return undefined;
    chart.draw(width, reading);
    return () => {
      const { layer, query, lockedLayer, neuron } = reading.selection;
      panel.title.textContent = panel.text("title", { ...reading.full.kind, ...named(layer, query) });
      render(view(reading), panel.body);
      written.fill(reading.written, reading.listed, state.trace, lockedLayer, meaningOf(glass), state.language);
      written.mark(neuron);
      panel.show(reading, wordsOf(reading));
    };
  });
}
