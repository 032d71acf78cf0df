// What the measurement with and without a cache is read as: the times and the work of each token, their sums, and how
// the work comes about.

/**
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("../decoded.d.ts").Calculation<"kv_race">["steps"][number]} Step
 *
 * @typedef {Pick<Trace["model"], "n_layers" | "n_heads" | "n_kv_heads" | "head_dim" | "d_model" | "ffn_hidden">} Shape
 *   what the work in the layers depends on
 *
 * @typedef {Shape & Pick<Trace["model"], "vocab_size">} Model
 */

/**
 * The parts of the work: entries of all matrices that a token is multiplied with in the layers and in the output,
 * and multiply–adds of one query that meets one key.
 *
 * @param {Model} model
 */
function partsOf({ n_layers, n_heads, n_kv_heads, head_dim, d_model, ffn_hidden, vocab_size }) {
  return {
    weights: n_layers * d_model * ((2 * n_heads + 2 * n_kv_heads) * head_dim + 3 * ffn_hidden),
    head: vocab_size * d_model,
    each: n_layers * n_heads * 2 * head_dim,
  };
}

/**
 * How many pairs of a query and a key there are where each token of a text meets all up to itself.
 *
 * @param {number} tokens
 */
export const pairsOf = (tokens) => (tokens * (tokens + 1)) / 2;

/**
 * Multiply–adds to read `fresh` tokens, whose queries meet keys in `pairs` pairs, and to score the next token
 * (model/analysis/cacheless.py has the same sum).
 *
 * @param {Model} model of the run
 * @param {number} fresh
 * @param {number} pairs
 */
export function workOf(model, fresh, pairs) {
  const { weights, head, each } = partsOf(model);
  return fresh * weights + head + each * pairs;
}

/**
 * Sums over the measured tokens.
 *
 * @param {Omit<Step, "tokens" | "token_id" | "same">[]} steps
 */
export function totals(steps) {
  /** @param {"cached_seconds" | "full_seconds" | "cached_work" | "full_work"} name */
  const sum = (name) => steps.reduce((all, step) => all + step[name], 0);
  return {
    cached: sum("cached_seconds"),
    full: sum("full_seconds"),
    cachedWork: sum("cached_work"),
    fullWork: sum("full_work"),
  };
}

/**
 * @param {Step[]} steps
 * @returns {import("./reading.js").AnswerTable}
 */
const stepsOf = (steps) => ({
  keys: { tokens: steps.map(({ tokens }) => tokens), token_id: steps.map(({ token_id }) => token_id) },
  columns: {
    cached_seconds: steps.map(({ cached_seconds }) => cached_seconds),
    full_seconds: steps.map(({ full_seconds }) => full_seconds),
    cached_multiply_adds: steps.map(({ cached_work }) => cached_work),
    full_multiply_adds: steps.map(({ full_work }) => full_work),
    same_token: steps.map(({ same }) => String(same)),
  },
});

/**
 * @typedef {import("./reading.js").AnswerReading & {
 *   steps: Step[];
 *   step: Step | null;
 *   sums: ReturnType<typeof totals>;
 *   differ: number;
 *   floor: number;
 *   parts: ReturnType<typeof partsOf>;
 * }} RaceReading
 *   `step`: the one that is told; `differ`: how many gave another token without the cache; `floor`: the least seconds
 *   with it
 */

/**
 * @param {Model} model of the run
 * @param {Step[]} steps that were measured so far
 * @param {Step | null} asked about; the last one where it is none of them
 * @returns {RaceReading}
 */
export function readRace(model, steps, asked) {
  const step = asked && steps.includes(asked) ? asked : (steps.at(-1) ?? null);
  return {
    steps,
    step,
    sums: totals(steps),
    differ: steps.filter(({ same }) => !same).length,
    floor: Math.min(...steps.map(({ cached_seconds }) => cached_seconds)),
    parts: partsOf(model),
    at: step ? `tokens=${step.tokens}` : "none",
    values: step
      ? {
          cached_seconds: step.cached_seconds,
          full_seconds: step.full_seconds,
          cached_work: step.cached_work,
          full_work: step.full_work,
          same: String(step.same),
        }
      : {},
    whole: ["cached_work", "full_work"],
    rows: { steps: () => stepsOf(steps) },
  };
}
