// The run's attention sinks: what writes their spike, how large their stream is, what heads read there, and what the
// last token loses without them.

import { labelsOf } from "../../characters.js";
import { h, shown, signed } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { inWidth, widthOf } from "../../pointing.js";
import { sinksReader } from "../../readings/sinks.js";
import { readHere } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { drawSizes } from "./sinks-chart.js";

/** @typedef {import("../../readings/sinks.js").SinksReading} SinksReading */
/** @typedef {import("../../decode.js").Trace} Trace */

const KIND = "sinks";
const MOST = 3; // that are told of one by one

export const about = { tensors: ["resid_in", "attn_out", "ffn_out", "resid_out", "v", "attention"] };

/** @param {string} line */
const paragraph = (line) => html`<p .textContent=${line}></p>`;

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {(name: string, params?: Record<string, unknown>) => string} text of the panel
 */
function createWords(glass, text) {
  /**
   * @param {Trace} trace
   * @param {number} token
   */
  const named = (trace, token) =>
    glass.text("marks.token", { token, piece: visible(labelsOf(trace.tokens.pieces)[token]) });

  /**
   * What is told of one sink.
   *
   * @param {Trace} trace
   * @param {SinksReading} reading
   * @param {number} i
   */
  function linesOf(trace, { found, others, sizes, selection }, i) {
    const { token, writer, layer, channel, before, after, wrote, parked, lost } = found.sinks[i];
    const depth = layer === null ? 0 : layer + 1;
    const numbers = { before: shown(before, 4), after: shown(after, 5), wrote: signed(wrote, 5) };
    const rms = shown(found.rms.data[depth * trace.T + token], 4);
    const { norm, others: beside } = sizes[i];
    const value = norm < beside / 2 ? "value_small" : "value_constant";
    const heads = trace.model.n_layers * trace.model.n_heads;
    return [
      text(`wrote_${writer}`, { token: named(trace, token), layer, channel, ...numbers }),
      text("sizes", { rms, others: shown(others[depth], 3) }),
      text(value, { ...selection, norm: shown(norm, 3), others: shown(beside, 3) }),
      parked === null ? text("unmeasured") : text("parked", { parked, heads }),
      lost === null ? "" : text("lost", { answer: visible(found.piece ?? ""), change: signed(-lost, 3) }),
    ].filter(Boolean);
  }
  return { named, linesOf };
}

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function sinksPanel(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth", "source"], pointed: false });
  const canvas = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart` });
  const wide = widthOf(panel.body, glass);
  const { named, linesOf } = createWords(glass, panel.text);

  /**
   * @param {Trace} trace
   * @param {SinksReading} reading
   */
  function notice(trace, { found, most: { token, times, value } }) {
    const tokens = found.sinks.map((one) => named(trace, one.token)).join(glass.text("why.list"));
    if (tokens) return panel.text("notice", { tokens, count: found.sinks.length });
    const limits = { large: found.large, spike: found.times };
    return panel.text("none", {
      token: named(trace, token),
      value: shown(value, 3),
      times: shown(times, 3),
      ...limits,
    });
  }
  /**
   * Which heads rest on the first token, as the list of all heads has them.
   *
   * @param {SinksReading} reading
   */
  function restText({ resting, found }) {
    const heads = resting.map(({ layer, head, score }) =>
      panel.text("rest_head", { layer, head, score: shown(score, 3) }),
    );
    const name = found.sinks.length ? "rest" : "rest_none";
    return heads.length ? panel.text(name, { heads: heads.join(glass.text("why.list")) }) : "";
  }
  /**
   * @param {Trace} trace
   * @param {SinksReading} reading
   */
  function view(trace, reading) {
    const rest = restText(reading);
    const told = reading.found.sinks.slice(0, MOST).map((_, i) => linesOf(trace, reading, i));
    return html`
      <p class="wy-notice" .textContent=${notice(trace, reading)}></p>
      <h3 class="gp-subtitle" ?hidden=${!told.length} .textContent=${panel.text("chart_title")}></h3>
      <div ?hidden=${!told.length}>${canvas}</div>
      ${told.map((lines) => html`<div class="at-spike">${lines.map(paragraph)}</div>`)} ${rest ? paragraph(rest) : ""}
    `;
  }
  /**
   * @param {number} width
   * @param {Trace} trace
   * @param {SinksReading} reading
   */
  function drawChart(width, trace, { found, others }) {
    const depths = others.map((_, depth) => depth);
    const lines = found.sinks.slice(0, MOST).map(({ token }) => ({
      name: visible(labelsOf(trace.tokens.pieces)[token]),
      role: "output",
      values: depths.map((depth) => found.rms.data[depth * trace.T + token]),
    }));
    const beside = { name: panel.text("others"), role: "muted", values: others };
    drawSizes(canvas, width, others.some((value) => value > 0) ? [...lines, beside] : lines, {
      axis: panel.text("axis"),
      scale: panel.text("scale"),
    });
  }

  return inWidth(element, wide, function draw(width) {
    const { trace, locked } = state;
    const reading = readHere(glass, sinksReader, { layer: locked.layer, head: locked.head });
    element.toggleAttribute("data-loading", !reading);
    if (!reading || !trace) return undefined;
    if (reading.found.sinks.length) drawChart(width, trace, reading);
    return () => {
      const tokens = reading.found.sinks.map(({ token }) => named(trace, token)).join(glass.text("why.list"));
      panel.title.textContent = panel.text(tokens ? "title" : "title_none", { tokens });
      render(view(trace, reading), panel.body);
      panel.show(reading, "");
    };
  });
}
