// Why it is this word: how probable the answer is, what else was offered, what it rests on, and what is left without
// the heads that it misses.

import { choiceIn, momentAt, offeredIn } from "../chosen-step.js";
import { restsInWindow, restsOf, restsTable, windowAt } from "./rests.js";

/**
 * @typedef {import("../chosen-step.js").Candidate} Candidate
 *
 * @typedef {import("../decoded.d.ts").Detail<"why">} Why
 *
 * @typedef {import("./rests.js").Rests} Rests
 *
 * @typedef {import("./rests.js").Windows} Windows
 *
 * @typedef {import("./rests.js").Grid} Grid
 *
 * @typedef {object} WhySelection
 * @property {number | null} token the position after which the word is chosen; null: the run's end
 * @property {number} others how many other candidates
 * @property {boolean} open whether more than the word is told
 * @property {string} [window] which window of layers, where one is looked at: the number that the reader chose
 *
 * @typedef {import("./reading.js").Reading<WhySelection> & {
 *   position: number;
 *   own: Candidate | null;
 *   offered: Candidate[];
 *   rests: Rests | null;
 *   windows: Windows | null;
 *   found: Why | null;
 *   grid: Grid | null;
 * }} WhyReading
 *   `own`: the word, null until it has come; `offered`: what else; `rests`: in all layers, or in a window once that
 *   has come; `grid`: of the heads, as far as they are measured
 */

/**
 * The word and what else was offered.
 *
 * @param {Candidate[]} all
 * @returns {import("./reading.js").Table}
 */
const offeredTable = (all) => ({
  keys: { id: all.map(({ id }) => id), piece: all.map(({ piece }) => piece) },
  columns: { probability: all.map(({ probability }) => probability) },
});

/**
 * Every part that was measured by itself.
 *
 * @param {Why["parts"]} parts
 * @returns {import("./reading.js").Table}
 */
const partsTable = (parts) => ({
  keys: {
    part: parts.map(({ kind }) => kind),
    layer: parts.map(({ layer }) => layer),
    index: parts.map(({ index }) => index),
    key: parts.map(({ key }) => key ?? ""),
  },
  columns: {
    probability_without: parts.map(({ without }) => without),
    loss_nats: parts.map(({ loss }) => loss),
    weight: parts.map(({ weight }) => weight ?? NaN),
  },
});

/**
 * What it rests on, as the value line has it.
 *
 * @param {Rests} rests
 */
const restsAt = ({ form, layers, tokens, sinks }) => [
  "form",
  form,
  ...(layers ? ["layers", layers.join("-")] : []),
  "rests",
  tokens.join(","),
  "sinks",
  sinks.join(","),
];

/** Where the heads look that it misses. @param {Why["look"]} look */
const lookAt = ({ kind, key, heads }) => [kind === "cross" ? "source" : "key", key, "heads", heads.length];

/**
 * What is told of an answer, as far as it has come.
 *
 * @param {import("./reading.js").Run["details"]} details
 * @param {string} [window] as of a selection
 */
function toldOf(details, window) {
  /** @type {Why | null} */
  const found = details.why ?? null;
  const whole = restsOf(details.rests ?? null);
  /** @type {Windows | null} */
  const windows = whole && details.windows && "lost" in details.windows ? details.windows : null;
  const rests = whole && windows ? restsInWindow(windows, windowAt(windows, window), whole) : whole;
  /** @type {Grid | null} */
  const grid = found?.grid ?? details.heads?.grid ?? null;
  return { found, whole, windows, rests, grid };
}

/**
 * What is asked follows from the answer before, and the heads are measured in parts until a reader stops it: so the
 * panel asks (panels/glance/why.js). A run has the answers `offered`, `rests`, `windows`, `heads` and `why`, null
 * where one is not here.
 *
 * @type {import("./reading.js").Reader<WhyReading>}
 */
export const whyReader = {
  read({ trace, details }, selection) {
    const { token, others, open, window } = selection;
    const moment = momentAt(trace, token ?? trace.T - 1);
    const next = offeredIn(trace, moment, details.offered ?? null);
    const { own, others: offered } = next ? choiceIn(next, moment, others) : { own: null, others: [] };
    const { found, whole, windows, rests, grid } = toldOf(details, window);
    const place = own ? ["after", moment.at, "answer", own.id, `'${own.piece}'`] : [];
    const needed = () =>
      whole ? restsTable(whole, trace.tokens.pieces, { grid: found?.grid, windows }) : partsTable(found?.parts ?? []);
    return {
      selection,
      position: moment.at,
      own,
      offered,
      rests,
      windows,
      found,
      grid,
      at: [...place, ...(rests ? restsAt(rests) : []), ...(found ? lookAt(found.look) : [])].join(" "),
      values: { ...(own && { probability: own.probability }), ...(found && { without: found.look.without }) },
      rows: { [open ? "needed" : "offered"]: open ? needed : () => offeredTable(own ? [own, ...offered] : []) },
    };
  },
};
