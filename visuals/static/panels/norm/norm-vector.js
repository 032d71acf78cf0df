// One vector through one norm: what is subtracted from it and what it is divided by, γ, β and the result, down to
// single values.

import { strongest } from "../../arrays.js";
import { labelsOf } from "../../characters.js";
import { linkRows } from "../../controls.js";
import { h, shown } from "../../dom.js";
import { visible } from "../../draw.js";
import { writtenOut } from "../../equation.js";
import { frame } from "../../frame.js";
import { createStrips } from "../../marks/strips.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { oneLine } from "../../one-line.js";
import { normForms } from "../../parts.js";
import { pointAt } from "../../pointed.js";
import { along, bindArrowKeys, bindPointer, inWidth, widthOf } from "../../pointing.js";
import { memo, reactive, same } from "../../reads.js";
import { depthOf, normVector as reader } from "../../readings/norm.js";
import { medianMagnitude } from "../../readings/norms.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { drawDepth, findDepth } from "./depth.js";
import { chosenChannel, normAndPlace, normButtons, placeParams, setNorm, TENSORS } from "./norm-choice.js";
import { stepsOf } from "./norm-formulas.js";
import { fewest, showing, within, zoomButtons, zoomed } from "./zoom.js";

/**
 * @typedef {import("../../readings/norm.js").VectorReading} VectorReading
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../frame.js").Panel} Panel
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {{ zoom: import("./zoom.js").Zoom | null }} View null before anything is drawn
 */

const KIND = "norm-vector";
/** What a strip of each stage is drawn in. @type {Record<string, string>} */
const ROLES = { x: "residual", divided: "norm", gamma: "text", beta: "text", normed: "norm" };
const ROWS = 8;
const FIELDS = ["channel", "x", "share", "divided", "gamma", "normed"];

/**
 * The largest channels.
 *
 * @param {(channel: number | null, keep: boolean) => void} act called with the row's channel, null when the pointer
 *   leaves
 */
function createChannels(act) {
  const table = createTable(
    KIND,
    FIELDS.map((name, i) => [name, i ? "td.gp-number" : "th.gp-number"]),
    { rows: ROWS, focus: true },
  );
  /** @type {number[]} */
  let channels = [];
  const look = (/** @type {number | null} */ channel) => act(channel, false);
  linkRows(
    table.element,
    { preview: look, endPreview: () => look(null), select: (channel) => act(channel, true) },
    (row) => channels[/** @type {HTMLTableRowElement} */ (row).sectionRowIndex],
  );

  /** @param {VectorReading} reading */
  function fill({ selection, input: { mean, meanSquare }, rows }) {
    const { x, divided, gamma, normed } = rows.channels().columns;
    channels = strongest(x, ROWS);
    table.fill(channels, (fields, c) => {
      const share = `${shown((100 * (x[c] - mean) ** 2) / (meanSquare * x.length), 3)}%`;
      const numbers = [divided, gamma, normed].map((column) => shown(column[c], 4));
      writeTexts(fields, [String(c), shown(x[c], 4), share, ...numbers]);
    });
    table.mark((i) => channels[i] === selection.channel);
  }
  return { box: listed(".norm-channels", `${KIND}.largest`, table), fill };
}

/** @param {Glass} glass */
function normControls(glass) {
  const { element, mark } = normButtons(glass);
  return { elements: [element], show: mark };
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: TENSORS,
  difference: {
    reader,
    select: (glass) => ({
      ...normAndPlace(glass, glass.state),
      channel: chosenChannel(glass, shownIn(glass).trace.model.d_model),
    }),
    points: "channel",
    keep: (glass, channel) => setNorm(glass, { channel }),
    controls: normControls,
    without: "b_minus_a.without_zoom",
    said: ["x", "normed", "rms", "deviation"],
    of: ({ text, chosen: { channel } }) => text("of_channel", { channel }),
    parts: [
      {
        draw: "strips",
        rows: "channels",
        columns: [
          ["divided", "norm"],
          ["normed", "norm"],
          ["x", "residual"],
        ],
      },
      {
        draw: "table",
        rows: "channels",
        column: "x",
        title: "channels",
        heading: "channel",
        name: ({ key }) => String(key.channel),
        points: true,
      },
      {
        draw: "table",
        rows: "depth",
        column: "divisor",
        title: "rms_by_depth",
        heading: "place",
        name: ({ key: { norm, layer }, text }) => (norm === "final" ? text("final") : text(`norm_${norm}`, { layer })),
        most: 16,
      },
    ],
  },
  forms: normForms,
};

/**
 * The strips, what of them is in view, and the channel that is pointed at.
 *
 * @param {Glass} glass
 * @param {Panel} panel
 * @param {(channel: number) => void} keep
 */
function createStages(glass, panel, keep) {
  const canvas = h("canvas.gp-canvas", { "data-part": "strips", "data-text-label": `${KIND}.strips` });
  const strips = createStrips(canvas, { label: 24, strip: 32, axis: true });
  const wide = widthOf(panel.body, glass);
  const view = reactive(/** @type {View} */ ({ zoom: null }), glass.repaint);
  let [size, chosen] = [0, 0];

  const pointed = pointAt(canvas, glass, (x) => (size ? strips.find(x) : null), keep);
  /** @param {"closer" | "wider" | "all"} name */
  function zoomBy(name) {
    if (!view.zoom) return;
    if (name === "all") view.zoom = { start: 0, count: size };
    else view.zoom = zoomed(view.zoom, size, fewest(wide()), chosen, name === "closer");
  }
  canvas.addEventListener("dblclick", () => zoomBy("closer"));
  const key = (/** @type {"closer" | "wider" | "all"} */ name) => () => (zoomBy(name), {});
  bindArrowKeys(canvas, glass, {
    ...along(
      () => size,
      () => chosen,
      (channel) => (keep(channel), {}),
    ),
    "+": key("closer"),
    "=": key("closer"),
    "-": key("wider"),
    0: key("all"),
  });

  /**
   * @param {number} width
   * @param {VectorReading} reading
   */
  function draw(width, { selection, rows }) {
    const { columns } = rows.channels();
    if (size !== columns.x.length) view.zoom = null;
    [size, chosen] = [columns.x.length, selection.channel];
    const zoom = same(view.zoom, within(view.zoom ?? { start: 0, count: size }, size));
    view.zoom = zoom;
    const named = Object.entries(columns).map(([name, values]) => ({
      name: panel.text(`strip_${name}`),
      role: ROLES[name],
      values,
    }));
    strips.draw(width, named, { chosen, lead: named[0], ...zoom });
  }
  /** Which channels are in view, in words. */
  function windowText() {
    const { start, count } = view.zoom ?? { start: 0, count: size };
    const each = strips.perColumn(count);
    return each > 1
      ? panel.text("pooled", { each })
      : panel.text("window", { first: start, last: start + count - 1, d: size });
  }
  /** @param {number} channel */
  function bringIntoView(channel) {
    if (view.zoom) view.zoom = showing(view.zoom, channel, size);
  }
  return { canvas, wide, pointed, zoomBy, draw, windowText, bringIntoView };
}

/**
 * The chart through depth: the pointer previews a norm, a click keeps it.
 *
 * @param {Glass} glass
 * @param {Panel} panel
 * @param {() => number} wide
 */
function createDepth(glass, panel, wide) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": `${KIND}.depth` });
  /** @type {ReturnType<typeof findDepth> | null} the norm under the pointer */
  let under = null;
  bindPointer(canvas, glass, (x) => {
    under = findDepth(wide(), shownIn(glass).trace.model, x);
    return { layer: under.layer };
  });
  canvas.addEventListener("click", () => under && setNorm(glass, { which: under.norm }));

  /**
   * @param {number} width
   * @param {Trace} trace
   * @param {import("./depth.js").Depth | null} answer
   * @param {VectorReading["selection"]["norm"]} norm
   * @param {number} layer
   * @param {number} query
   */
  function drawChart(width, trace, answer, norm, layer, query) {
    const { divisor } = depthOf({ trace }, query).columns;
    drawDepth(canvas, width, trace.model, { norm, layer, query }, divisor, answer, panel.text);
  }
  const drawAnew = memo(drawChart);
  /**
   * @param {number} width
   * @param {VectorReading} reading
   */
  function draw(width, { selection: { norm, layer, query } }) {
    drawAnew(width, shownIn(glass).trace, glass.detail("norm_depth", {}), norm, layer, query);
  }
  return { canvas, draw };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function normVector(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth"] });
  /** @type {{ channel: number | null }} by a row of the table */
  const hovered = reactive({ channel: null }, glass.repaint);
  const norms = normButtons(glass);
  const stages = createStages(glass, panel, (channel) => keep(channel));
  const zoom = zoomButtons(stages.zoomBy);
  const depth = createDepth(glass, panel, stages.wide);
  const channels = createChannels((channel, clicked) => {
    hovered.channel = clicked ? null : channel;
    if (clicked && channel !== null) keep(channel);
  });

  /** @param {number} channel */
  function keep(channel) {
    stages.bringIntoView(channel);
    setNorm(glass, { channel });
  }

  /** @param {VectorReading} reading */
  const nameOf = ({ selection }) => placeParams(selection, state.trace);
  /** The channel under the pointer, else the one that was clicked; null: the largest. */
  const channelNow = () => stages.pointed() ?? hovered.channel ?? chosenChannel(glass, state.trace.model.d_model);

  /** @param {VectorReading} reading */
  function largestText({ rows }) {
    const { x } = rows.channels().columns;
    const [[channel], median] = [strongest(x, 1), medianMagnitude(x)];
    const value = Math.abs(x[channel]);
    const numbers = writtenOut(
      { value, times: value / median, median },
      [["times", ["value", "median"], (a, b) => a / b]],
      { digits: 3, most: 3 },
    );
    const said = panel.text("massive", { channel, ...numbers });
    const { sinks, tokens } = state.trace;
    const named = sinks.map((token) =>
      glass.text("marks.token", { token, piece: visible(labelsOf(tokens.pieces)[token]) }),
    );
    const massive = { tokens: named.join(glass.text("why.list")) };
    return oneLine([said, panel.text(sinks.length ? "massive_tokens" : "massive_none", massive)]);
  }

  /** @param {VectorReading | null} reading null before it has come */
  const view = (reading) => html`
    <div class="norm-bar">${norms.element} ${zoom}</div>
    ${stages.canvas}
    <p class="gp-note" .textContent=${reading ? stages.windowText() : ""}></p>
    <div class="gp-columns">
      <div>
        <div class="gp-formula">${reading && stepsOf(reading, panel.text)}</div>
        <p class="gp-note" .textContent=${reading ? largestText(reading) : ""}></p>
      </div>
      ${channels.box}
    </div>
    <h3 class="gp-subtitle" .textContent=${reading ? panel.text("depth_title", nameOf(reading)) : ""}></h3>
    <p class="gp-note" .textContent=${panel.text("depth_note")}></p>
    ${depth.canvas}
  `;
  render(view(null), panel.body);
  /** @param {VectorReading} reading */
  function tell(reading) {
    const { x, normed, rms, deviation, mean = 0 } = reading.values;
    panel.title.textContent = panel.text(`title_${reading.selection.norm}`, nameOf(reading));
    const words = panel.text("read", {
      channel: reading.selection.channel,
      x: shown(x, 4),
      normed: shown(normed, 4),
      rms: shown(rms ?? deviation, 4),
      mean: shown(mean, 4),
    });
    panel.show(reading, words);
  }

  return inWidth(element, stages.wide, function draw(width) {
    const channel = channelNow();
    const at = (/** @type {{ layer: number; query: number }} */ place) => ({ ...normAndPlace(glass, place), channel });
    const reading = readHere(glass, reader, at(state), at(state.locked));
    element.classList.toggle("is-coming", !reading);
    norms.mark();
    if (!reading) return undefined;
    stages.draw(width, reading);
    depth.draw(width, reading);
    return () => {
      render(view(reading), panel.body);
      channels.fill(reading);
      tell(reading);
    };
  });
}
