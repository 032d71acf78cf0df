// One row of one head: a bar a key, the arithmetic of the chosen key, and the largest weights.

import { strongest } from "../../arrays.js";
import { biasAt, keysSeen, row } from "../../compute.js";
import { h, share, shown } from "../../dom.js";
import { cross, fit, hatch, ink, shade, visible, write } from "../../draw.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { drawOff, headOff } from "../../off.js";
import { sinkText } from "./sink.js";
import { scoreLine, weightLine } from "./formulas.js";

const [HEIGHT, BELOW, ABOVE] = [112, 26, 20];
const LARGEST = 6;

/** Short enough to stand over a bar. */
const brief = (weight) => (weight >= 0.001 ? weight.toFixed(3) : "<0.001");

/** Top of the axis: 1, or the next of 0.5, 0.2, 0.1 … above the largest weight. */
export function ceilingOf(weights) {
  const largest = weights.reduce((a, b) => Math.max(a, b), 0);
  return [0.1, 0.2, 0.5].find((top) => largest <= top) ?? 1;
}

/**
 * The largest weights of a row as a table, and all others as their sum.
 *
 * @param {string} section of the texts
 * @param {string} heading of the tokens
 * @param {(count: number) => string} others what so many others are called
 * @returns {{
 *   element: HTMLElement;
 *   fill: (row: { scores: Float64Array; weights: Float64Array }, pieces: string[]) => void;
 * }}
 */
export function createLargest(section, heading, count, others) {
  const table = createTable(
    section,
    [
      [heading, "th.gp-token"],
      ["score", "td.gp-number"],
      ["weight", "td.gp-number"],
    ],
    { rows: count + 1 },
  );
  function fill({ scores, weights }, pieces) {
    const order = strongest(weights, count);
    const rest = weights.reduce((sum, weight) => sum + weight, 0) - order.reduce((sum, t) => sum + weights[t], 0);
    const listed = order.map((t) => [`${visible(pieces[t])}  (${t})`, shown(scores[t], 4), share(weights[t])]);
    if (weights.length > count) listed.push([others(weights.length - count), "", share(Math.max(0, rest))]);
    table.fill(listed, writeTexts);
  }
  return { element: table.element, fill };
}

/**
 * @param {HTMLElement} place
 * @param {object} glass
 * @param {Function} text
 */
export function createRow(place, glass, text) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": "attention.row" });
  const heading = h("h3.gp-subtitle");
  const formula = h("div.gp-formula");
  const table = createLargest("attention", "key", LARGEST, (count) => text("others", { count }));
  const sink = h("p.gp-note");
  place.append(heading, canvas, h("div.gp-columns", null, h("div", null, formula, sink), table.element));

  let wide = 1;
  function find(x) {
    const {
      trace: { T, model },
      query,
    } = glass.state;
    const key = Math.floor((x / wide) * T);
    return key >= 0 && key < keysSeen(model, query, T) ? { key } : null;
  }

  function drawBars(width, weights, { trace, key }) {
    const context = fit(canvas, width, ABOVE + HEIGHT + BELOW);
    const { colour, magnitude } = ink();
    const column = width / trace.T;
    const ceiling = ceilingOf(weights);
    const foot = ABOVE + HEIGHT;
    const gap = column > 6 ? 2 : 0;
    const seen = weights.length;
    context.fillStyle = colour("grid");
    for (const part of [0.5, 1]) context.fillRect(0, foot - part * HEIGHT, seen * column, 1);
    if (seen < trace.T) hatch(context, seen * column, ABOVE, width - seen * column, HEIGHT);
    weights.forEach((weight, t) => {
      const high = Math.max(1, (weight / ceiling) * HEIGHT);
      context.fillStyle = shade(magnitude, Math.sqrt(weight));
      context.fillRect(t * column + gap / 2, foot - high, Math.max(1, column - gap), high);
      if (gap) cross(context, t * column + gap / 2 + 0.5, foot - high + 0.5, column - gap - 1, high, [["muted", 1]]);
    });
    const off = headOff(trace, glass.state.layer, glass.state.head);
    if (off) drawOff(context, 0, ABOVE, seen * column, HEIGHT, glass.text("off.word"));
    cross(context, key * column + 1, ABOVE - 1, Math.max(2, column - 2), HEIGHT + 2, [["k", 3]]);
    labels(context, { column, foot, ceiling, width }, weights, { trace, key });
  }

  function labels(context, { column, foot, ceiling, width }, weights, { trace, key }) {
    const { colour } = ink();
    const apart = Math.ceil(44 / column);
    for (let t = 0; t < trace.T; t += apart) {
      const most = apart * column - 4;
      write(context, visible(trace.tokens.pieces[t]), t * column + 2, foot + 18, {
        most,
        colour: colour(t >= weights.length ? "muted" : "text"),
      });
    }
    if (column >= 54) {
      weights.forEach((weight, t) =>
        write(context, brief(weight), (t + 0.5) * column, ABOVE - 6, {
          align: "center",
          weight: t === key ? 600 : 400,
        }),
      );
    } else {
      const x = (key + 0.5) * column;
      const align = x < 44 ? "left" : x > width - 44 ? "right" : "center";
      write(context, share(weights[key]), align === "center" ? x : align === "left" ? 1 : width - 1, ABOVE - 6, {
        align,
        weight: 600,
      });
      const far = x > width / 2 ? 0 : width;
      write(context, text("ceiling", { ceiling }), far, ABOVE - 6, {
        align: far ? "right" : "left",
        colour: colour("muted"),
      });
    }
  }

  /** The softmax of the scores with the numbers of the chosen key. */
  function arithmetic({ scores, weights, top, total }, { head, query, key, trace: { model } }) {
    const [score, weight] = [scores[key], weights[key]];
    const dot = (score - biasAt(model, head, query - key)) / model.parts.scale;
    formula.replaceChildren(
      scoreLine(model, { dot, score, head, query, key }, text),
      weightLine({ score, top, total, weight }, text, ""),
    );
  }

  /**
   * Draws the bars.
   *
   * @returns {{ scores: Float64Array; weights: Float64Array }}
   */
  function draw(width) {
    wide = width;
    const { state } = glass;
    const found = row(glass.layer(), state.trace.model, state.head, state.query);
    drawBars(width, found.weights, state);
    return found;
  }

  /** What is told around the bars of the row that was drawn. */
  function tell(found) {
    const { state } = glass;
    const piece = visible(state.trace.tokens.pieces[state.query]);
    heading.textContent = text("row_title", { head: state.head, query: state.query, piece });
    arithmetic(found, state);
    table.fill(found, state.trace.tokens.pieces);
    sink.textContent = sinkText(found.weights, null, state, text);
  }
  return { canvas, draw, tell, find };
}
