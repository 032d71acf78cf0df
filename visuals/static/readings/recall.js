// Of an answer that is recalled: what is said of where it is gathered and when it moves. Pure.

/** @typedef {import("../decoded.d.ts").Decoded<import("../messages.d.ts").RecalledDetail>} Recalled */

const SECOND = 2.5e10; // multiply–adds of about a second on two cores of a CPU (model/pieces.py)

/**
 * Whether it is measured without being asked for. About a run of the text for each layer is made.
 *
 * @param {{ n_parameters: number; n_layers: number }} model
 * @param {number} tokens
 */
export const isQuick = ({ n_parameters: size, n_layers: layers }, tokens) => size * layers * tokens <= SECOND;

/**
 * Which sentences say it, with {placeholders}: where it is gathered, when it moves, and with which rule that is not
 * clear.
 *
 * @param {Pick<Recalled, "gathered" | "moved" | "brought">} found
 */
export function keysOf({ gathered, moved, brought }) {
  const gathers = gathered.clear ? "gathered" : "gathered_not";
  const moves = !moved.clear ? "moved_not" : brought.clear ? "moved_by" : "moved";
  const ruled = !gathered.clear || !moved.clear || !brought.clear;
  return { gathers, moves, rule: ruled ? "rule" : null };
}

/**
 * As the value line has it.
 *
 * @param {Recalled} found
 */
export const valueOf = ({ token, gathered, moved, brought }) =>
  [
    `token ${token} gathered ${gathered.layers.first}-${gathered.layers.last}`,
    `all=${gathered.all} later=${gathered.later} above=${gathered.above}`,
    `attention=${gathered.attention} elsewhere=${gathered.elsewhere}`,
    `moved ${moved.layers.first}-${moved.layers.last} before=${moved.before} after=${moved.after}`,
    `head ${brought.layer}.${brought.head} lost=${brought.lost} following=${brought.following}`,
  ].join(" ");
