// The table of the stages: a row for each of the first tokens, one for all others, a column for each filter.

import { shareSaid } from "../../counts.js";
import { count as asCount, h, shown } from "../../dom.js";
import { writeNumber, writeShare } from "../../marks/table.js";
import { sumAfter } from "../../readings/filters.js";
import { nameOfRank, othersIn, probabilityIn, STAGES } from "../../readings/sampling.js";

/**
 * @typedef {import("../../readings/sampling.js").Column} Column
 *
 * @typedef {import("../../readings/sampling.js").Place} Place
 *
 * @typedef {import("../../readings/sampling.js").SamplingReading} SamplingReading
 *
 * @typedef {ReturnType<typeof makeRow>} Row
 *
 * @typedef {import("../../types.d.ts").Says} Says
 */

/**
 * Something for each column, by its name.
 *
 * @template Made
 * @param {(stage: Column) => Made} make
 * @returns {Record<Column, Made>}
 */
const forEachStage = (make) => ({
  softmax: make("softmax"),
  all: make("all"),
  topK: make("topK"),
  topP: make("topP"),
});

/** @param {number} rank */
function makeRow(rank) {
  const [piece, logit, draw] = [h("th.gp-token", { scope: "row", dir: "auto" }), h("td.gp-number"), h("td.ch-draw")];
  const cells = forEachStage((stage) => {
    const [bar, number] = [h("span.ch-bar"), h("span.ch-number")];
    const cell = h("td.ch-cell", { "data-rank": rank, "data-stage": stage, tabindex: "-1" }, bar, number);
    return { bar, number, cell };
  });
  const row = h("tr", null, piece, logit, ...STAGES.map((stage) => cells[stage].cell), draw);
  return { row, piece, logit, cells, draw };
}

/** The columns' names; under that of each stage what it keeps, under that of the draw how it is made. */
function makeHead() {
  const kept = forEachStage(() => h("span.ch-kept"));
  const draw = h("span.ch-kept");
  const column = (/** @type {Column} */ stage) =>
    h("th.ch-head", { scope: "col" }, h("span", { "data-text": `sampling.stage_${stage}` }), kept[stage]);
  const race = h(
    "th.ch-head",
    { scope: "col", "data-text-title": "sampling.race_why" },
    h("span", { "data-text": "sampling.race" }),
    draw,
  );
  const head = h(
    "tr",
    null,
    h("th.is-left", { scope: "col", "data-text": "sampling.token" }),
    h("th", { scope: "col", "data-text": "sampling.logit" }),
    ...STAGES.map(column),
    race,
  );
  return { head, kept, draw };
}

/**
 * The cell that an element is in.
 *
 * @param {EventTarget | null} target
 * @returns {HTMLElement | null}
 */
const cellAt = (target) => (target instanceof Element ? target.closest("[data-stage]") : null);
/** @param {HTMLElement | null} cell */
const columnOf = (cell) => STAGES.find((stage) => stage === cell?.dataset.stage);

/** @type {Record<string, [number, number]>} down and to the right */
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * Cells are pointed at, and chosen by a click or with the focus, which the arrow keys move.
 *
 * @param {HTMLElement} body
 * @param {(place: Place | null, lock: boolean) => void} point
 * @param {() => Row[]} shownRows
 */
function pointAtCells(body, point, shownRows) {
  /**
   * @param {Event} event
   * @returns {Place | null}
   */
  const placeOf = ({ target }) => {
    const cell = cellAt(target);
    const [rank, stage] = [Number(cell?.dataset.rank), columnOf(cell)];
    return stage && rank >= 0 ? { rank, stage } : null;
  };
  body.addEventListener("pointerover", (event) => point(placeOf(event), false));
  body.addEventListener("pointerleave", () => point(null, false));
  body.addEventListener("click", (event) => {
    const place = placeOf(event);
    if (place) point(place, true);
  });

  body.addEventListener("keydown", (event) => {
    const cell = cellAt(event.target);
    const [stage, by] = [columnOf(cell), STEPS[event.key]];
    if (!stage || !by) return;
    const [down, right] = by;
    event.preventDefault();
    event.stopPropagation();
    const seen = shownRows();
    const at = seen.findIndex(({ row }) => row.contains(cell)) + down;
    seen[at]?.cells[STAGES[STAGES.indexOf(stage) + right]]?.cell.focus();
  });
  body.addEventListener("focusin", (event) => {
    const place = placeOf(event);
    if (place) point(place, true);
  });
}

/**
 * How the token of a rank fared in the race of the draw; null where it took no part.
 *
 * @param {SamplingReading} reading
 * @param {number} rank
 */
function thrownBy({ result, drawn }, rank) {
  if (!drawn?.race) return null;
  const { ids, throws, winner } = drawn.race;
  const id = result.ranked.order[rank];
  const at = ids.indexOf(id);
  return at >= 0 ? throws[at] : winner.id === id ? winner.throw : null;
}

/**
 * Writes a cell's probability, or a dash where there is none.
 *
 * @param {HTMLElement} field
 * @param {Says["whole"]} text
 * @param {number} p
 */
function writeChance(field, text, p) {
  if (p > 0) writeShare(field, text, p);
  else writeNumber(field, "–");
}

/**
 * Writes the token of a rank into a row.
 *
 * @param {Says} says
 * @param {Row} parts
 * @param {number} rank
 * @param {SamplingReading} reading
 */
function fill({ whole }, parts, rank, reading) {
  const { result, drawnRank } = reading;
  parts.piece.textContent = nameOfRank(reading, rank);
  writeNumber(parts.logit, shown(result.ranked.values[rank], 5));
  for (const stage of STAGES) {
    const p = probabilityIn(result, stage, rank);
    const { bar, number, cell } = parts.cells[stage];
    cell.dataset.rank = String(rank);
    bar.style.width = `${100 * p}%`;
    writeChance(number, whole, p);
    cell.classList.toggle("is-out", p === 0);
  }
  const thrown = thrownBy(reading, rank);
  const taken = rank === drawnRank;
  writeNumber(
    parts.draw,
    thrown === null ? (taken ? "✓" : "") : shown(probabilityIn(result, "topP", rank) / thrown, 4),
  );
  parts.row.classList.toggle("is-chosen", taken);
}

/**
 * What a stage keeps, under its name.
 *
 * @param {Says} says
 * @param {Column} stage
 * @param {SamplingReading} reading
 */
function keptText({ text, whole }, stage, { result: { ranked, after }, settings: { topK, topP } }) {
  const total = ranked.values.length;
  if (stage === "softmax") return text("kept_all", { kept: asCount(total) });
  if (after.greedy) return text(stage === "all" ? "kept_greedy" : "kept_unused");
  if (stage === "all") return text("kept_all", { kept: asCount(total) });
  /** @type {[boolean, import("../../readings/filters.js").Stage]} */
  const [off, from] = stage === "topK" ? [topK === 0, "all"] : [topP === 1, "topK"];
  const kept = after.kept[stage];
  return off
    ? text("kept_off", { kept: asCount(kept) })
    : text("kept", { kept: asCount(kept), mass: shareSaid(whole, sumAfter(after, stage) / sumAfter(after, from)) });
}

/**
 * @param {Says} says
 * @param {number} count rows
 * @param {(place: Place | null, lock: boolean) => void} point
 */
export function createStages(says, count, point) {
  const { head, kept, draw } = makeHead();
  const rows = Array.from({ length: count }, (_, i) => makeRow(i));
  const drawnRow = makeRow(-1);
  const others = makeRow(-2);
  others.row.classList.add("is-others");
  const body = h("tbody", null, ...rows.map(({ row }) => row), drawnRow.row, others.row);
  const element = h("table.gp-table.ch-stages", null, h("thead", null, head), body);

  const shownRows = () => [...rows, drawnRow].filter(({ row }) => !row.hidden);
  pointAtCells(body, point, shownRows);

  /** @param {SamplingReading} reading */
  function showOthers({ result, drawnRank }) {
    const total = result.ranked.values.length;
    const far = drawnRank >= count;
    others.row.hidden = total <= count;
    others.piece.textContent = says.text("others", { count: asCount(total - count - (far ? 1 : 0)) });
    for (const stage of STAGES) {
      const { bar, number, cell } = others.cells[stage];
      const left = othersIn(result, stage, count);
      const own = far ? probabilityIn(result, stage, drawnRank) : 0;
      const mass = Math.max(0, left.probability - own);
      bar.style.width = `${100 * mass}%`;
      writeChance(number, says.whole, mass);
      cell.classList.toggle("is-out", mass === 0);
    }
  }

  /** @param {SamplingReading} reading */
  function show(reading) {
    const { result, drawnRank } = reading;
    const total = result.ranked.values.length;
    rows.forEach((parts, i) => {
      parts.row.hidden = i >= total;
      if (i < total) fill(says, parts, i, reading);
    });
    const far = drawnRank >= count;
    drawnRow.row.hidden = !far;
    if (far) fill(says, drawnRow, drawnRank, reading);
    showOthers(reading);
    for (const stage of STAGES) kept[stage].textContent = keptText(says, stage, reading);
    const { greedy } = result.after;
    draw.textContent = says.text(greedy ? "kept_unused" : "race_means");
    element.classList.toggle("is-greedy", greedy);
    rows[0].cells.all.cell.tabIndex = greedy ? 0 : -1; // a narrow table leaves out what temperature 0 does not use
    rows[0].cells.topP.cell.tabIndex = greedy ? -1 : 0;
  }

  return { element, show };
}
