// Next-token bars: the first candidates with probability and logit, and one row for all others, so that all sum to 1.

import { labelsOf } from "../../characters.js";
import { linkRows } from "../../controls.js";
import { chancesSaid } from "../../counts.js";
import { count as asCount, exact, h, share, shown } from "../../dom.js";
import { cellNames, visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createTable, writeTexts } from "../../marks/table.js";
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
 *
 * @typedef {{ probability: number; said: string }} Chance in the words of all that stand below one another
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
 * @param {Line} parts
 * @param {string} piece
 * @param {Chance} chance
 * @param {string} logit
 * @param {string} [meaning] as Gloss gives it
 */
function fill(parts, piece, { probability, said }, logit, meaning = "") {
  parts.piece.replaceChildren(...glossed(piece, meaning));
  parts.bar.style.width = `${100 * probability}%`;
  parts.probability.textContent = said;
  parts.probability.title = share(probability);
  writeTexts([parts.logit], [logit]);
}

/**
 * One candidate's row, marked where it is the one that was written.
 *
 * @param {Glass} glass
 * @param {Line} parts
 * @param {(Candidate & Chance) | null | undefined} candidate
 * @param {Token | null} token
 */
function show(glass, parts, candidate, token) {
  const chosen = Boolean(candidate) && candidate?.id === token?.id;
  parts.row.hidden = !candidate;
  parts.row.classList.toggle("is-chosen", chosen);
  if (!candidate) return;
  const { piece, logit } = candidate;
  const name = `${chosen ? "✓ " : ""}${visible(piece)}`;
  fill(parts, name, candidate, shown(logit, 5), glossOf(glass)(piece));
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
  const look = h("p.gp-note.gp-looks", { "data-answer": "beside", hidden: "" });
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

  /** @param {NextReading} reading */
  function fillAll({ candidates, token }) {
    const { rows: first, extra: written, others: left } = candidates;
    const all = [...first, ...(written ? [written] : []), left].map((one) => one.probability);
    const chances = chancesSaid(glass.text, all, state.language);
    const listed = first.map((one, i) => ({ ...one, said: chances[i] }));
    rows.forEach((parts, i) => show(glass, parts, listed[i], token));
    table.element.dataset.result = `${visible(listed[0].piece)} ${listed[0].said}`;
    show(glass, extra, written && { ...written, said: chances[first.length] }, token);
    const rest = { ...left, said: chances[all.length - 1] };
    fill(others, panel.text("others", { count: asCount(left.count) }), rest, "");
  }

  /** @param {NextReading} reading */
  function wordsOf({ selection: { row }, candidate, candidates: { others: left, logZ }, values }) {
    if (!candidate) return panel.text("read_others", { count: left.count, probability: share(values.p) });
    const { id, piece, rank = row } = candidate;
    return panel.text("read", {
      piece: visible(piece) + glossOf(glass)(piece),
      id,
      rank: rank + 1,
      probability: exact(values.p),
      logit: shown(values.logit, 6),
      log_z: shown(logZ, 6),
    });
  }

  /** What the frames in the strip above are, in a lesson, where nothing else names the head. */
  function lookNow() {
    const { layer, head, query, key, trace } = state;
    const { weights } = tokensReader.read({ trace, details: {} }, { layer, head, query, key });
    return state.presenting && weights
      ? panel.text("looks", { ...cellNames(state), layer, head, weight: share(weights[key]) })
      : "";
  }

  return effect(function draw() {
    const [reading, looks] = [readHere(glass, nextReader, select()), lookNow()];
    element.toggleAttribute("data-loading", !reading);
    if (!reading) return undefined;
    const { kind, after, token } = reading;
    const written = token?.position === undefined ? after : labelsOf(state.trace.tokens.pieces)[token.position];
    return () => {
      fillAll(reading);
      [look.textContent, look.hidden] = [looks, !looks];
      panel.title.textContent = panel.text(kind === "end" ? "title" : `title_${kind}`, {
        after: visible(after),
        piece: visible(kind === "end" ? after : written),
        position: token?.position,
      });
      panel.show(reading, wordsOf(reading));
    };
  });
}
