// What an answer rests on: the sentences, and the tokens that it would miss, each with what is lost without a look at
// it.

import { labelsOf } from "../../characters.js";
import { exact, h, shown } from "../../dom.js";
import { shareSaid } from "../../counts.js";
import { memo } from "../../reads.js";
import { HALF, isKept, leftWithout, NEEDED, partsLost } from "../../readings/rests.js";
import { filled, named, namedInWord, sentences, shareWord, word } from "./words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../readings/rests.js").Rests} Rests
 */

const LISTED = 5;
const DIGITS = 2; // significant
const UNSURE = 0.05; // the probability of an answer below which it is one of many
/** Nats from which on something is fetched in the upper layers (model/analysis/form.py). */
const FETCHED = 0.5;

/**
 * Which tokens it names first.
 *
 * @param {Rests} found
 */
const most = ({ tokens }) => tokens.slice(0, LISTED);

/**
 * How the tokens of the run that is shown are named.
 *
 * @param {Glass} glass
 */
const piecesOf = ({ state }) => (state.trace ? labelsOf(state.trace.tokens.pieces) : []);

/**
 * Which sentence tells how the model comes by the answer. Where it stands in the text and little is lost when it is
 * hidden there, no copy is spoken of: it need not be read there.
 *
 * @param {Rests} found
 */
export function formSaid({ form, fetched, from_answer: own, from_hidden: hidden }) {
  if (form === "copied" && isKept(1, Math.exp(-hidden))) return "form_copied_unneeded";
  if (form === "recalled" && fetched < FETCHED) return "form_recalled_early";
  const against = form === "copied" && own > fetched && shown(own, DIGITS) !== shown(fetched, DIGITS);
  return `form_${form}${against ? "_against" : ""}`;
}

/**
 * Whether an answer is said to be recalled: one that other tokens carry, with half of the probability or more.
 *
 * @param {Pick<Rests, "form" | "probability">} found
 */
export const isRecalled = ({ form, probability }) => form === "recalled" && probability >= HALF;

/** @param {Node | string} words */
const bold = (words) => h("b", null, words);

/**
 * What the sentences name.
 *
 * @param {Glass} glass
 * @param {Rests} found
 */
function namesOf(glass, found) {
  const [{ text }, pieces] = [glass, piecesOf(glass)];
  const { position, tokens, sinks, parked, probability, fetched, from_answer: own, layers = [] } = found;
  const key = tokens[0] ?? 0;
  const [from, to] = layers.map(String);
  return {
    answer: bold(word(found.piece)),
    query: bold(word(pieces[position])),
    key: bold(namedInWord(text, pieces, key)),
    p: shareWord(glass.text, probability),
    q: bold(shareWord(glass.text, leftWithout(found, key))),
    lost: shown(found.lost.data[key], DIGITS),
    least: String(NEEDED),
    all: shown(fetched, DIGITS),
    own: shown(own, DIGITS),
    hidden: shown(found.from_hidden, DIGITS),
    few: String(found.few),
    alone: shareWord(glass.text, Math.min(1, probability * Math.exp(-found.alone))),
    sinks: sinks.map((t) => named(text, pieces, t)).join(text("why.list")),
    parked: String(Math.max(0, ...parked)),
    without: sinks.map((t) => shown(found.lost.data[t], DIGITS)).join(text("why.list")),
    ...{ from, to },
  };
}

/**
 * What it rests on, how the model comes by it, and what is set apart.
 *
 * @param {Glass} glass
 * @param {Rests} found
 * @returns {HTMLElement[]}
 */
export function restsSaid(glass, found) {
  const { text } = glass;
  const { tokens, sinks, layers } = found;
  const only = found.lost.data.length === 1;
  const first = only ? "rests_only" : `rests${layers ? "_window" : ""}${tokens.length ? "" : "_none"}`;
  const names = namesOf(glass, found);
  const form = only || layers ? "" : text(`why.${formSaid(found)}`);
  const template = sentences(text, text(`why.${first}`), form && isRecalled(found) ? text("why.recalled") : "", form);
  const said = [h("p", null, ...filled(template, names))];
  if (found.probability < UNSURE) said.unshift(h("p.gp-note", null, ...filled(text("why.unsure"), names)));
  if (sinks.length) said.push(h("p.gp-note", null, ...filled(text("why.sinks", { count: sinks.length }), names)));
  return said;
}

/**
 * The tokens that are needed most, as bars.
 *
 * @param {Glass} glass
 */
export function createNeeded(glass) {
  const body = h("tbody");
  const caption = h("caption.gp-note", { "data-text": "why.needed" });
  const element = h("table.gp-table.gp-list.wy-needed", null, caption, body);

  /**
   * @param {Rests} found
   * @param {number} t
   * @param {string} left how probable the answer is without a look at it
   */
  function row(found, t, left) {
    const { text } = glass;
    const [lost, parts] = [found.lost.data[t], partsLost(found)];
    const select = () => glass.select({ key: t });
    const name = h("button.wy-lead", { click: select }, named(text, piecesOf(glass), t));
    const bar = h(`span.wy-bar${lost < 0 ? ".is-less" : ""}`, { style: `width: ${100 * Math.abs(parts[t] ?? 0)}%` });
    return h(
      "tr",
      null,
      h("th.gp-token", { scope: "row" }, name),
      h("td.gp-number", { title: exact(lost) }, text("why.nats", { lost: shown(lost, DIGITS) })),
      h("td.wy-track", null, bar),
      h("td.gp-number", { title: exact(leftWithout(found, t)) }, left),
    );
  }
  const draw = memo((/** @type {Rests | null} */ found, _language) => {
    element.hidden = !found?.tokens.length;
    if (!found) return;
    const listed = most(found);
    body.replaceChildren(...listed.map((t) => row(found, t, shareSaid(glass.text, leftWithout(found, t)))));
  });
  return { element, draw };
}
