// Why RoPE turns: one pair as matrix, as complex numbers and channel by channel, the conditions that it is derived
// from, each checked on this run, and its long-term decay.

import { count as asCount, h, putText, shown } from "../../dom.js";
import { writtenOut } from "../../equation.js";
import { frame } from "../../frame.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { notTurned, turningForms } from "../../parts.js";
import { across, bindArrowKeys, inWidth, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { ropeDerivation as reader, SHIFT } from "../../readings/rope-derivation.js";
import { pairsOf } from "../../rotation.js";
import { readHere } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { named } from "../glance/words.js";
import { drawMatrix, drawPlane, isTurnSeen } from "./complex-plane.js";
import { formLines, stepsOf } from "./derivation-formulas.js";
import { adjust, small } from "./place.js";
import { createFar } from "./score-charts.js";
import { createScoreControls, spanOf } from "./score-controls.js";

/**
 * @typedef {import("../../readings/rope-derivation.js").DerivationReading} DerivationReading
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {(name: string, params?: Record<string, unknown>) => string} Say
 */

const KIND = "rope-derivation";
const STEPS = 4;
const ROUNDING = 1e-9; // of double precision, and less than any condition that fails is off by
const SPAN = "context"; // the bound's waves are longer than most texts

/**
 * @param {Glass} glass
 * @param {Pick<Glass["state"], "layer" | "head" | "query" | "key">} [place]
 * @param {number | null} [pointed] a distance
 * @returns {import("../../readings/rope-derivation.js").DerivationSelection}
 */
function select(glass, { layer, head, query, key } = glass.state, pointed = null) {
  const { distance, count } = spanOf(glass, SPAN);
  return { layer, head, query, key, pair: glass.state.pair, distance: pointed ?? distance, count };
}

export const about = {
  tensors: ["q", "k", "q_rot", "k_rot", "scores"],
  unused: "head",
  absent: notTurned("derivation"),
  forms: turningForms,
  difference: {
    reader,
    select,
    said: ["term", "far"],
    without: "b_minus_a.without_distance",
    parts: [
      {
        draw: "table",
        rows: "pairs",
        column: "term",
        title: "terms",
        heading: "pair",
        selects: "pair",
        name: (/** @type {any} */ { key: { pair } }) => String(pair),
        most: 16,
      },
    ],
  },
};

/** What each condition asks, this pair's numbers, and how far these are from it. @param {Say} text */
function createSteps(text) {
  /** @type {[string, string][]} */
  const columns = [
    ["step", "th.gp-token.position-case"],
    ["here", "td.position-words"],
    ["apart", "td.gp-number"],
  ];
  const table = createTable(KIND, columns, { rows: STEPS, look: ".gp-stacked" });
  /** @param {DerivationReading} reading */
  function fill(reading) {
    table.fill(stepsOf(reading, text), (fields, { step, numbers, apart }) => {
      const [name, here, number] = fields;
      const isRounding = apart !== 0 && Math.abs(apart) < ROUNDING;
      writeTexts([name, number], [step, isRounding ? text("rounding") : small(apart)]);
      putText(here, numbers);
      for (const i of [1, 2]) fields[i].dataset.head = text(columns[i][0]); // on a telephone it stands in the cell
    });
  }
  return { box: listed(".position-table", `${KIND}.steps`, table), fill };
}

/**
 * The bound over distance.
 *
 * @param {Glass} glass
 * @param {Say} text
 * @param {() => number} wide
 */
function createChart(glass, text, wide) {
  const keep = (/** @type {number} */ distance) => adjust(glass, { distance });
  const bound = createFar(glass, `${KIND}.bound_chart`, wide, keep);
  const { one, spans, show } = createScoreControls(glass, SPAN);
  const boundText = (/** @type {string} */ name) => text(name === "far_axis" ? "bound_axis" : name);
  const draw = memo((/** @type {DerivationReading} */ { bound: curve, selection }, width, distance, _curve) => {
    const real = selection.query - selection.key;
    bound.draw(width, { curve, run: null, real, distance, least: 0, text: boundText });
  });
  return { canvas: bound.canvas, one, spans, show, draw, pointed: bound.pointed };
}

/**
 * The pair in the complex plane, and R_m in both orders.
 *
 * @param {Glass} glass
 * @param {Say} text
 */
function createPictures(glass, text) {
  const [plane, paired, stored] = ["plane", "paired", "stored"].map((name) =>
    h("canvas.gp-canvas", { role: "img", "data-part": name, "data-text-label": `${KIND}.${name}_label` }),
  );
  bindArrowKeys(plane, glass, across("pair"));
  const [left, right] = [h("div", null, plane), h("div", null, paired)];
  const last = h("div", null, stored);
  const [planeWide, pairedWide, storedWide] = [left, right, last].map((box) => widthOf(box, glass));
  const draw = memo((/** @type {DerivationReading} */ reading, model, planeWidth, pairedWidth, storedWidth, _pair) => {
    const { forms, place, selection } = reading;
    const { rotary } = model.parts;
    const what = { rotary, size: model.head_dim, position: place.m, pair: selection.pair };
    if (planeWidth) drawPlane(plane, planeWidth, forms, place);
    if (pairedWidth) drawMatrix(paired, pairedWidth, { ...what, stored: false });
    if (storedWidth) drawMatrix(stored, storedWidth, { ...what, stored: true });
  });
  return {
    left,
    right,
    last,
    /** @param {DerivationReading} reading */
    turns: (reading) => turnsOf(reading, planeWide(), text),
    /** @param {DerivationReading} reading */
    draw: (reading) => draw(reading, reading.place.model, planeWide(), pairedWide(), storedWide(), reading.forms),
  };
}

/**
 * How far q and k are turned, in words: what is too small an angle to be seen is said to be there nevertheless.
 *
 * @param {DerivationReading} reading
 * @param {number} width of the room for the plane
 * @param {Say} text
 */
const turnsOf = ({ forms: { theta }, place: { m, n } }, width, text) =>
  /** @type {["q" | "k", number][]} */ ([
    ["q", m],
    ["k", n],
  ]).map(([vector, position]) => {
    const angle = position * theta;
    const said = { vector, angle: shown(angle, 3), degrees: shown((angle * 180) / Math.PI, 3) };
    return text(angle && !isTurnSeen(width, angle) ? "turn_unseen" : "turn", said);
  });

/**
 * What to notice: the angles, and that their difference alone counts.
 *
 * @param {DerivationReading} reading
 * @param {Say} text
 */
function noticeOf({ forms: { theta, term, shifted }, place: { m, n }, selection: { pair } }, text) {
  const angles = writtenOut(
    { theta, angle: m * theta, other: n * theta },
    [
      ["angle", ["theta"], (x) => m * x],
      ["other", ["theta"], (x) => n * x],
    ],
    { digits: 3, most: 3 },
  );
  return text("notice", {
    pair,
    m,
    n,
    shift: SHIFT,
    ...angles,
    apart: shown((m - n) * theta, 3),
    term: shown(term, 3),
    shifted: shown(shifted, 3),
  });
}

/**
 * How the bound falls, and what this head does.
 *
 * @param {DerivationReading} reading
 * @param {Say} text
 */
function decayOf({ bound, curve, limit, place: { rest }, selection: { distance } }, text) {
  return text(distance ? "decay_note" : "decay_start", {
    distance,
    first: shown(bound[0], 3),
    here: shown(bound[distance], 3),
    far: shown(curve[distance] - rest, 3),
    limit: limit < 1000 ? shown(limit, 3) : asCount(Math.round(limit)),
  });
}

/**
 * What the whole matrix takes, and what the form by channels does.
 *
 * @param {DerivationReading} reading
 * @param {Say} text
 */
function matrixNote({ place: { model, m } }, text) {
  const [width, turned] = [model.head_dim, 2 * pairsOf(model)];
  return text("matrix_note", {
    m,
    width,
    all: asCount(width * width),
    filled: 2 * turned + (width - turned),
    by_channel: 2 * turned,
  });
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function ropeDerivation(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "layout", "myth"] });
  const { text } = panel;
  const wide = widthOf(panel.body, glass);
  const [pictures, steps, chart] = [createPictures(glass, text), createSteps(text), createChart(glass, text, wide)];
  const title = (/** @type {string} */ name) => html`<h3 class="gp-subtitle" data-text=${`${KIND}.${name}`}></h3>`;
  const note = (/** @type {string} */ said) => html`<p class="gp-note" .textContent=${said}></p>`;

  /** @param {DerivationReading | null} reading null before it has come */
  function view(reading) {
    const say = (/** @type {(reading: DerivationReading, text: Say) => string} */ words) =>
      reading ? words(reading, text) : "";
    return html`
      <p class="wy-notice" .textContent=${say(noticeOf)}></p>
      <div class="position-pictures">
        <div>${title("plane")} ${pictures.left} ${reading && pictures.turns(reading).map(note)}</div>
        <div>${title("paired")} ${pictures.right}</div>
        <div>${title("stored")} ${pictures.last}</div>
      </div>
      ${note(say(matrixNote))}
      <div class="gp-formula" data-part="formula">${reading && formLines(reading, text)}</div>
      ${title("steps")} ${steps.box} ${title("decay")}
      <div class="position-sliders">${chart.one} ${chart.spans}</div>
      ${note(say(decayOf))} ${chart.canvas}
    `;
  }
  render(view(null), panel.body);

  /** @param {DerivationReading} reading */
  function tell(reading) {
    const { layer, head, query, key, pair } = reading.selection;
    const { pieces } = /** @type {Trace} */ (state.trace).tokens;
    const tokens = { query: named(glass.text, pieces, query), key: named(glass.text, pieces, key) };
    panel.title.textContent = text("title", { layer, head, pair, ...tokens });
    const { term, by_distance: same, wrong_sign: wrong } = reading.values;
    panel.show(reading, text("read", { pair, term: shown(term, 4), same: shown(same, 4), wrong: shown(wrong, 4) }));
  }

  return inWidth(element, wide, function draw(width) {
    const at = (/** @type {Pick<Glass["state"], "layer" | "head" | "query" | "key">} */ place) =>
      select(glass, place, chart.pointed());
    const reading = readHere(glass, reader, at(state), at(state.locked));
    element.classList.toggle("is-coming", !reading);
    if (!reading) return undefined;
    pictures.draw(reading);
    chart.draw(reading, width, reading.selection.distance, reading.curve);
    return () => {
      const { count } = spanOf(glass, SPAN);
      chart.show({ count, distance: reading.selection.distance });
      render(view(reading), panel.body);
      steps.fill(reading);
      tell(reading);
    };
  });
}
