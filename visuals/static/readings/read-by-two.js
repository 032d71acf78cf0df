// One text in two networks: the same place in both, and of each run what a head reads there, which tokens it holds most
// probable next, and what the network costs.

import { strongest } from "../arrays.js";
import { bytesOf } from "../characters.js";
import { crossRow, row, topCandidates } from "../compute.js";
import { textOf } from "../decode.js";
import { sameChanges } from "../off.js";
import { likeliestOf, nextOf } from "./compare.js";

/**
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("../decoded.d.ts").Detail<"cost">} Cost
 *
 * @typedef {"A" | "B"} Side
 *
 * @typedef {{ layer: number; head: number; query: number }} Place which head of a network is looked at, and from
 *   which token
 *
 * @typedef {{ side: Side; token: number } | null} Pointed a word that is looked at
 */

/** Next tokens that are read. */
const NEXT = 5;

/**
 * The token of another run that holds the end of a token of this one: two tokenizers part a text in their own ways.
 *
 * @param {{ tokens: { pieces: string[] } }} from
 * @param {{ tokens: { pieces: string[] } }} to
 * @param {number} token
 * @returns {number}
 */
export function samePlace({ tokens: { pieces } }, { tokens: { pieces: others } }, token) {
  const shared = pieces.slice(0, token + 1);
  if (shared.every((piece, i) => piece === others[i])) return token;
  const end = shared.reduce((sum, piece) => sum + bytesOf(piece), 0);
  let reached = 0;
  const found = others.findIndex((piece) => (reached += bytesOf(piece)) >= end);
  return found < 0 ? others.length - 1 : found;
}

/**
 * What differs between two runs, as the form of their title: "" is one text in two networks. Of one network all
 * that was written counts as text, too; what another writes is its own.
 *
 * @param {Record<Side, Trace>} runs
 */
export function pairForm({ A, B }) {
  const isOther = A.model.name !== B.model.name;
  if (isOther) return A.prompt === B.prompt ? "" : "_texts_models";
  if (String(textOf(A).ids) !== String(textOf(B).ids)) return "_texts";
  return sameChanges(A, B) ? "_again" : "_changed";
}

/** A setting "layer.head". */
const PLACE = /^(\d{1,4})\.(\d{1,4})$/;

/**
 * The layer and head that are looked at in a run: its own where one is set, else the page's, as far as the network
 * has them.
 *
 * @param {string | undefined} own
 * @param {{ layer: number; head: number }} selected
 * @param {{ n_layers: number; n_heads: number }} model
 */
export function headOf(own, selected, { n_layers: layers, n_heads: heads }) {
  const [, layer, head] = PLACE.exec(own ?? "")?.map(Number) ?? [0, selected.layer, selected.head];
  return { layer: Math.min(layer, layers - 1), head: Math.min(head, heads - 1) };
}

/**
 * The run's text as a network reads it: what an encoder reads, where there is one.
 *
 * @param {import("../decode.js").Trace} trace
 */
export const textRead = (trace) => trace.encoder ?? trace;

/**
 * The weights of a query in a head over that text, and the token it reads most: a decoder's by its look at the
 * source.
 *
 * @param {import("../decode.js").Layer} held
 * @param {Trace} trace
 * @param {Place} place
 */
function lookOf(held, { model }, { head, query }) {
  const { cross } = held;
  const { weights } = cross ? crossRow({ cross }, model, head, query) : row(held, model, head, query);
  const [most] = strongest(weights, 1);
  return { weights, most, weight: weights[most] };
}

/** Tokens that a cache holds: those of a source as well. @param {Trace} trace */
const tokensOf = ({ T, encoder }) => T + (encoder?.T ?? 0);

/**
 * What is read of one of the two runs.
 *
 * @typedef {Place & {
 *   side: Side;
 *   trace: Trace;
 *   look: ReturnType<typeof lookOf> | null;
 *   next: ReturnType<typeof topCandidates>["rows"];
 *   likeliest: ReturnType<typeof likeliestOf>;
 *   tokens: number;
 *   cost: Cost | null;
 *   costs: Record<"parameters" | "read" | "kept" | "cached", number> | null;
 * }} ReadRun
 *   `look`: what the head reads; `cost`: what the network costs, `costs`: its sums, `cached`: the bytes of `tokens`
 *   in the cache; null until it has come
 * @param {Side} side
 * @param {import("./reading.js").Run} run
 * @param {Place} place
 * @returns {ReadRun}
 */
function readRun(side, { trace, held, details }, place) {
  const tokens = tokensOf(trace);
  /** @type {Cost | null} */
  const cost = details.cost;
  return {
    ...place,
    side,
    trace,
    look: held && lookOf(held, trace, place),
    next: topCandidates(nextOf(trace), NEXT).rows,
    likeliest: likeliestOf(trace),
    tokens,
    cost,
    // of a source a decoder keeps as much a token
    costs: cost && { parameters: cost.parameters, read: cost.read, kept: cost.kept, cached: cost.kept * tokens },
  };
}

/** Where a head of a side is looked at. @param {ReadRun} run */
const headAt = ({ layer, head, query }) => `layer ${layer} head ${head} query ${query}`;

/**
 * A row for each weight, each next token and each number of the costs.
 *
 * @param {ReadRun[]} runs
 * @returns {import("./reading.js").AnswerTable}
 */
function tableOf(runs) {
  const lines = runs.flatMap((run) => {
    const { side, trace, look, next, costs } = run;
    const { pieces } = textRead(trace).tokens;
    /**
     * @type {(
     *   what: string,
     *   place: string,
     *   index: number | "",
     *   piece: string,
     *   value: number,
     * ) => (string | number)[]}
     */
    const line = (what, place, ...more) => [what, side, trace.model.name, place, ...more];
    return [
      ...Array.from(look?.weights ?? [], (weight, key) => line("attention", headAt(run), key, pieces[key], weight)),
      ...next.map(({ id, piece, probability }) => line("next", "", id, piece, probability)),
      ...Object.entries(costs ?? {}).map(([name, value]) => line("cost", name, "", "", value)),
    ];
  });
  const column = (/** @type {number} */ i) => lines.map((cells) => cells[i]);
  const names = ["what", "side", "model", "place", "index", "piece"];
  return { keys: Object.fromEntries(names.map((name, i) => [name, column(i)])), columns: { value: column(6) } };
}

/**
 * What a run would write next and what its network costs, as a value line says it.
 *
 * @param {ReadRun} run
 */
const nextAt = ({ side, likeliest: { piece, probability }, costs }) => ({
  at: `${side} next='${piece}'`,
  values: { p: probability, read: costs?.read ?? "?", kept: costs?.kept ?? "?" },
  whole: ["read", "kept"],
});

/**
 * @typedef {Record<Side, Place> & { pointed: Pointed }} TwoSelection
 *
 * @typedef {import("./reading.js").AnswerReading & {
 *   runs: Record<Side, ReadRun>;
 *   word: (ReadRun & { token: number; weight: number }) | null;
 * }} TwoReading
 *   `word`: the one that is looked at, with what the head gives it
 */

/**
 * The word that is looked at, with what the head gives it; null where none is, or its weights are not here.
 *
 * @param {Record<Side, ReadRun>} runs
 * @param {Pointed} pointed
 * @returns {TwoReading["word"]}
 */
function wordAt(runs, pointed) {
  if (!pointed) return null;
  const [run, { token }] = [runs[pointed.side], pointed];
  if (!run.look || token >= textRead(run.trace).T) return null;
  return { ...run, token, weight: run.look.weights[token] ?? 0 }; // 0 after the query: the mask hides it
}

/** @type {import("./reading.js").PairReader<TwoReading, TwoSelection>} */
export const twoReader = {
  layer: "later",
  later: () => ({ A: { cost: ["cost", {}] }, B: { cost: ["cost", {}] } }),
  read({ A, B }, { pointed, ...places }) {
    const runs = { A: readRun("A", A, places.A), B: readRun("B", B, places.B) };
    const word = wordAt(runs, pointed);
    return {
      ...(word
        ? { at: `${word.side} ${headAt(word)} key ${word.token}`, values: { weight: word.weight } }
        : { ...nextAt(runs.A), beside: nextAt(runs.B) }),
      runs,
      word,
      rows: { read: () => tableOf([runs.A, runs.B]) },
    };
  },
};
