// Next-token bars: the first candidates with probability and logit, and one row for all others, so that all sum to 1.

import { labelsOf } from "../../characters.js";
import { linkRows } from "../../controls.js";
import { shareSaid } from "../../counts.js";
import { count as asCount, h, percent, shown } from "../../dom.js";
import { cellNames, visible } from "../../draw.js";
import { writtenOut } from "../../equation.js";
import { frame } from "../../frame.js";
import { createTable, writeShare, writeTexts } from "../../marks/table.js";
import { momentOf } from "../../chosen-step.js";
import { glossed, glossOf } from "../../gloss.js";
import { noChoice } from "../../parts.js";
import { effect, reactive } from "../../reads.js";
import { nameInEither, namedInEither, PLAIN, tokenReader } from "../../readings/logits.js";
import { nextReader } from "../../readings/next.js";
import { tokensReader } from "../../readings/token-strip.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { candidatesPart, comparedAt, lastName } from "./candidates.js";

const COUNT = 10;
const IN_A_HALL = 5; // so that all are on one screen, also below a line on what is changed

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../readings/next.js").Token} Token
 *
 * @typedef {import("../../readings/next.js").Candidate} Candidate
 *
 * @typedef {import("../../readings/next.js").NextReading} NextReading
 *
 * @typedef {ReturnType<typeof createRows>["others"]} Line the elements of a row
 */

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
 * @param {Glass} glass
 * @param {Line} parts
 * @param {string} piece
 * @param {number} probability
 * @param {string} logit
 * @param {string} [meaning] as Gloss gives it
 */
function fill({ text }, parts, piece, probability, logit, meaning = "") {
  parts.piece.replaceChildren(...glossed(piece, meaning));
  parts.bar.style.width = `${100 * probability}%`;
  writeShare(parts.probability, text, probability);
  writeTexts([parts.logit], [logit]);
}

/**
 * One candidate's row, marked where it is the one that was written.
 *
 * @param {Glass} glass
 * @param {Line} parts
 * @param {Candidate | null | undefined} candidate
 * @param {Token | null} token
 */
function show(glass, parts, candidate, token) {
  const chosen = Boolean(candidate) && candidate?.id === token?.id;
  parts.row.hidden = !candidate;
  parts.row.classList.toggle("is-chosen", chosen);
  if (!candidate) return;
  const { piece, probability, logit } = candidate;
  const name = `${chosen ? "✓ " : ""}${visible(piece)}`;
  fill(glass, parts, name, probability, shown(logit, 5), glossOf(glass)(piece));
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["logits"],
  difference: {
    reader: tokenReader,
    select: (glass) => ({ ...comparedAt(glass), ...PLAIN }),
    points: "id",
    first: (a, b) => namedInEither(a, b)[0],
    anyLength: true,
    named: lastName,
    of: ({ text, chosen: { id }, a, b }) => text("of_candidate", { piece: nameInEither(id, a, b) }),
    parts: [candidatesPart({ rows: "probabilities", column: "p" })],
  },
  absent: noChoice,
};

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function next(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, "next", { parts: ["what", "formula", "myth"] });
  const { table, rows, extra, others } = createRows();
  const [framed, named] = [h("span.gp-framed"), h("span.gp-named")]; // of a picture the second: it has no text above
  const look = h("p.gp-note.gp-looks", { "data-answer": "beside", hidden: "" }, framed, named);
  render(html`${table.element} ${look}`, panel.body);
  const pointed = reactive({ row: 0 }, glass.repaint);
  const point = (/** @type {number} */ row) => {
    pointed.row = row;
  };
  linkRows(
    table.body,
    { preview: point, focus: point, endPreview: () => point(0) },
    ({ dataset }) => Number(dataset.rank),
    "tr[data-rank]",
  );

  /** @returns {import("../../readings/next.js").NextSelection} */
  function select() {
    const { kind, at } = momentOf(state);
    const token = kind === "end" ? null : at;
    const count = state.presenting ? IN_A_HALL : COUNT;
    return { token, generating: state.status === "generating", count, row: pointed.row };
  }

  /** A candidate as a worksheet's key has it. @param {Candidate} candidate */
  const saysCandidate = ({ piece, probability }) => `${visible(piece)} ${shareSaid(glass.text, probability)}`;

  /** @param {NextReading} reading */
  function fillAll({ candidates, token }) {
    const { rows: first, extra: written, others: left } = candidates;
    rows.forEach((parts, i) => show(glass, parts, first[i], token));
    table.element.dataset.result = first.map(saysCandidate).join(" · ");
    show(glass, extra, written, token);
    fill(glass, others, panel.text("others", { count: asCount(left.count) }), left.probability, "");
  }

  /** @param {NextReading} reading */
  function wordsOf({ selection: { row }, candidate, candidates: { others: left, logZ }, values }) {
    if (!candidate) return panel.text("read_others", { count: left.count, probability: percent(values.p, 5) });
    const { id, piece, rank = row } = candidate;
    return panel.text("read", {
      piece: visible(piece) + glossOf(glass)(piece),
      id,
      rank: rank + 1,
      ...writtenOut(
        { probability: values.p, logit: values.logit, log_z: logZ },
        [["probability", ["logit", "log_z"], (logit, all) => Math.exp(logit - all)]],
        { digits: 6, of: { probability: { digits: 5, write: percent } } },
      ),
    });
  }

  /** What the frames in the strip above are, in a lesson, where nothing else names the head; and that on paper. */
  function lookNow() {
    const { layer, head, query, key, trace } = state;
    const { weights } = tokensReader.read({ trace, details: {} }, { layer, head, query, key });
    if (!state.presenting || !weights) return { seen: "", read: "" };
    const params = { ...cellNames(state), layer, head, weight: shareSaid(glass.text, weights[key]) };
    return { seen: panel.text("looks", params), read: panel.text("looked", params) };
  }

  return effect(function draw() {
    const [reading, looks] = [readHere(glass, nextReader, select()), lookNow()];
    element.toggleAttribute("data-loading", !reading);
    if (!reading) return undefined;
    const { kind, after, token } = reading;
    const written = token?.position === undefined ? after : labelsOf(state.trace.tokens.pieces)[token.position];
    return () => {
      fillAll(reading);
      [framed.textContent, look.hidden] = [looks.seen, !looks.seen];
      look.dataset.result = named.textContent = looks.read;
      panel.title.textContent = panel.text(kind === "end" ? "title" : `title_${kind}`, {
        after: visible(after),
        piece: visible(kind === "end" ? after : written),
        position: token?.position,
      });
      panel.show(reading, wordsOf(reading));
    };
  });
}
