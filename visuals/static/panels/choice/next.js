// Next-token bars: the first candidates with probability and logit, and one row for all others, so that all sum to 1.

import { topCandidates } from "../../compute.js";
import { linkRows } from "../../controls.js";
import { exact, h, share, shown } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { momentOf, offeredOf } from "../../chosen-step.js";
import { noChoice } from "../../parts.js";
import { effect } from "../../reads.js";

const COUNT = 10;

/**
 * Which choice is shown: that of the moment that the page stands at; at the end the token just drawn while
 * generating.
 *
 * @returns {{
 *   next: object | null;
 *   kind: string;
 *   after: string;
 *   token: { id: number; piece: string; position?: number } | null;
 * }}
 */
function source(glass) {
  const { trace, status } = glass.state;
  const step = trace.steps.at(-1);
  const moment = momentOf(glass.state);
  if (moment.kind === "end" && status === "generating" && step?.next) {
    const before = trace.steps.length > 1 ? trace.steps.at(-2).piece : trace.tokens.pieces[trace.nPrompt - 1];
    return { next: step.next, kind: "end", after: before, token: step };
  }
  return {
    next: offeredOf(glass, moment),
    kind: moment.kind,
    after: trace.tokens.pieces[moment.at],
    token: moment.token,
  };
}

/** The first candidates, the token that was written where it is not among them, and all others. */
export function candidatesOf(next, token, count) {
  const { rows, others } = topCandidates(next, count);
  const { written } = next;
  if (!written || rows.some(({ id }) => id === written.id)) return { rows, extra: null, others, logZ: next.logZ };
  const extra = {
    id: written.id,
    piece: token.piece,
    logit: written.logit,
    probability: Math.exp(written.logit - next.logZ),
    rank: written.rank,
  };
  const left = { count: others.count - 1, probability: Math.max(0, others.probability - extra.probability) };
  return { rows, extra, others: left, logZ: next.logZ };
}

/**
 * Every candidate that there is, and all others together.
 *
 * @param {ReturnType<typeof source>} of
 * @returns {(string | number)[][]}
 */
function tableOf({ next, token }) {
  if (!next) return [];
  const { rows, extra, others } = candidatesOf(next, token, next.ids.length);
  return [
    ["id", "piece", "logit", "probability"],
    ...[...rows, ...(extra ? [extra] : [])].map((r) => [r.id, r.piece, r.logit, r.probability]),
    ["", `${others.count} others`, "", others.probability],
  ];
}

/** A row for each of the first candidates, `extra` for the token that was written elsewhere, and one for all others. */
function createRows() {
  const table = createTable(
    "next",
    [
      ["token", "th.gp-token"],
      ["bar", "td.gp-track"],
      ["probability", "td.gp-number"],
      ["logit", "td.gp-number"],
    ],
    { rows: COUNT + 2, focus: true, look: ".gp-next" },
  );
  const rows = table.rows.map(({ line, fields: [piece, track, probability, logit] }, rank) => {
    const bar = h("span.gp-bar");
    line.dataset.rank = String(rank);
    track.append(bar);
    return { row: line, piece, bar, probability, logit };
  });
  const [extra, others] = rows.splice(COUNT);
  others.row.classList.add("is-others");
  return { table, rows, extra, others };
}

function fill(parts, piece, probability, logit) {
  parts.piece.textContent = piece;
  parts.bar.style.width = `${100 * probability}%`;
  writeTexts([parts.probability, parts.logit], [share(probability), logit]);
}

/** One candidate's row, marked where it is the one that was written. */
function show(parts, candidate, token) {
  const chosen = Boolean(candidate) && candidate.id === token?.id;
  parts.row.hidden = !candidate;
  parts.row.classList.toggle("is-chosen", chosen);
  if (!candidate) return;
  const { piece, probability, logit } = candidate;
  fill(parts, `${chosen ? "✓ " : ""}${visible(piece)}`, probability, shown(logit, 5));
}

export const about = { tensors: ["logits"], difference: "glance", absent: noChoice };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function next(element, glass) {
  const panel = frame(element, glass, "next", {
    csv: () => tableOf(source(glass)),
    parts: ["what", "formula", "myth"],
  });
  const { table, rows, extra, others } = createRows();
  panel.body.append(table.element);
  let pointed = 0;
  let current = null;

  const ofOthers = ({ count, probability }) => [
    `others ${count} p=${exact(probability)}`,
    panel.text("read_others", { count, probability: share(probability) }),
  ];
  const ofCandidate = ({ id, piece, probability, logit, rank = pointed }) => [
    `'${piece}' p=${exact(probability)} logit=${exact(logit)} rank ${rank + 1}`,
    panel.text("read", {
      piece: visible(piece),
      id,
      rank: rank + 1,
      probability: exact(probability),
      logit: shown(logit, 6),
      log_z: shown(current.logZ, 6),
    }),
  ];
  function tell() {
    if (!current) return;
    const candidate = pointed === COUNT ? current.extra : current.rows[pointed];
    const [value, read] = candidate ? ofCandidate(candidate) : ofOthers(current.others);
    panel.tell(value, read);
  }
  const point = (rank) => {
    pointed = rank;
    tell();
  };
  linkRows(
    table.body,
    { preview: point, focus: point, endPreview: () => point(0) },
    ({ dataset }) => Number(dataset.rank),
    "tr[data-rank]",
  );

  return effect(function draw() {
    const { next: chosenNext, kind, after, token } = source(glass);
    element.toggleAttribute("data-loading", !chosenNext);
    if (!chosenNext) return;
    current = candidatesOf(chosenNext, token, COUNT);
    rows.forEach((parts, i) => show(parts, current.rows[i], token));
    show(extra, current.extra, token);
    fill(others, panel.text("others", { count: current.others.count }), current.others.probability, "");
    panel.title.textContent = panel.text(kind === "end" ? "title" : `title_${kind}`, {
      after: visible(after),
      piece: visible(kind === "end" ? after : token.piece),
      position: token?.position,
    });
    tell();
  });
}
