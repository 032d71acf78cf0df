// What the chart of bytes against context reads off the server's answer: its points, and which are beyond a model's
// context.

import { calledCell, counted, nameCell, sourceCell } from "./kv-answer.js";

/**
 * @typedef {import("../decoded.d.ts").Calculation<"kv_chart">} Answer
 *
 * @typedef {Answer["figure"]["data"][number]} Trace
 *
 * @typedef {import("./kv-answer.js").Card} Card
 *
 * @typedef {Pick<Card, "name" | "source">} SourcedCard
 */

/** Parts of a stack that are not of the cache, and so not in its format. */
const WEIGHTS = ["text:kv.stack_own_weights", "text:kv.stack_draft_weights"];

/**
 * Every point with what it is of, its exact bytes, and where its model's numbers were read.
 *
 * @param {Answer} answer
 * @param {Card | null} card of the model asked about
 * @param {SourcedCard[]} cards of the catalogue
 * @returns {import("./reading.js").AnswerTable}
 */
function pointsOf({ figure: { data: traces }, batch, dtype, tp, pp, dcp }, card, cards) {
  const called = (/** @type {string} */ name) => (card && name === card.name ? calledCell(card) : nameCell(name));
  /** A line is called as its model is. @type {(name: string, line: boolean) => import("./reading.js").Cell} */
  const whatOf = (name, line) => (line ? { key: "kv-chart.whole_cache" } : nameCell(name));
  const points = traces.flatMap(({ name = "", line, models, tokens, bytes }) =>
    name
      ? models.map((model, i) => ({
          model,
          what: whatOf(name, Boolean(line)),
          format: WEIGHTS.includes(name) ? "" : dtype,
          tokens: tokens[i],
          bytes: bytes[i],
        }))
      : [],
  );
  const sources = new Map(cards.map((one) => [one.name, sourceCell(one)]));
  if (card) sources.set(card.name, sourceCell(card));
  return {
    keys: {
      model: points.map(({ model }) => called(model)),
      tokens: points.map(({ tokens }) => tokens),
      batch: points.map(() => batch),
      kv_format: points.map(({ format }) => format),
      tp: points.map(() => tp),
      pp: points.map(() => pp),
      dcp: points.map(() => dcp),
      what: points.map(({ what }) => what),
    },
    columns: {
      bytes: points.map(({ bytes }) => counted(bytes)),
      source: points.map(({ model }) => sources.get(model) ?? ""),
    },
  };
}

/**
 * Models with a bar beyond their own context, and that.
 *
 * @param {Pick<Trace, "models" | "contexts">[]} traces
 * @returns {[model: string, context: number][]}
 */
export function beyondContext(traces) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const { models, contexts = [] } of traces)
    contexts.forEach((context, i) => {
      if (context !== null) found.set(models[i], context);
    });
  return [...found];
}

/**
 * What a token more costs along a line: the bytes of each between two of its points, as long as these are the same.
 *
 * @param {Pick<Trace, "tokens" | "bytes">} trace
 * @returns {{ until: number; each: bigint }[]} `until`: the tokens up to which that is so
 */
export function eachToken({ tokens, bytes }) {
  /** @type {{ until: number; each: bigint }[]} */
  const runs = [];
  let before = { tokens: 0, bytes: 0n };
  tokens.forEach((count, i) => {
    const now = { tokens: count, bytes: BigInt(bytes[i]) };
    const each = (now.bytes - before.bytes) / BigInt(now.tokens - before.tokens);
    const last = runs.at(-1);
    if (last?.each === each) last.until = count;
    else runs.push({ until: count, each });
    before = now;
  });
  return runs;
}

/**
 * How many of a model's layers keep every token, and how many only the latest ones.
 *
 * @param {Pick<Card, "n_layers" | "window" | "chunk">} card
 * @param {import("../decoded.d.ts").Calculation<"kv">["growth"]} growth of its cache; null: every token adds the
 *   same
 * @returns {{ all: number; some: number; latest: number } | null} null where it is no more than these
 */
export function layersKept({ n_layers: layers, window, chunk }, growth) {
  if (!growth) return window === null && chunk === null ? { all: layers, some: 0, latest: 0 } : null;
  const [first, last] = [growth.phases[0], growth.phases[growth.phases.length - 1]].map(({ terms }) =>
    terms
      .flatMap(({ factors }) => factors.filter(({ code }) => code === "layers"))
      .reduce((n, { value }) => n + value, 0),
  );
  const { until } = growth.phases[0];
  return first === layers && last < first && until !== null ? { all: last, some: first - last, latest: until } : null;
}

/**
 * @typedef {import("./reading.js").AnswerReading & {
 *   answer: Answer;
 *   beyond: [model: string, context: number][];
 *   growth: { model: string; runs: ReturnType<typeof eachToken> }[];
 * }} ChartReading
 *   `growth`: of each line, what a token more costs
 * @param {Answer} answer
 * @param {Record<string, string>} settings how it is drawn
 * @param {Card | null} card of the model asked about
 * @param {SourcedCard[]} cards of the catalogue
 * @returns {ChartReading}
 */
export function readChart(answer, { view, x, y, unit }, card, cards) {
  const { data } = answer.figure;
  return {
    answer,
    beyond: beyondContext(data),
    growth: data.flatMap((trace) =>
      trace.line && trace.name && trace.tokens.length > 1 ? [{ model: trace.name, runs: eachToken(trace) }] : [],
    ),
    at: `view=${view} x=${x} y=${y} unit=${unit}`,
    values: { traces: data.length },
    whole: ["traces"],
    rows: { points: () => pointsOf(answer, card, cards) },
  };
}
