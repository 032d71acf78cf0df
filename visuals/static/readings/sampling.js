// How one token is drawn after a position: its way through softmax, temperature, top-k and top-p, and the draw.

import { momentAt } from "../chosen-step.js";
import { visible } from "../draw.js";
import { probabilityAfter, rest } from "./filters.js";
import { askedAt, logitsAt, namedIn, nameIn, resultOf } from "./logits.js";

/**
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("../decode.js").Step} Step
 *
 * @typedef {import("../chosen-step.js").Moment} Moment
 *
 * @typedef {import("./filters.js").Settings} Settings
 *
 * @typedef {import("./logits.js").Result} Result
 *
 * @typedef {import("./logits.js").Named} Named
 *
 * @typedef {"softmax" | import("./filters.js").Stage} Column probabilities by softmax alone, and after each stage
 *
 * @typedef {{ rank: number; stage: Column }} Place a number of the table
 *
 * @typedef {Pick<import("../decoded.d.ts").Detail<"draw">, "id" | "piece" | "probability" | "race">} Drawn
 */

/** @type {Column[]} */
export const STAGES = ["softmax", "all", "topK", "topP"];

/**
 * The probability of the token of a rank after a stage.
 *
 * @param {Result} result
 * @param {Column} stage
 * @param {number} rank
 */
export const probabilityIn = ({ plain, after }, stage, rank) =>
  stage === "softmax" ? probabilityAfter(plain, "all", rank) : probabilityAfter(after, stage, rank);

/**
 * What the ranks from `from` on share after a stage.
 *
 * @param {Result} result
 * @param {Column} stage
 * @param {number} from
 */
export const othersIn = ({ plain, after }, stage, from) =>
  stage === "softmax" ? rest(plain, "all", from) : rest(after, stage, from);

/**
 * @typedef {object} OwnSampling
 * @property {number | null} token the position after which a token is chosen; null: the run's end
 * @property {number} rank
 * @property {Column} stage
 * @property {boolean} then whether a written token's own draw is looked at, where it is known
 * @property {boolean} rests whether the sliders do: only then the server is asked for the draw
 * @property {number} seed
 *
 * @typedef {OwnSampling & Settings} SamplingSelection
 *
 * @typedef {import("./reading.js").Reading<SamplingSelection> & {
 *   moment: Moment;
 *   step: Step | null;
 *   settings: Settings & { seed: number };
 *   before: number;
 *   result: Result;
 *   named: Named;
 *   drawn: Drawn | null;
 *   drawnRank: number;
 * }} SamplingReading
 *   `step`: how the token here was drawn, while that is looked at, and `settings` what goes by it; `before`: how many
 *   tokens were written before this one; `drawn`: null, and `drawnRank` −1, until the server has drawn
 */

/**
 * How a token is drawn: as the written one was, or as the sliders say.
 *
 * @param {Trace} trace
 * @param {SamplingSelection} selection
 */
function drawOf(trace, { token, then, temperature, topK, topP, seed }) {
  const moment = momentAt(trace, token ?? trace.T - 1);
  const step = then ? moment.step : null;
  const { steps, nPrompt } = trace;
  const before = moment.kind === "end" ? steps.length : Math.max(0, moment.at + 1 - nPrompt);
  const own = step?.sampling;
  const settings = own
    ? { temperature: own.temperature, topK: own.top_k, topP: own.top_p, seed: own.seed }
    : { temperature, topK, topP, seed };
  return { moment, step, settings, before };
}

/**
 * The token that was written at a moment, where the server's own arithmetic draws another: rounding can tip a draw.
 *
 * @param {Drawn | null} drawn
 * @param {Moment} moment
 * @param {Step | null} step
 * @returns {Drawn | null}
 */
function asWritten(drawn, { token }, step) {
  if (!drawn || !step || !token || drawn.id === token.id) return drawn;
  return { ...token, probability: step.drawnProbability, race: null };
}

/**
 * The token of a rank in words; one that nobody has named by its id.
 *
 * @param {Pick<SamplingReading, "result" | "named" | "drawn">} reading
 * @param {number} rank
 */
export function nameOfRank({ result, named, drawn }, rank) {
  const id = result.ranked.order[rank];
  const name = nameIn([named], id);
  return name ?? (drawn?.id === id ? visible(drawn.piece) : `#${id}`);
}

/**
 * Each candidate with its probability after each stage.
 *
 * @param {Result} result
 * @param {Named} named
 * @returns {import("./reading.js").Table}
 */
function candidatesOf(result, { pieces }) {
  const { order, values } = result.ranked;
  return {
    keys: { rank: pieces.map((_, rank) => rank + 1), id: order.subarray(0, pieces.length), piece: pieces },
    columns: {
      logit: values.subarray(0, pieces.length),
      ...Object.fromEntries(
        STAGES.map((stage) => [stage, pieces.map((_, rank) => probabilityIn(result, stage, rank))]),
      ),
    },
  };
}

/** One number of the way from the logits to the draw. @type {import("./reading.js").Reader<SamplingReading>} */
export const samplingReader = {
  needs: (_trace, { token }) => logitsAt(token),
  later(trace, selection) {
    const { step, settings, before } = drawOf(trace, selection);
    if (!step && !selection.rests) return /** @type {import("./reading.js").Questions} */ ({});
    // "+1 token" adds the count of the tokens that were written to the seed, and so is done here
    const { temperature, topK: top_k, topP: top_p, seed } = settings;
    const how = step?.sampling ?? { temperature, top_k, top_p, seed: seed + before };
    return { drawn: ["draw", { ...askedAt(selection.token), ...how }] };
  },
  read(run, selection) {
    const { rank, stage } = selection;
    const how = drawOf(run.trace, selection);
    const result = resultOf(run.details.logits.logits.data, how.settings);
    const drawn = asWritten(run.details.drawn ?? null, how.moment, how.step);
    const known = { ...how, result, named: namedIn(run), drawn };
    return {
      ...known,
      selection,
      drawnRank: drawn ? result.ranked.order.indexOf(drawn.id) : -1,
      at: `'${nameOfRank(known, rank)}' rank ${rank + 1} ${stage}`,
      values: { p: probabilityIn(result, stage, rank), logit: result.ranked.values[rank] },
      rows: { candidates: () => candidatesOf(result, known.named) },
    };
  },
};
