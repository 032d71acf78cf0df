// Where q, k and v come from: x → the norm of x → · W_Q, and one row of that product taken apart, term by term.

import { labelsOf } from "../../characters.js";
import { stepper } from "../../controls.js";
import { h, shown, signed } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createStrips } from "../../marks/strips.js";
import { normForms, ownKeys, turningForms } from "../../parts.js";
import { pointAt } from "../../pointed.js";
import { along, inWidth, bindArrowKeys, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { placeOf, projectionReader, sharers } from "../../readings/projection.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { word } from "../glance/words.js";
import { createProducts, lines } from "./products.js";
import { chosenVector, clickedChannel, createVectors, madeName, setVector } from "./vector-choice.js";
import { oneLine } from "../../one-line.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../frame.js").Panel} Panel
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../readings/projection.js").ProjectionReading} ProjectionReading
 *
 * @typedef {{ layer: number; head: number; query: number; key: number }} Cell
 */

/**
 * What the panel's reader is asked about.
 *
 * @param {Glass} glass
 * @param {Cell} [at]
 * @param {number | null} [channel] that is spoken of
 * @param {number | null} [input]
 * @returns {import("../../readings/projection.js").ProjectionSelection}
 */
function select(glass, at = glass.state, channel = null, input = null) {
  const { layer, head, query, key } = at;
  const row = clickedChannel(glass, shownIn(glass).trace.model.head_dim);
  return { vector: chosenVector(glass), layer, head, query, key, row, channel, input };
}

/**
 * How titles of B − A name the vector.
 *
 * @param {import("../../readings/projection.js").Place} place
 * @param {Trace} trace
 */
const vectorNames = ({ vector, layer, of, token }, { tokens: { pieces } }) => ({
  vector,
  layer,
  of,
  m: token,
  piece: visible(labelsOf(pieces)[token]),
});

/** @param {Glass} glass */
function vectorControls(glass) {
  const { element, mark } = createVectors(glass);
  return { elements: [element], show: () => mark(chosenVector(glass)) };
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["resid_in", "attn_norm_mean", "attn_norm_rms", "attn_normed", "q", "k", "v"],
  difference: {
    reader: projectionReader,
    select,
    points: "channel",
    keep: (glass, channel) => setVector(glass, { channel }),
    controls: vectorControls,
    without: "b_minus_a.without_row",
    named: (glass) => {
      const { trace } = shownIn(glass);
      return vectorNames(placeOf(glass.state, trace.model, chosenVector(glass)), trace);
    },
    said: ["value"],
    of: ({ text, chosen: { channel } }) => text("of_channel", { channel }),
    parts: [
      {
        draw: "strips",
        rows: "made",
        columns: [["made", "accent"]],
        title: "vector_made",
        named: ({ place }, trace) => vectorNames(place, trace),
      },
      {
        draw: "table",
        rows: "products",
        column: "product",
        title: "vector_products",
        heading: "channel",
        name: ({ key }) => String(key.input),
        named: ({ place, selection }, trace) => ({ ...vectorNames(place, trace), j: selection.row }),
        follows: true,
      },
      {
        draw: "strips",
        rows: "products",
        columns: [
          ["x", "residual"],
          ["normed", "norm"],
        ],
        title: "vector_read",
        named: ({ place }, trace) => vectorNames(place, trace),
        points: false,
      },
    ],
  },
  unused: "head",
  absent: ownKeys,
  forms: (model) => [...turningForms(model), ...normForms(model)],
};

/**
 * The strips of what goes in, to a row of the product, and of the vector that comes out, a channel a row.
 *
 * @param {Glass} glass
 * @param {Panel} panel
 * @param {(channel: number) => void} keep
 */
function createVectorStrips(glass, panel, keep) {
  const [into, out] = ["inputs", "made"].map((name) => h("canvas.gp-canvas", { "data-text-label": `qkv.${name}` }));
  const [inputs, outputs] = [createStrips(into, { axis: true }), createStrips(out, { axis: true })];
  /** @type {ProjectionReading | null} */
  let drawn = null;
  const overInput = pointAt(
    into,
    glass,
    (x) => (drawn ? inputs.find(x) : null),
    () => {},
  );
  const overMade = pointAt(out, glass, (x) => (drawn ? outputs.find(x) : null), keep);
  const keys = along(
    () => drawn?.made.length ?? 0,
    () => drawn?.selection.row ?? 0,
    (channel) => (keep(channel), {}),
  );
  for (const canvas of [into, out]) bindArrowKeys(canvas, glass, keys);

  /**
   * @param {number} width
   * @param {ProjectionReading["apart"]} apart
   * @param {ProjectionReading["stream"]} stream
   * @param {ProjectionReading["normed"]} normed
   * @param {string} vector
   * @param {number} channel
   * @param {number | null} input
   */
  function drawInputs(width, { row, terms }, stream, normed, vector, channel, input) {
    /** @type {[string, string, ArrayLike<number>][]} */
    const rows = [
      ["x", "residual", stream.x],
      ["normed", "norm", normed],
      ["row", vector, row],
      ["products", "accent", terms],
    ];
    const named = rows.map(([name, role, values]) => ({
      name: panel.text(`strip_${name}`, { vector, matrix: vector.toUpperCase(), channel }),
      role,
      values,
      bars: name === "products",
    }));
    inputs.draw(width, named, { chosen: input });
  }
  const drawInputsAnew = memo(drawInputs);
  /**
   * @param {number} width
   * @param {ProjectionReading} reading
   */
  function draw(width, reading) {
    drawn = reading;
    const { apart, stream, normed, made, selection } = reading;
    const { vector, row, channel, input } = selection;
    drawInputsAnew(width, apart, stream, normed, vector, row, input, glass.state.language);
    const name = madeName(shownIn(glass).trace.model, reading, panel.text);
    outputs.draw(width, [{ name, role: vector, values: made }], { chosen: channel });
  }
  return { into, out, overInput, overMade, draw };
}

/**
 * What is to be noticed, in words.
 *
 * @param {ProjectionReading} reading
 * @param {number | null} clicked
 * @param {Trace} trace
 * @param {Say} text
 */
function noticeOf({ place: { vector, token }, made, apart, listed, selection: { row } }, clicked, { tokens }, text) {
  const { first, part, others, rest } = listed;
  const all = first.length + rest;
  const params = {
    vector,
    piece: word(labelsOf(tokens.pieces)[token]),
    channel: row,
    value: signed(made[row], 4),
    count: made.length,
    all,
  };
  const of = {
    listed: first.length,
    rest,
    most: signed(part, 4),
    others: signed(others, 4),
    input: first[0],
    term: signed(apart.terms[first[0]], 4),
    all,
  };
  const few = Math.sign(part) === Math.sign(apart.products) && Math.abs(part) > Math.abs(others);
  return oneLine([
    text(clicked === null ? "notice_largest" : "notice_chosen", params),
    text(few ? "notice_few" : "notice_many", of),
  ]);
}

/**
 * Where the vector is made, and for which heads.
 *
 * @param {ProjectionReading} reading
 * @param {Trace["model"]} model
 * @param {Say} text
 * @param {string} between heads of a list
 */
function sharedText({ place: { vector, of } }, model, text, between) {
  const heads = sharers(model, of);
  if (vector === "q") return text("at_query");
  return text(heads.length > 1 ? "at_key_shared" : "at_key", { vector, of, heads: heads.join(between) });
}

/**
 * What is pointed at, in words.
 *
 * @param {ProjectionReading} reading
 * @param {Trace} trace
 * @param {Say} text
 */
function readText({ place: { vector, token }, values, normed, apart, selection }, { tokens: { pieces } }, text) {
  const { row, channel, input } = selection;
  if (input === null)
    return text("read", { vector, channel, piece: word(labelsOf(pieces)[token]), value: signed(values.value, 5) });
  return text("read_input", {
    input,
    channel: row,
    matrix: vector.toUpperCase(),
    n: shown(normed[input], 5),
    w: shown(apart.row[input], 5),
    product: signed(values.product, 5),
  });
}

/**
 * The choice of the vector and of its channel.
 *
 * @param {Glass} glass
 * @param {(channel: number) => void} keep
 */
function createBar(glass, keep) {
  const vectors = createVectors(glass);
  let chosen = 0;
  const channels = stepper((by) => keep(chosen + by), {
    label: "qkv.channel",
    back: "qkv.channel_back",
    on: "qkv.channel_on",
  });
  const largest = h("button.gp-option", { "data-text": "qkv.largest", click: () => setVector(glass, { channel: "" }) });
  /** @param {ProjectionReading} reading */
  function show({ made, selection: { row } }) {
    chosen = row;
    channels.show(String(row), row === 0, row === made.length - 1);
    largest.hidden = clickedChannel(glass, made.length) === null;
  }
  const mark = () => vectors.mark(chosenVector(glass));
  return {
    element: h("div.at-bar", { "data-part": "choices" }, vectors.element, channels.element, largest),
    mark,
    show,
  };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function qkv(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, "qkv", { parts: ["what", "formula", "myth"] });
  const { text } = panel;
  const keep = (/** @type {number} */ channel) =>
    setVector(glass, { channel: Math.max(0, Math.min(state.trace.model.head_dim - 1, channel)) });
  const [bar, strips, products] = [
    createBar(glass, keep),
    createVectorStrips(glass, panel, keep),
    createProducts(glass),
  ];
  const step = (/** @type {string} */ name) => html`<h3 class="gp-subtitle" data-text=${`qkv.step_${name}`}></h3>`;

  /** @param {ProjectionReading} reading */
  const notice = (reading) => noticeOf(reading, clickedChannel(glass, reading.made.length), state.trace, text);
  /** @param {ProjectionReading | null} reading null before it has come */
  const view = (reading) => html`
    ${bar.element}
    <p class="wy-notice" data-part="notice" .textContent=${reading ? notice(reading) : ""}></p>
    <p
      class="gp-note"
      .textContent=${reading ? sharedText(reading, state.trace.model, text, glass.text("why.list")) : ""}
    ></p>
    ${step("row")} ${strips.into} ${step("made")} ${strips.out}
    <div class="gp-columns">
      <div>${step("sum")} ${products.element}</div>
      <div>
        ${step("numbers")}
        <div class="gp-formula" lang="en">${reading && lines(reading, state.trace.model, text)}</div>
      </div>
    </div>
  `;
  render(view(null), panel.body);

  /** @param {ProjectionReading} reading */
  function tell(reading) {
    const { layer, vector, head, of, token } = reading.place;
    const piece = word(labelsOf(state.trace.tokens.pieces)[token]);
    panel.title.textContent = text(vector === "q" ? "title" : "title_kv", { vector, layer, head, of, piece });
    panel.show(reading, readText(reading, state.trace, text));
  }
  /** @type {ProjectionReading} */
  let now;
  /** Writes `now`: all that does not follow the pointer over the products. */
  /** @type {(...key: unknown[]) => void} */
  const write = memo(() => {
    bar.show(now);
    products.draw(now);
    render(view(now), panel.body);
  });

  return inWidth(element, widthOf(panel.body, glass), function draw(width) {
    const at = (/** @type {Cell} */ place) =>
      select(glass, place, strips.overMade(), strips.overInput() ?? products.pointed());
    const reading = readHere(glass, projectionReader, at(state), at(state.locked));
    element.classList.toggle("is-coming", !reading);
    bar.mark();
    if (!reading) return undefined;
    strips.draw(width, reading);
    return () => {
      now = reading;
      write(reading.apart, reading.place.head, clickedChannel(glass, reading.made.length), state.language);
      tell(reading);
    };
  });
}
