// What is said of a circuit: how far its parts carry the difference, beside what could refute that; and of a part what
// it reads and writes.

import { h, shown, signed } from "../../dom.js";
import { word } from "./words.js";

/**
 * @typedef {import("../../readings/circuit.js").Circuit} Circuit
 *
 * @typedef {import("../../readings/circuit.js").CircuitReading} CircuitReading
 *
 * @typedef {import("../../readings/circuit.js").ControlsReading} Controls
 *
 * @typedef {(name: string, params?: Record<string, string | number>) => string} Text of the section "why"
 */

const [NEARLY, HALF] = [0.9, 0.5]; // shares of the difference
/**
 * To a tenth of a percent; what rounds to nothing has no sign.
 *
 * @param {number} x
 */
export const percent = (x) => `${(Math.round(1000 * x) / 10 || 0).toFixed(1).replace("-", "−")}%`;

/**
 * How much of the difference a circuit carries, beside its controls: as many parts drawn by lot, as many that
 * change most, all others, and the same parts with other words.
 *
 * @param {CircuitReading} reading
 * @param {Controls | null} controls null: they are on their way, which is said
 * @param {Text} text
 * @param {number} most the largest number of parts that can be chosen
 * @returns {HTMLElement[]}
 */
export function faithOf(reading, controls, text, most) {
  const { answer, other, nodes } = reading.circuit;
  const { recovered, without } = reading.values;
  const params = { answer: word(answer.piece), other: word(other.piece), count: nodes.length };
  /** @type {(name: string, value: number) => HTMLElement} */
  const line = (name, value) => h("p", null, h("strong", null, percent(value)), " ", text(name, params));
  const so = text(recovered >= NEARLY ? "carries_all" : recovered >= HALF ? "carries_most" : "carries_little", params);
  const more = recovered < NEARLY && nodes.length < most ? ` ${text("carries_more")}` : "";
  return [
    h("p", null, text("circuit", params)),
    line("recovered", recovered),
    ...(controls ? ["by_change", "by_lot"].map((name) => line(name, controls.values[name])) : []),
    line("without", without),
    h("p", null, so, more),
    h("p", null, ...(controls ? heldOutOf(controls, nodes.length, text) : [text("controls_waiting", params)])),
  ];
}

/**
 * What the same parts carry with other words.
 *
 * @param {Controls} controls
 * @param {number} count of parts
 * @param {Text} text
 */
function heldOutOf({ pairs: tried, values }, count, text) {
  if (!tried.length) return [text("held_out_none")];
  const pairs = tried.map(({ words, share }) => `${words.map(word).join(" / ")} ${percent(share)}`).join(" · ");
  const rest = text("held_out", { count, tries: tried.length, pairs });
  return [h("strong", null, percent(values.held_out)), ` ${rest}`];
}

/**
 * What a part reads and writes, in words, and how much it carries; where it works against the answer, so it says.
 *
 * @param {Circuit["nodes"][number]} node
 * @param {Circuit} circuit
 * @param {string[]} source the pieces that the node's head looks at
 * @param {Text} text
 */
export function roleOf(node, { answer, other }, source, text) {
  const { reads, weight, to_answer: toAnswer, to_other: toOther, score } = node;
  const parts = [];
  if (reads !== null && weight !== null)
    parts.push(text("node_reads", { piece: word(source[reads]), weight: shown(weight, 2) }));
  if (toAnswer !== null && toOther !== null)
    parts.push(
      text("node_writes", {
        answer: word(answer.piece),
        other: word(other.piece),
        to_answer: signed(toAnswer, 2),
        to_other: signed(toOther, 2),
      }),
    );
  else parts.push(text("node_writes_on"));
  parts.push(text(score < 0 ? "node_against" : "node_score", { score: signed(score, 3) }));
  return parts.join(text("node_joint"));
}
