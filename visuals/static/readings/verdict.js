// What the heads that read the answer are worth: what is left without them, beside as many others that the server drew.

import { percent } from "../dom.js";

const AS_MUCH = 0.8; // the share of what these heads take that others may take before these are not singled out

/**
 * What is left with others off, the middle one of the draws; null without any.
 *
 * @param {{ by_chance: number[] }} look
 */
export function leftByChance({ by_chance: draws }) {
  return draws.length ? [...draws].sort((a, b) => a - b)[Math.floor(draws.length / 2)] : null;
}

/**
 * Whether those others take about as much of the probability, or more: then nothing is shown of these heads.
 *
 * @param {{ probability: number; look: { without: number; by_chance: number[] } }} found
 */
export function othersTakeAsMuch({ probability, look }) {
  const left = leftByChance(look);
  return left !== null && probability > look.without && probability - left >= AS_MUCH * (probability - look.without);
}

// where more of the probability stays, the heads alone do not decide; where it was less, they hold the word down
const KEPT = 0.8;
const READ = 3; // digits of a probability in a sentence

/**
 * Which sentence tells what the heads that read the answer are worth.
 *
 * @param {Pick<import("../decoded.d.ts").Detail<"why">, "probability" | "look">} found
 */
export function verdict({ probability, look }) {
  if (!look.heads.length) return "nobody";
  if (percent(look.without, READ) === percent(probability, READ)) return "same";
  if (probability < KEPT * look.without) return "rises";
  return look.without < KEPT * probability ? "falls" : "stays";
}
