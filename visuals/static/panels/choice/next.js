// Next-token bars: the first candidates with probability and logit, and one row for all others, so that all sum to 1.

import { topCandidates } from "../../compute.js";
import { linkRows } from "../../controls.js";
import { exact, h, share, shown } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { momentOf, offeredOf } from "../../moment.js";
import { drawing } from "../../reads.js";

const COUNT = 10;

/**
 * Which choice is shown: that of the moment that the page stands at; at the end the token just drawn while generating.
 * @returns {{ next: object|null, kind: string, after: string, token: { id: number, piece: string, position?: number }|null }}
 */
function source(glass) {
  const { trace, status } = glass.state;
  const step = trace.steps.at(-1);
  const moment = momentOf(glass.state);
  if (moment.kind === "end" && status === "generating" && step?.next) {
    const before = trace.steps.length > 1 ? trace.steps.at(-2).piece : trace.tokens.pieces[trace.nPrompt - 1];
    return { next: step.next, kind: "end", after: before, token: step };
  }
  return { next: offeredOf(glass, moment), kind: moment.kind, after: trace.tokens.pieces[moment.at], token: moment.token };
}

/** The first candidates, the token that was written where it is not among them, and all others. */
export function candidatesOf(next, token, count) {
  const { rows, others } = topCandidates(next, count);
  const { written } = next;
  if (!written || rows.some(({ id }) => id === written.id)) return { rows, extra: null, others, logZ: next.logZ };
  const extra = { id: written.id, piece: token.piece, logit: written.logit, probability: Math.exp(written.logit - next.logZ), rank: written.rank };
  const left = { count: others.count - 1, probability: Math.max(0, others.probability - extra.probability) };
  return { rows, extra, others: left, logZ: next.logZ };
}

/** One row's elements, made once. @returns {{ row: HTMLElement, piece, bar, probability, logit }} */
function makeRow(rank) {
  const parts = {
    piece: h("th.gp-token", { scope: "row", dir: "auto" }),
    bar: h("span.gp-bar"),
    probability: h("td.gp-number"),
    logit: h("td.gp-number"),
  };
  const track = h("td.gp-track", null, parts.bar);
  const row = h("tr", { "data-rank": rank, tabindex: "0" }, parts.piece, track, parts.probability, parts.logit);
  return { row, ...parts };
}

export const about = { tensors: ["logits"], minus: "glance" };

/** @param {HTMLElement} element @param {object} glass */
export default function next(element, glass) {
  const table = () => {
    const { next: shownNext, token } = source(glass);
    if (!shownNext) return [];
    const { rows, extra, others } = candidatesOf(shownNext, token, shownNext.ids.length);
    return [
      ["id", "piece", "logit", "probability"],
      ...[...rows, ...(extra ? [extra] : [])].map((r) => [r.id, r.piece, r.logit, r.probability]),
      ["", `${others.count} others`, "", others.probability],
    ];
  };
  const panel = frame(element, glass, "next", { csv: table, parts: ["what", "formula", "myth"] });
  const head = ["token", "bar", "probability", "logit"].map((name) =>
    h(["token", "bar"].includes(name) ? "th.is-left" : "th", { scope: "col", "data-text": `next.${name}` }),
  );
  const rows = Array.from({ length: COUNT }, (_, i) => makeRow(i));
  const extra = makeRow(COUNT); // the written token, where it is not among the first
  const others = makeRow(COUNT + 1);
  others.row.classList.add("is-others");
  const body = h("tbody", null, ...rows.map((r) => r.row), extra.row, others.row);
  panel.body.append(h("table.gp-table.gp-next", null, h("thead", null, h("tr", null, ...head)), body));
  let pointed = 0;
  let current = null;

  function tell() {
    if (!current) return;
    const candidate = pointed === COUNT ? current.extra : current.rows[pointed];
    if (!candidate) {
      const { count, probability } = current.others;
      panel.tell(
        `others ${count} p=${exact(probability)}`,
        panel.text("read_others", { count, probability: share(probability) }),
      );
      return;
    }
    const { id, piece, probability, logit, rank = pointed } = candidate;
    panel.tell(
      `'${piece}' p=${exact(probability)} logit=${exact(logit)} rank ${rank + 1}`,
      panel.text("read", {
        piece: visible(piece),
        id,
        rank: rank + 1,
        probability: exact(probability),
        logit: shown(logit, 6),
        log_z: shown(current.logZ, 6),
      }),
    );
  }
  const point = (rank) => {
    pointed = rank;
    tell();
  };
  linkRows(body, { preview: point, focus: point, endPreview: () => point(0) }, ({ dataset }) => Number(dataset.rank), "tr[data-rank]");

  function fill(parts, piece, probability, logit) {
    parts.piece.textContent = piece;
    parts.bar.style.width = `${100 * probability}%`;
    parts.probability.textContent = share(probability);
    parts.logit.textContent = logit;
  }
  /** One candidate's row, marked where it is the one that was written. */
  function show(parts, candidate, token) {
    const chosen = Boolean(candidate) && candidate.id === token?.id;
    parts.row.hidden = !candidate;
    parts.row.classList.toggle("is-chosen", chosen);
    if (candidate) fill(parts, `${chosen ? "✓ " : ""}${visible(candidate.piece)}`, candidate.probability, shown(candidate.logit, 5));
  }

  return drawing(function draw() {
    const { next: chosenNext, kind, after, token } = source(glass);
    element.toggleAttribute("data-loading", !chosenNext);
    if (!chosenNext) return;
    current = candidatesOf(chosenNext, token, COUNT);
    rows.forEach((parts, i) => show(parts, current.rows[i], token));
    show(extra, current.extra, token);
    fill(others, panel.text("others", { count: current.others.count }), current.others.probability, "");
    panel.title.textContent = panel.text(kind === "end" ? "title" : `title_${kind}`, { after: visible(after), piece: visible(kind === "end" ? after : token.piece), position: token?.position });
    tell();
  });
}
