// The table of the stages: a row for each of the first tokens, one for all others, a column for each filter.

import { h, share, shown } from "../../dom.js";
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

/**
 * @param {object} panel
 * @param {number} count rows
 * @param {(place: object | null, lock: boolean) => void} point
 */
export function createStages(panel, count, point) {
  const heads = Object.fromEntries(STAGES.map((stage) => [stage, h("span.ch-kept")]));
  const column = (stage) =>
    h("th.ch-head", { scope: "col" }, h("span", { "data-text": `sampling.stage_${stage}` }), heads[stage]);
  const head = h(
    "tr",
    null,
    h("th.is-left", { scope: "col", "data-text": "sampling.token" }),
    h("th", { scope: "col", "data-text": "sampling.logit" }),
    ...STAGES.map(column),
    h(
      "th.ch-head",
      { scope: "col", "data-text-title": "sampling.race_why" },
      h("span", { "data-text": "sampling.race" }),
      h("span.ch-kept", { "data-text": "sampling.race_means" }),
    ),
  );
  const rows = Array.from({ length: count }, (_, i) => makeRow(i));
  const drawnRow = makeRow(-1);
  const others = makeRow(-2);
  others.row.classList.add("is-others");
  const body = h("tbody", null, ...rows.map(({ row }) => row), drawnRow.row, others.row);
  const element = h("table.gp-table.ch-stages", null, h("thead", null, head), body);

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
    const seen = [...rows, drawnRow].filter(({ row }) => !row.hidden);
    const at = seen.findIndex(({ row }) => row.contains(cell)) + down;
    const stage = STAGES[STAGES.indexOf(cell.dataset.stage) + right];
    seen[at]?.cells[stage]?.cell.focus();
  });
  body.addEventListener("focusin", (event) => {
    const place = placeOf(event);
    if (place) point(place, true);
  });

  function fill(parts, rank, { result, drawn, pieceOf, probability }, drawnRank) {
    parts.piece.textContent = pieceOf(rank);
    parts.logit.textContent = shown(result.ranked.values[rank], 5);
    for (const stage of STAGES) {
      const p = probability(stage, rank);
      const { bar, number, cell } = parts.cells[stage];
      cell.dataset.rank = String(rank);
      bar.style.width = `${100 * p}%`;
      number.textContent = p > 0 ? share(p) : "–";
      cell.classList.toggle("is-out", p === 0);
    }
    const at = drawn?.race?.ids.indexOf(result.ranked.order[rank]) ?? -1;
    const thrown =
      at >= 0
        ? drawn.race.throws[at]
        : drawn?.race?.winner.id === result.ranked.order[rank]
          ? drawn.race.winner.throw
          : null;
    parts.draw.textContent =
      thrown === null ? (rank === drawnRank ? "✓" : "") : shown(probability("topP", rank) / thrown, 4);
    parts.row.classList.toggle("is-chosen", rank === drawnRank);
  }

  function show(all) {
    const { result, drawnRank, others: rest } = all;
    const total = result.ranked.values.length;
    rows.forEach((parts, i) => {
      parts.row.hidden = i >= total;
      if (i < total) fill(parts, i, all, drawnRank);
    });
    const far = drawnRank >= count;
    drawnRow.row.hidden = !far;
    if (far) fill(drawnRow, drawnRank, all, drawnRank);
    others.row.hidden = total <= count;
    others.piece.textContent = panel.text("others", { count: total - count - (far ? 1 : 0) });
    for (const stage of STAGES) {
      const { bar, number } = others.cells[stage];
      const left = rest(stage, count);
      const own = far ? all.probability(stage, drawnRank) : 0;
      const mass = Math.max(0, left.probability - own);
      bar.style.width = `${100 * mass}%`;
      number.textContent = mass > 0 ? share(mass) : left.count ? "0" : "–";
    }
    for (const stage of STAGES) heads[stage].textContent = keptText(stage, all);
  }

  /** What a stage keeps, under its name. */
  function keptText(stage, { result: { ranked, after }, settings: { topK, topP } }) {
    const total = ranked.values.length;
    if (stage === "softmax") return panel.text("kept_all", { kept: total });
    if (after.greedy) return panel.text(stage === "all" ? "kept_greedy" : "kept_unused");
    if (stage === "all") return panel.text("kept_all", { kept: total });
    /** @type {[boolean, import("./filters.js").Stage]} */
    const [off, from] = stage === "topK" ? [topK === 0, "all"] : [topP === 1, "topK"];
    const kept = after.kept[stage];
    return off
      ? panel.text("kept_off", { kept })
      : panel.text("kept", { kept, mass: share(sumAfter(after, stage) / sumAfter(after, from)) });
  }
  return { element, show };
}
