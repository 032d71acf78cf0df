// What is known of a model's training: the log, the answers while it went on, and what the finished model was measured
// to do.

/**
 * @typedef {import("../decoded.d.ts").Detail<"training">} Training
 *
 * @typedef {import("./reading.js").Reading<object> & { found: Training }} TrainingReading
 */

const MILLION = 1e6;

/**
 * @typedef {[what: string, name: string, language: string, tokens: number | string, numbers: number[]]} Line of the
 *   record; `name`: of a stage or a skill; `numbers`: the value, and of a measurement how many were right of how
 *   many
 */

/** @param {Training} found @returns {Line[]} */
function linesOf({ log, answers, measured }) {
  const losses = log.flatMap(([stage, tokens, loss, heldout]) => [
    /** @type {Line} */ (["training_loss", stage, "", tokens, [loss]]),
    /** @type {Line} */ (["heldout_loss", stage, "", tokens, [heldout]]),
  ]);
  const shares = (answers?.data ?? []).flatMap(({ name, x, y }) =>
    x.map((millions, i) => {
      const skill = name.replace("text:training.skill_", "");
      return /** @type {Line} */ (["right_answers", skill, "", Math.round(millions * MILLION), [y[i]]]);
    }),
  );
  const skills = measured.map(
    ({ name, language, right, cases }) =>
      /** @type {Line} */ (["measured", name, language, "", [right / cases, right, cases]]),
  );
  return [...losses, ...shares, ...skills];
}

/** @param {Training} found @returns {import("./reading.js").Table} */
function recordOf(found) {
  const lines = linesOf(found);
  const number = (/** @type {number} */ i) => lines.map(([, , , , numbers]) => numbers[i] ?? NaN);
  return {
    keys: {
      what: lines.map(([what]) => what),
      stage_or_skill: lines.map(([, name]) => name),
      language: lines.map(([, , language]) => language),
      tokens_read: lines.map(([, , , tokens]) => tokens),
    },
    columns: { value: number(0), right: number(1), cases: number(2) },
  };
}

/**
 * The record of a training, and where it ended: tokens that were read, and the held-out loss in nats a token.
 *
 * @type {import("./reading.js").Reader<TrainingReading>}
 */
export const trainingReader = {
  needs: () => ({ found: ["training", {}] }),
  read({ details: { found } }, selection) {
    /** @type {Training["log"][number] | undefined} */
    const last = found.log.at(-1);
    /** @type {Record<string, number>} */
    const values = last ? { tokens: last[1], heldout: last[3] } : {};
    return {
      selection,
      found,
      at: last ? `stage ${last[0] || "-"}` : "no log",
      values,
      whole: ["tokens"],
      rows: { record: () => recordOf(found) },
    };
  },
};
