// The table of the stages: a row for each of the first tokens, one for all others, a column for each filter.

import { h, share, shown } from "../../dom.js";
import { writeNumber } from "../../marks/table.js";
import { sumAfter } from "./filters.js";

export const STAGES = ["softmax", "all", "topK", "topP"];

function makeRow(rank) {
  const parts = {
    piece: h("th.gp-token", { scope: "row", dir: "auto" }),
    logit: h("td.gp-number"),
    cells: {},
    draw: h("td.ch-draw"),
  };
  for (const stage of STAGES) {
    const [bar, number] = [h("span.ch-bar"), h("span.ch-number")];
    parts.cells[stage] = {
      bar,
      number,
      cell: h(
        "td.ch-cell",
        { "data-rank": rank, "data-stage": stage, tabindex: rank === 0 && stage === "topP" ? "0" : "-1" },
        bar,
        number,
      ),
    };
  }
  parts.row = h("tr", null, parts.piece, parts.logit, ...STAGES.map((stage) => parts.cells[stage].cell), parts.draw);
  return parts;
}

/** The columns' names; under that of each stage what it keeps. */
function makeHead() {
  const kept = Object.fromEntries(STAGES.map((stage) => [stage, h("span.ch-kept")]));
  const column = (stage) =>
    h("th.ch-head", { scope: "col" }, h("span", { "data-text": `sampling.stage_${stage}` }), kept[stage]);
  const race = h(
    "th.ch-head",
    { scope: "col", "data-text-title": "sampling.race_why" },
    h("span", { "data-text": "sampling.race" }),
    h("span.ch-kept", { "data-text": "sampling.race_means" }),
  );
  const head = h(
    "tr",
    null,
    h("th.is-left", { scope: "col", "data-text": "sampling.token" }),
    h("th", { scope: "col", "data-text": "sampling.logit" }),
    ...STAGES.map(column),
    race,
  );
  return { head, kept };
}

/**
 * Cells are pointed at, and chosen by a click or with the focus, which the arrow keys move.
 *
 * @param {HTMLElement} body
 * @param {(place: object | null, lock: boolean) => void} point
 * @param {() => ReturnType<typeof makeRow>[]} shownRows
 */
function pointAtCells(body, point, shownRows) {
  const placeOf = (event) => {
    const cell = event.target.closest?.("[data-stage]");
    return cell && Number(cell.dataset.rank) >= 0
      ? { rank: Number(cell.dataset.rank), stage: cell.dataset.stage }
      : null;
  };
  body.addEventListener("pointerover", (event) => point(placeOf(event), false));
  body.addEventListener("pointerleave", () => point(null, false));
  body.addEventListener("click", (event) => {
    const place = placeOf(event);
    if (place) point(place, true);
  });

  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  body.addEventListener("keydown", (event) => {
    const pressed = /** @type {Element} */ (event.target);
    const cell = /** @type {HTMLElement | null} */ (pressed.closest("[data-stage]"));
    const [down, right] = steps[event.key] ?? [0, 0];
    if (!cell || (!down && !right)) return;
    event.preventDefault();
    event.stopPropagation();
    const seen = shownRows();
    const at = seen.findIndex(({ row }) => row.contains(cell)) + down;
    const stage = STAGES[STAGES.indexOf(cell.dataset.stage) + right];
    seen[at]?.cells[stage]?.cell.focus();
  });
  body.addEventListener("focusin", (event) => {
    const place = placeOf(event);
    if (place) point(place, true);
  });
}

/** How the token of a rank fared in the race of the draw; null where it took no part. */
function thrownBy({ result, drawn }, rank) {
  if (!drawn?.race) return null;
  const { ids, throws, winner } = drawn.race;
  const id = result.ranked.order[rank];
  const at = ids.indexOf(id);
  return at >= 0 ? throws[at] : winner.id === id ? winner.throw : null;
}

/** Writes the token of a rank into a row. */
function fill(parts, rank, all) {
  const { result, drawnRank, pieceOf, probability } = all;
  parts.piece.textContent = pieceOf(rank);
  writeNumber(parts.logit, shown(result.ranked.values[rank], 5));
  for (const stage of STAGES) {
    const p = probability(stage, rank);
    const { bar, number, cell } = parts.cells[stage];
    cell.dataset.rank = String(rank);
    bar.style.width = `${100 * p}%`;
    writeNumber(number, p > 0 ? share(p) : "–");
    cell.classList.toggle("is-out", p === 0);
  }
  const thrown = thrownBy(all, rank);
  const taken = rank === drawnRank;
  writeNumber(parts.draw, thrown === null ? (taken ? "✓" : "") : shown(probability("topP", rank) / thrown, 4));
  parts.row.classList.toggle("is-chosen", taken);
}

/** What a stage keeps, under its name. */
function keptText(text, stage, { result: { ranked, after }, settings: { topK, topP } }) {
  const total = ranked.values.length;
  if (stage === "softmax") return text("kept_all", { kept: total });
  if (after.greedy) return text(stage === "all" ? "kept_greedy" : "kept_unused");
  if (stage === "all") return text("kept_all", { kept: total });
  /** @type {[boolean, import("./filters.js").Stage]} */
  const [off, from] = stage === "topK" ? [topK === 0, "all"] : [topP === 1, "topK"];
  const kept = after.kept[stage];
  return off
    ? text("kept_off", { kept })
    : text("kept", { kept, mass: share(sumAfter(after, stage) / sumAfter(after, from)) });
}

/**
 * @param {object} panel
 * @param {number} count rows
 * @param {(place: object | null, lock: boolean) => void} point
 */
export function createStages(panel, count, point) {
  const { head, kept } = makeHead();
  const rows = Array.from({ length: count }, (_, i) => makeRow(i));
  const drawnRow = makeRow(-1);
  const others = makeRow(-2);
  others.row.classList.add("is-others");
  const body = h("tbody", null, ...rows.map(({ row }) => row), drawnRow.row, others.row);
  const element = h("table.gp-table.ch-stages", null, h("thead", null, head), body);

  const shownRows = () => [...rows, drawnRow].filter(({ row }) => !row.hidden);
  pointAtCells(body, point, shownRows);

  function showOthers({ result, drawnRank, others: rest, probability }) {
    const total = result.ranked.values.length;
    const far = drawnRank >= count;
    others.row.hidden = total <= count;
    others.piece.textContent = panel.text("others", { count: total - count - (far ? 1 : 0) });
    for (const stage of STAGES) {
      const { bar, number } = others.cells[stage];
      const left = rest(stage, count);
      const own = far ? probability(stage, drawnRank) : 0;
      const mass = Math.max(0, left.probability - own);
      bar.style.width = `${100 * mass}%`;
      writeNumber(number, mass > 0 ? share(mass) : left.count ? "0" : "–");
    }
  }

  function show(all) {
    const { result, drawnRank } = all;
    const total = result.ranked.values.length;
    rows.forEach((parts, i) => {
      parts.row.hidden = i >= total;
      if (i < total) fill(parts, i, all);
    });
    const far = drawnRank >= count;
    drawnRow.row.hidden = !far;
    if (far) fill(drawnRow, drawnRank, all);
    showOthers(all);
    for (const stage of STAGES) kept[stage].textContent = keptText(panel.text, stage, all);
  }

  return { element, show };
}
