// Every head, layer by layer: what the answer loses without it, and which heads work against it.

import { largest, onceFor, strongest } from "../../arrays.js";
import { choices } from "../../controls.js";
import { shareSaid } from "../../counts.js";
import { fixed, h, shown, signed } from "../../dom.js";
import { createDepthMap } from "../../marks/depth.js";
import { signedScale } from "../../marks/scales.js";
import { widthOf } from "../../pointing.js";
import { oneLine } from "../../one-line.js";
import { hold } from "../../scroll-anchor.js";
import { KNOWN, jobsOf, namesOf } from "../attend/known.js";
import { toThree } from "../kv/format.js";
import { takenOut } from "./ablation.js";
import { sentences } from "./words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../decoded.d.ts").Detail<"why">} Why
 *
 * @typedef {NonNullable<Why["grid"]>} Grid
 *
 * @typedef {import("../../marks/runs.js").RunWith<{ grid: Grid }>} GridRun
 */

/**
 * Two, or where all heads would have 0.00, as many as give the largest two digits.
 *
 * @param {ArrayLike<number>} values
 */
function decimalsOf(values) {
  const most = largest(values);
  return most === 0 || Number(fixed(most, 2)) ? 2 : 1 - Math.floor(Math.log10(most));
}

/**
 * With a sign, which tells without colour what helps the answer; a number that is next to nothing has none, and
 * what is not known yet is a dot.
 *
 * @param {number} x
 * @param {number} decimals
 */
function withItsSign(x, decimals) {
  if (Number.isNaN(x)) return "·";
  const digits = fixed(Math.abs(x), decimals);
  return Number(digits) ? `${x > 0 ? "+" : "−"}${digits}` : digits;
}

/**
 * What is lost as probabilities, and in nats, which a lesson leaves to the map's cells: log p less what is lost is
 * the log of what is left.
 *
 * @param {Glass} glass
 * @param {number} probability of the answer, with every head
 * @param {number} lost
 */
const lossOf = ({ state: { presenting }, text }, probability, lost) => ({
  nats: presenting ? "" : text(`why.grid_${lost < 0 ? "more" : "less"}`, { lost: shown(Math.abs(lost), 3) }),
  before: shareSaid(text, probability),
  after: shareSaid(text, probability * Math.exp(-lost)),
});

/**
 * What a lesson says of a head's number: how many times less probable the answer is. Nothing where it rounds to 0.
 *
 * @param {Glass} glass
 * @param {number} lost
 * @param {boolean} written whether the cells have their numbers
 */
function timesOf({ state: { presenting }, text }, lost, written) {
  const digits = fixed(Math.abs(lost), 2);
  if (!presenting || !written || !Number(digits)) return "";
  return text("why.grid_times", { lost: digits, times: toThree(Math.exp(Number(digits))) });
}

/** @param {GridRun} run */
function wordsOf({ details: { grid } }) {
  const { data, shape } = grid.lost;
  const decimals = decimalsOf(data);
  return (/** @type {number} */ layer, /** @type {number} */ head) =>
    withItsSign(data[layer * shape[1] + head], decimals);
}

/**
 * A grid in which what is not known yet is NaN: where all heads are to be run, there is no estimate.
 *
 * @type {(grid: Grid, part: import("./measuring.js").Part | null) => Grid}
 */
export const knownOf = onceFor((grid, part) => {
  const { lost, measured } = grid;
  if (!part || part.total < measured.data.length) return grid;
  const data = lost.data.map((x, i) => (measured.data[i] ? x : NaN));
  return { ...grid, lost: { ...lost, data } };
});

/**
 * How many heads were run, and how many there are.
 *
 * @param {Grid} grid
 */
export const countsOf = ({ measured: { data } }) => ({
  measured: Array.from(data).filter(Boolean).length,
  all: data.length,
});

/**
 * The head without which most is lost.
 *
 * @param {Grid} grid
 */
function mostMissed({ lost: { data, shape } }) {
  const losses = data.map((value) => Math.max(0, value));
  const [at] = strongest(losses, 1);
  return { layer: Math.floor(at / shape[1]), head: at % shape[1], lost: data[at] };
}

/**
 * In a lesson, the jobs that a head is known to do; "" where none is, or none yet.
 *
 * @param {Glass} glass
 * @param {number} layer
 * @param {number} head
 */
function jobText(glass, layer, head) {
  const { state, text } = glass;
  if (!state.presenting) return "";
  const jobs = jobsOf(namesOf(glass), layer, head).filter(({ name }) => KNOWN.includes(name));
  return oneLine(jobs.map(({ name }) => text("why.grid_job", { does: text(`why.does_${name}`) })));
}

/**
 * The head without which most is lost, unless it is the framed one, of which that is said.
 *
 * @param {Glass} glass
 * @param {Grid} grid
 * @param {number} probability of the answer, with every head
 * @param {boolean} written whether the cells have their numbers
 */
function mostOf(glass, grid, probability, written) {
  const { layer, head, lost } = mostMissed(grid);
  const framed = layer === glass.state.layer && head === glass.state.head;
  if (framed || lost <= 0) return "";
  const said = glass.text("why.grid_most", {
    layer,
    head,
    ...lossOf(glass, probability, lost),
    kind: takenOut(glass, grid),
  });
  return oneLine([said, timesOf(glass, lost, written), jobText(glass, layer, head)]);
}

/**
 * How far the heads are measured, and a button that stops it or goes on; hidden once all are.
 *
 * @param {Glass} glass
 * @param {() => void} toggle
 */
function createProgress(glass, toggle) {
  const bar = h("progress", { "data-text-label": "why.grid" });
  const press = h("button.gp-option", { "data-part": "measuring", click: toggle });
  const element = h("div.gp-options", { hidden: "" }, press, bar);
  /** @param {import("./measuring.js").Heads | null} heads */
  function draw(heads) {
    element.hidden = !heads || heads.complete;
    if (!heads) return;
    press.textContent = glass.text(`why.heads_${heads.stopped ? "on" : "stop"}`);
    Object.assign(bar, { max: Math.max(1, heads.part?.total ?? 1), value: heads.part?.done ?? 0 });
  }
  return { element, draw };
}

/**
 * Keeps a choice where it is pressed: while heads are measured anew, what stands above it goes and comes.
 *
 * @param {HTMLElement} choice
 * @param {HTMLElement} around what is hidden meanwhile
 */
function keepPlace(choice, around) {
  function stay() {
    const { top } = choice.getBoundingClientRect();
    hold(() => around.hidden || scrollBy(0, choice.getBoundingClientRect().top - top));
  }
  choice.addEventListener("click", stay, { capture: true }); // before the panel is drawn anew
}

/** A line that says how much is lost. @param {string} name */
const saysHow = (name) => h(`p.gp-note.${name}`, { "data-result": "", "data-answer": "beside" });

/**
 * @param {Glass} glass
 * @param {() => void} toggle stops the measuring, or goes on with it
 */
export function createMissed(glass, toggle) {
  const { state, text } = glass;
  const ablation = choices(glass, "why", "ablation", ["mean", "zero"]);
  const [most, read] = ["wy-most", "wy-read"].map(saysHow);
  const [about, progress] = [h("p.gp-note.wy-about"), createProgress(glass, toggle)];
  /** @type {Grid | null} */
  let grid = null;
  let estimated = false; // heads that are not measured have a gradient's estimate
  let probability = NaN; // of the answer, with every head
  const plain = () => (state.presenting ? "_plain" : ""); // a class knows no logarithm

  /**
   * The framed head's number in words.
   *
   * @param {number} layer
   * @param {number} head
   */
  function tell(layer, head) {
    if (!grid) return "";
    const i = layer * grid.lost.shape[1] + head;
    const lost = grid.lost.data[i];
    if (!grid.measured.data[i] && !estimated) return text("why.grid_unmeasured", { layer, head });
    if (!grid.measured.data[i]) return text("why.grid_estimated", { layer, head, lost: signed(lost, 3) });
    const form = lost < 0 ? "against" : "for";
    return text(`why.grid_${form}`, { layer, head, ...lossOf(glass, probability, lost), kind: takenOut(glass, grid) });
  }
  const map = createDepthMap(glass, {
    label: "why.grid",
    left: 84,
    values: (/** @type {GridRun} */ { details }) => details.grid.lost.data,
    scale: (values) => ({ ...signedScale(largest(values), 2), name: text(`why.grid_scale${plain()}`) }),
    pieces: ({ details }) => Array.from({ length: details.grid.lost.shape[1] }, (_, head) => String(head)),
    axis: () => text("why.grid_heads"),
    name: (row) => text("why.layer", { layer: row }),
    at: ({ layer, head }) => ({ row: layer, token: head }),
    word: wordsOf,
    whole: true,
    pick: ({ row, token }) => ({ layer: row, head: token }),
    moves: {
      ArrowUp: (at) => ({ layer: at.layer + 1 }),
      ArrowDown: (at) => ({ layer: at.layer - 1 }),
      ArrowLeft: (at) => ({ head: at.head - 1 }),
      ArrowRight: (at) => ({ head: at.head + 1 }),
    },
  });
  map.canvas.dataset.answer = "drawn";
  const heading = h("h3.gp-subtitle", { "data-text": "why.grid" });
  const element = h(
    "div.wy-missed",
    { hidden: "" },
    heading,
    ablation.element,
    about,
    progress.element,
    map.element,
    read,
    most,
  );
  const wide = widthOf(map.element, glass);
  keepPlace(ablation.element, element);

  /**
   * What was done, by how much.
   *
   * @param {Grid} shown
   * @param {import("./measuring.js").Heads | null} heads
   */
  function aboutOf(shown, heads) {
    const { measured, all } = countsOf(shown);
    const by = text(`why.by_${shown.ablation}`);
    if (heads?.part && !heads.complete) return text("why.grid_so_far", { measured, total: heads.part.total, by });
    const how = text(`why.grid_${measured < all ? "some" : "all"}`, { measured, all, by });
    const isOther = shown.ablation !== "zero" && !state.presenting; // than the story's, which tells other numbers then
    return sentences(text, how, isOther ? text("why.grid_story") : "");
  }

  /**
   * @param {Grid | null} found
   * @param {import("./measuring.js").Heads | null} heads null where they are not measured in parts
   * @param {boolean} fresh
   * @param {number} answered how probable the answer is
   */
  function draw(found, heads, fresh, answered) {
    [grid, probability] = [found && knownOf(found, heads?.part ?? null), answered];
    ablation.show(); // another text puts the setting back
    element.hidden = !grid;
    if (!grid) return;
    estimated = Boolean(heads?.part && heads.part.total < countsOf(grid).all);
    about.textContent = aboutOf(grid, heads);
    progress.draw(heads);
    const width = wide();
    const trace = /** @type {import("../../decode.js").Trace} */ (state.trace);
    if (width) map.draw([{ trace, details: { grid } }], width, fresh);
    const whole = countsOf(grid).measured === countsOf(grid).all;
    most.textContent = whole ? mostOf(glass, grid, probability, map.written()) : "";
    read.textContent = tell(state.layer, state.head);
  }
  return { element, draw };
}
