// Next-token bars: the first candidates with probability and logit, and one row for all others, so that all sum to 1.

import { topCandidates } from "../../compute.js";
import { linkRows } from "../../controls.js";
import { exact, h, share, shown } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { momentOf, offeredOf } from "../../chosen-step.js";
import { glossed, glossOf } from "../../gloss.js";
import { noChoice } from "../../parts.js";
import { effect } from "../../reads.js";
import { shownIn } from "../../run-for.js";

const COUNT = 10;

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../chosen-step.js").Offered} Offered
 *
 * @typedef {{ id: number; piece: string; position?: number }} Token
 *
 * @typedef {{
 *   id: number;
 *   piece: string;
 *   logit: number;
 *   probability: number;
 *   rank?: number;
 * }} Candidate
 *   `rank`: of one that is not among the first
 *
 * @typedef {{ count: number; probability: number }} Others
 *
 * @typedef {ReturnType<typeof createRows>["others"]} Line the elements of a row
 */

/**
 * Which choice is shown: that of the moment that the page stands at; at the end the token just drawn while
 * generating.
 *
 * @param {Glass} glass
 * @returns {{ next: Offered | null; kind: string; after: string; token: Token | null }}
 */
function source(glass) {
  const { trace, status } = shownIn(glass);
  const step = trace.steps.at(-1);
  const moment = momentOf(shownIn(glass));
  if (moment.kind === "end" && status === "generating" && step?.next) {
    const before = trace.steps.at(-2)?.piece ?? trace.tokens.pieces[trace.nPrompt - 1];
    return { next: step.next, kind: "end", after: before, token: step };
  }
  return {
    next: offeredOf(glass, moment),
    kind: moment.kind,
    after: trace.tokens.pieces[moment.at],
    token: moment.token,
  };
}

/**
 * The first candidates, the token that was written where it is not among them, and all others.
 *
 * @param {Offered} next
 * @param {Token | null} token that was written, where one was
 * @param {number} count
 * @returns {{ rows: Candidate[]; extra: Candidate | null; others: Others; logZ: number }}
 */
export function candidatesOf(next, token, count) {
  const { rows, others } = topCandidates(next, count);
  const { written, logZ } = next;
  if (!written || !token || rows.some(({ id }) => id === written.id)) return { rows, extra: null, others, logZ };
  const extra = {
    id: written.id,
    piece: token.piece,
    logit: written.logit,
    probability: Math.exp(written.logit - logZ),
    rank: written.rank,
  };
  const left = { count: others.count - 1, probability: Math.max(0, others.probability - extra.probability) };
  return { rows, extra, others: left, logZ };
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

/**
 * @param {Line} parts
 * @param {string} piece
 * @param {number} probability
 * @param {string} logit
 * @param {string} [meaning] as Gloss gives it
 */
function fill(parts, piece, probability, logit, meaning = "") {
  parts.piece.replaceChildren(...glossed(piece, meaning));
  parts.bar.style.width = `${100 * probability}%`;
  writeTexts([parts.probability, parts.logit], [share(probability), logit]);
}

/**
 * One candidate's row, marked where it is the one that was written.
 *
 * @param {Line} parts
 * @param {Candidate | null | undefined} candidate
 * @param {Token | null} token
 * @param {import("../../gloss.js").Gloss} gloss
 */
function show(parts, candidate, token, gloss) {
  const chosen = Boolean(candidate) && candidate?.id === token?.id;
  parts.row.hidden = !candidate;
  parts.row.classList.toggle("is-chosen", chosen);
  if (!candidate) return;
  const { piece, probability, logit } = candidate;
  fill(parts, `${chosen ? "✓ " : ""}${visible(piece)}`, probability, shown(logit, 5), gloss(piece));
}

/** @type {import("../../frame.js").About} */
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
  /** @type {ReturnType<typeof candidatesOf> | null} */
  let current = null;

  /** @param {Others} others */
  const tellOthers = ({ count, probability }) =>
    panel.tell(
      `others ${count} p=${exact(probability)}`,
      panel.text("read_others", { count, probability: share(probability) }),
    );
  /**
   * @param {Candidate} candidate
   * @param {number} logZ
   */
  const tellCandidate = ({ id, piece, probability, logit, rank = pointed }, logZ) =>
    panel.tell(
      `'${piece}' p=${exact(probability)} logit=${exact(logit)} rank ${rank + 1}`,
      panel.text("read", {
        piece: visible(piece) + glossOf(glass)(piece),
        id,
        rank: rank + 1,
        probability: exact(probability),
        logit: shown(logit, 6),
        log_z: shown(logZ, 6),
      }),
    );
  function tell() {
    if (!current) return;
    const candidate = pointed === COUNT ? current.extra : current.rows[pointed];
    if (candidate) tellCandidate(candidate, current.logZ);
    else tellOthers(current.others);
  }
  const point = (/** @type {number} */ rank) => {
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
    const found = (current = candidatesOf(chosenNext, token, COUNT));
    const gloss = glossOf(glass);
    rows.forEach((parts, i) => show(parts, found.rows[i], token, gloss));
    show(extra, found.extra, token, gloss);
    fill(others, panel.text("others", { count: found.others.count }), found.others.probability, "");
    panel.title.textContent = panel.text(kind === "end" ? "title" : `title_${kind}`, {
      after: visible(after),
      piece: visible(kind === "end" || !token ? after : token.piece),
      position: token?.position,
    });
    tell();
  });
}
