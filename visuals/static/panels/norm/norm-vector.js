// One vector through one norm: what is subtracted from it and what it is divided by, γ, β and the result, down to
// single values.

import { strongest } from "../../arrays.js";
import { linkRows } from "../../controls.js";
import { exact, h, shown } from "../../dom.js";
import { frame } from "../../frame.js";
import { createStrips } from "../../marks/strips.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { normForms } from "../../parts.js";
import { pointAt } from "../../pointed.js";
import { along, inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { memo, same, reactive } from "../../reads.js";
import { drawDepth, findDepth } from "./depth.js";
import { chosenChannel, normButtons, setNorm } from "./norm-choice.js";
import { medianMagnitude } from "./norms.js";
import { arithmetic, nameOf, normedAt, vectorAt } from "./vector.js";
import { fewest, showing, within, zoomButtons, zoomed } from "./zoom.js";

const KIND = "norm-vector";

/** The vector's stages by name; x is as recorded, the others follow by the formula. */
export function stagesOf(vector) {
  const { x, gamma, beta, mean, rms } = vector;
  const after = Float64Array.from(x, (value) => (value - mean) / rms);
  return { x, after, gamma, ...(beta ? { beta } : {}), product: after.map((_, i) => normedAt(vector, i).product) };
}

/** What a strip of each stage is drawn in. */
const ROLES = { x: "residual", after: "norm", gamma: "text", beta: "text", product: "norm" };
/** What the stages are called in a table that is saved. */
const COLUMNS = {
  after: { rms: "x_over_rms", layer: "x_less_mean_over_deviation" },
  product: { rms: "product", layer: "output" },
};

const ROWS = 8;
const FIELDS = ["channel", "x", "share", "after", "gamma", "product"];

/**
 * @param {(channel: number | null, keep: boolean) => void} act called with the row's channel, null when the pointer
 *   leaves
 */
function createChannels(act) {
  const table = createTable(
    "norm-vector",
    FIELDS.map((name, i) => [name, i ? "td.gp-number" : "th.gp-number"]),
    { rows: ROWS, focus: true },
  );
  let channels = [];
  const look = (channel) => act(channel, false);
  linkRows(
    table.element,
    { preview: look, endPreview: () => look(null), select: (channel) => act(channel, true) },
    (/** @type {HTMLTableRowElement} */ { sectionRowIndex }) => channels[sectionRowIndex],
  );

  /** @param {import("./vector.js").Vector} vector */
  function fill(vector, chosen) {
    const { x, gamma, mean, meanSquare } = vector;
    channels = strongest(x, ROWS);
    table.fill(channels, (fields, c) => {
      const share = `${shown((100 * (x[c] - mean) ** 2) / (meanSquare * x.length), 3)} %`;
      const { after, product } = normedAt(vector, c);
      writeTexts(fields, [String(c), shown(x[c], 5), share, shown(after, 5), shown(gamma[c], 5), shown(product, 5)]);
    });
    table.mark((i) => channels[i] === chosen);
  }
  return { box: listed(".norm-channels", "norm-vector.largest", table), fill };
}

export const about = {
  tensors: [
    "resid_in",
    "attn_norm_mean",
    "attn_norm_rms",
    "attn_normed",
    "resid_mid",
    "ffn_norm_mean",
    "ffn_norm_rms",
    "ffn_normed",
  ],
  difference: "norm",
  forms: normForms,
};

/**
 * @param {HTMLElement} element
 * @param {object} glass
 */
export default function normVector(element, glass) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-part": "strips", "data-text-label": `${KIND}.strips` });
  const chart = h("canvas.gp-canvas", { "data-text-label": `${KIND}.depth` });
  const view = reactive({ zoom: null, hovered: null }, glass.repaint);
  const drawn = { vector: null, stages: null, chosen: 0 };
  const csv = () => {
    if (!drawn.stages) return [];
    const kind = drawn.vector.beta ? "layer" : "rms";
    const stages = Object.entries(drawn.stages);
    return [
      ["channel", ...stages.map(([name]) => COLUMNS[name]?.[kind] ?? name)],
      ...Array.from(drawn.vector.x, (_, i) => [i, ...stages.map(([, values]) => values[i])]),
    ];
  };
  const panel = frame(element, glass, KIND, { csv, parts: ["what", "formula", "myth"] });
  const norms = normButtons(glass);
  const [formula, note, massive, depthTitle] = [
    h("div.gp-formula"),
    h("p.gp-note"),
    h("p.gp-note"),
    h("h3.gp-subtitle"),
  ];
  const channels = createChannels((channel, keep) => pick(channel, keep));
  const bar = h("div.norm-bar", null, norms.element, zoomButtons(zoomBy));
  const columns = h("div.gp-columns", null, h("div", null, formula, massive), channels.box);
  panel.body.append(
    bar,
    canvas,
    note,
    columns,
    depthTitle,
    h("p.gp-note", { "data-text": `${KIND}.depth_note` }),
    chart,
  );
  const strips = createStrips(canvas, { label: 24, strip: 32, axis: true });
  const wide = widthOf(panel.body, glass);

  function pick(channel, keep) {
    view.hovered = keep ? null : channel;
    if (!keep) return;
    view.zoom = showing(view.zoom, channel, drawn.vector.x.length);
    setNorm(glass, { channel });
  }
  function zoomBy(name) {
    const size = drawn.vector?.x.length;
    if (!size) return;
    if (name === "all") view.zoom = { start: 0, count: size };
    else view.zoom = zoomed(view.zoom, size, fewest(wide()), drawn.chosen, name === "closer");
  }
  const pointed = pointAt(
    canvas,
    glass,
    (x) => (drawn.vector ? strips.find(x) : null),
    (channel) => pick(channel, true),
  );
  canvas.addEventListener("dblclick", () => zoomBy("closer"));
  const key = (name) => () => (zoomBy(name), {});
  bindArrowKeys(canvas, glass, {
    ...along(
      () => drawn.vector?.x.length ?? 0,
      () => drawn.chosen,
      (channel) => (pick(channel, true), {}),
    ),
    "+": key("closer"),
    "=": key("closer"),
    "-": key("wider"),
    0: key("all"),
  });
  let under = null; // the norm under the pointer
  bindPointer(chart, glass, (x) => {
    under = findDepth(wide(), state.trace.model, x);
    return { layer: under.layer };
  });
  chart.addEventListener("click", () => setNorm(glass, { which: under.norm }));

  /** The channel under the pointer, else the one that was clicked, else the largest. */
  function choose({ x }) {
    return pointed() ?? view.hovered ?? chosenChannel(glass, x.length) ?? strongest(x, 1)[0];
  }

  function tell(vector, channel) {
    const { norm, layer, token, eps, mean, meanSquare, rms, x, gamma, beta } = vector;
    const { after, product } = normedAt(vector, channel);
    const name = `${norm === "final" ? "final" : `layer ${layer} ${norm}`} token ${token} channel ${channel}`;
    const numbers = beta
      ? {
          before: x[channel],
          mean,
          variance: meanSquare,
          eps,
          deviation: rms,
          after,
          gamma: gamma[channel],
          beta: beta[channel],
          output: product,
        }
      : { before: x[channel], mean_square: meanSquare, eps, rms, after, gamma: gamma[channel], product };
    const params = {
      channel,
      x: shown(x[channel], 5),
      product: shown(product, 5),
      rms: shown(rms, 5),
      mean: shown(mean, 5),
    };
    panel.tell(
      `${name} ${Object.entries(numbers)
        .map(([key, value]) => `${key}=${exact(value)}`)
        .join(" ")}`,
      panel.text("read", params),
    );
  }

  const deepen = memo((width, vector, depth) => {
    panel.title.textContent = panel.text(`title_${vector.norm}`, nameOf(vector, state));
    depthTitle.textContent = panel.text("depth_title", nameOf(vector, state));
    drawDepth(chart, width, state.trace, vector.token, vector, depth, panel.text);
  });
  return inWidth(element, wide, function draw(width) {
    norms.mark();
    const vector = vectorAt(glass);
    const depth = glass.detail("norm_depth", {});
    element.classList.toggle("is-coming", !vector);
    if (!vector) return;
    if (drawn.vector?.x.length !== vector.x.length) view.zoom = null;
    const zoom = within(view.zoom ?? { start: 0, count: vector.x.length }, vector.x.length);
    view.zoom = same(view.zoom, zoom);
    const { start, count } = zoom;
    const chosen = choose(vector);
    Object.assign(drawn, { vector, stages: drawn.vector === vector ? drawn.stages : stagesOf(vector), chosen });
    deepen(width, vector, depth);
    const { x } = vector;
    const named = Object.entries(drawn.stages).map(([name, values]) => ({
      name: panel.text(`strip_${name}`),
      role: ROLES[name],
      values,
    }));
    strips.draw(width, named, { chosen, lead: named[0], ...zoom });
    const each = strips.perColumn(count);
    note.textContent =
      each > 1
        ? panel.text("pooled", { each: each.toFixed(1) })
        : panel.text("window", { first: start, last: start + count - 1, d: x.length });
    formula.replaceChildren(...arithmetic(vector, chosen, panel.text));
    const median = medianMagnitude(x);
    const top = strongest(x, 1)[0];
    massive.textContent = panel.text("massive", {
      channel: top,
      value: shown(Math.abs(x[top]), 4),
      times: shown(Math.abs(x[top]) / median, 3),
      median: shown(median, 3),
    });
    channels.fill(vector, chosen);
    tell(vector, chosen);
  });
}
