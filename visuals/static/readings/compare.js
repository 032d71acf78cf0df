// What the chapter that compares reads off two runs beside each other: what each may choose next, how far their streams
// lie apart, and what a head gives each key in both.

import { once, subtract } from "../arrays.js";
import { topCandidates } from "../compute.js";
import { atCell, headRow } from "./attend.js";
import { probabilitiesIn } from "./probabilities.js";

/**
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("./reading.js").Run} Run
 *
 * @typedef {import("./reading.js").Sides} Sides
 *
 * @typedef {import("./reading.js").AnswerReading} AnswerReading
 */

/** Candidates of each run that it was sent with, and so many that a file holds of both. */
const KEPT = 128;

/**
 * What follows a run.
 *
 * @typedef {import("../decode.js").Next & { all: ArrayLike<number> | null }} Next `all`: the logits of the whole
 *   vocabulary by id, null until they have come
 *
 * @typedef {{ id: number; piece: string; a: number | null; b: number | null; change: number | null }} Candidate
 *   its probability in each run and B − A; null: not among a run's candidates, and its other logits are still to come
 */

/**
 * What a run that chooses has to choose from.
 *
 * @param {Trace} trace
 */
export const nextOf = ({ next }) => /** @type {import("../decode.js").Next} */ (next);

/** The most probable next token of a run. @param {Trace} trace */
export const likeliestOf = (trace) => topCandidates(nextOf(trace), 1).rows[0];

/**
 * The candidates of both runs, the ones with the largest probability in either first.
 *
 * @param {Next} a
 * @param {Next} b
 * @returns {{ candidates: Candidate[]; least: { a: number; b: number } }} `least`: what bounds those that are not
 *   known
 */
export function compared(a, b) {
  const [first, second] = [probabilitiesIn(a, a.all), probabilitiesIn(b, b.all)];
  /** @type {Map<number, string>} */
  const pieces = new Map();
  for (const next of [a, b]) next.ids.forEach((id, i) => pieces.set(id, next.pieces[i]));
  const candidates = [...pieces].map(([id, piece]) => {
    const [inA, inB] = [first.of(id), second.of(id)];
    return { id, piece, a: inA, b: inB, change: inA === null || inB === null ? null : inB - inA };
  });
  candidates.sort((x, y) => Math.max(y.a ?? 0, y.b ?? 0) - Math.max(x.a ?? 0, x.b ?? 0));
  return { candidates: candidates.slice(0, KEPT), least: { a: first.least, b: second.least } };
}

/** Two networks have tokens of their own. @param {Sides} sides */
const alike = ({ A, B }) => A.model.name === B.model.name;

/** Whether each predicts the same tokens: then it can be said how well. @param {Sides} sides */
const samePrediction = ({ A, B }) => alike({ A, B }) && A.T > 1 && String(A.tokens.ids) === String(B.tokens.ids);

/**
 * How well each run predicts its own text, where both read the same.
 *
 * @typedef {{ tokens: number; vocabulary: number; uniform: number; a: number | null; b: number | null }} Losses
 *   the mean of −log p of `tokens`, in nats, null until it has come; `uniform`: that of a guess among the vocabulary
 * @param {import("./reading.js").Pair} runs
 * @returns {Losses | null}
 */
function lossesOf({ A, B }) {
  if (!samePrediction({ A: A.trace, B: B.trace })) return null;
  const { T, model } = A.trace;
  return {
    tokens: T - 1,
    vocabulary: model.vocab_size,
    uniform: Math.log(model.vocab_size),
    a: A.details.loss?.mean ?? null,
    b: B.details.loss?.mean ?? null,
  };
}

/**
 * @typedef {{ id: number | null }} ChoiceSelection the candidate that is looked at; null: what each run would
 *   choose
 *
 * @typedef {AnswerReading & {
 *   likeliest: Record<"a" | "b", ReturnType<typeof likeliestOf>>;
 *   candidates: Candidate[] | null;
 *   candidate: Candidate | null;
 *   least: { a: number; b: number };
 *   complete: boolean;
 *   losses: Losses | null;
 * }} ChoicesReading
 *   `candidates`: null where the two choose among other tokens; `candidate`: the one that is looked at; `least` as
 *   `compared` has it; `complete`: whether all logits are here
 */

/**
 * What a run would choose, as a value line says it.
 *
 * @param {"A" | "B"} side
 * @param {ReturnType<typeof likeliestOf>} likeliest
 */
const outcomeOf = (side, { piece, probability: p }) => ({ at: `${side} next='${piece}'`, values: { p } });

/** @param {Candidate[]} candidates @returns {import("./reading.js").AnswerTable} */
const tableOf = (candidates) => ({
  keys: { id: candidates.map(({ id }) => id), piece: candidates.map(({ piece }) => piece) },
  columns: {
    A: candidates.map(({ a }) => a ?? ""),
    B: candidates.map(({ b }) => b ?? ""),
    B_minus_A: candidates.map(({ change }) => change ?? ""),
  },
});

/**
 * The next token in both runs.
 *
 * @type {import("./reading.js").PairReader<ChoicesReading, ChoiceSelection>}
 */
export const choicesReader = {
  later(sides) {
    /** @type {import("./reading.js").Questions} */
    const asked = {
      ...(alike(sides) && { logits: /** @type {const} */ (["logits", {}]) }),
      ...(samePrediction(sides) && { loss: /** @type {const} */ (["loss", {}]) }),
    };
    return { A: asked, B: asked };
  },
  read({ A, B }, { id }) {
    const [a, b] = [A, B].map(({ trace, details }) => ({ ...nextOf(trace), all: details.logits?.logits.data ?? null }));
    const likeliest = { a: likeliestOf(A.trace), b: likeliestOf(B.trace) };
    const { candidates, least } = compared(a, b);
    const own = alike({ A: A.trace, B: B.trace });
    const candidate = (own && candidates.find((one) => one.id === id)) || null;
    const both = { ...outcomeOf("A", likeliest.a), beside: outcomeOf("B", likeliest.b) };
    return {
      ...(candidate ? { at: `'${candidate.piece}'`, values: { A: candidate.a ?? "?", B: candidate.b ?? "?" } } : both),
      likeliest,
      candidates: own ? candidates : null,
      candidate,
      least,
      complete: Boolean(a.all && b.all),
      losses: lossesOf({ A, B }),
      rows: { candidates: () => tableOf(own ? candidates : []) },
    };
  },
};

/**
 * @typedef {{ layer: number; token: number }} StreamSelection
 *
 * @typedef {AnswerReading & {
 *   selection: StreamSelection;
 *   values: Record<"apart" | "first" | "ratio", number>;
 *   ratios: Float64Array;
 *   most: number;
 *   tokens: number;
 *   same: boolean;
 * }} StreamsReading
 *   `selection` as far as both runs have it; `ratios`: ‖B − A‖ / ‖A‖ of each place, rows × `tokens`; `most`: the one
 *   of full colour; `same`: whether the streams are the same everywhere
 */

/**
 * How far the two streams lie apart at each place, beside how long A's is.
 *
 * @param {import("../decoded.d.ts").Detail<"difference">} answer
 * @param {Float64Array} ratios
 * @returns {import("./reading.js").AnswerTable}
 */
function streamsTable({ apart, first }, ratios) {
  const [, tokens] = apart.shape;
  const places = [...ratios.keys()];
  return {
    keys: { before_layer: places.map((i) => Math.floor(i / tokens)), token: places.map((i) => i % tokens) },
    columns: { norm_of_difference: apart.data, norm_of_A: first.data, ratio: ratios },
  };
}

// The distance from 1 to the next number of each format, and how many of them the colours reach at the least.
/** @type {Record<string, number>} */
const STEP = { float32: 2 ** -23, float16: 2 ** -10, bfloat16: 2 ** -7 };
const STEPS = 128;

/**
 * The ratio of full colour: the largest, but so much at the least that rounding draws as nothing.
 *
 * @param {ArrayLike<number>} values
 * @param {string} dtype
 */
export const mostOf = (values, dtype) =>
  Array.from(values).reduce((most, value) => Math.max(most, value), STEPS * (STEP[dtype] ?? STEP.float32));

/** ‖B − A‖ / ‖A‖ of each place. */
const ratiosOf = once((/** @type {import("../decoded.d.ts").Detail<"difference">} */ { apart, first }) =>
  Float64Array.from(apart.data, (value, i) => value / first.data[i]),
);

/**
 * How far the stream of B lies from that of A, of two runs of one network: layers × tokens.
 *
 * @type {import("./reading.js").PairReader<StreamsReading, StreamSelection>}
 */
export const streamsReader = {
  needs: ({ A }) => ({ B: { apart: ["difference", { other: A.id }] } }),
  read({ B }, selection) {
    /** @type {import("../decoded.d.ts").Detail<"difference">} */
    const answer = B.details.apart;
    const { apart, first } = answer;
    const [rows, tokens] = apart.shape;
    const ratios = ratiosOf(answer);
    const [layer, token] = [Math.min(selection.layer, rows - 1), Math.min(selection.token, tokens - 1)];
    const at = layer * tokens + token;
    return {
      selection: { layer, token },
      ratios,
      most: mostOf(ratios, B.trace.model.dtype),
      tokens,
      same: apart.data.every((x) => x === 0),
      at: `${layer === rows - 1 ? "out" : `layer ${layer}`} token ${token}`, // above the last layer's row
      values: { apart: apart.data[at], first: first.data[at], ratio: ratios[at] },
      rows: { places: () => streamsTable(answer, ratios) },
    };
  },
};

/**
 * @typedef {import("./attend.js").CellSelection} CellSelection
 *
 * @typedef {AnswerReading & { values: Record<"A" | "B" | "change", number> }} HeadsReading
 */

/**
 * What a head gives a key in both runs, and the query's whole row.
 *
 * @type {import("./reading.js").PairReader<HeadsReading, Record<"A" | "B", CellSelection>>}
 */
export const headsReader = {
  layer: "needed",
  read(runs, cells) {
    const [a, b] = /** @type {const} */ (["A", "B"]).map((side) => headRow.read(runs[side], cells[side]));
    const pieces = /** @type {const} */ (["A", "B"]).map((side) => runs[side].trace.tokens.pieces);
    const [inA, inB] = [a, b].map(({ row: { weights } }) => weights);
    return {
      at: atCell(cells.B),
      values: { A: a.values.weight, B: b.values.weight, change: b.values.weight - a.values.weight },
      rows: {
        weights: () => ({
          keys: {
            query: Array.from(inA, () => cells.B.query),
            key: [...inA.keys()],
            piece_in_A: pieces[0].slice(0, inA.length),
            piece_in_B: pieces[1].slice(0, inA.length),
          },
          columns: { A: inA, B: inB, B_minus_A: subtract(inB, inA) },
        }),
      },
    };
  },
};
