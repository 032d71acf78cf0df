// The jobs of heads that a model's heads.json names or that are measured on random tokens, and those of the selected
// head in words. Asked of the server once a model, since a run does not change them.

import { shown } from "../../dom.js";
import { reactive } from "../../reads.js";
import { CLEAR, MEASURED, habitsOf } from "../../readings/habits.js";
import { shownIn } from "../../run-for.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../messages.d.ts").HeadNamesDetail} Names
 *
 * @typedef {import("../../messages.d.ts").HeadKindMessage} Kind
 *
 * @typedef {object} JobInWords what a head does: "Induction", "Induction (0.92)", what that means, and how far this
 *   run bears it out, where that can be measured on a run; empty where no job of it is known
 * @property {string} label
 * @property {string} scored
 * @property {string} meaning
 * @property {string} here
 */

/** The jobs that the page has words for; others go by their own name and the file's definition. */
export const KNOWN = [
  "previous_token",
  "first_token",
  "duplicate_token",
  "induction",
  "copying",
  "ov_copying",
  "same_entity",
  "answer_to_place",
];
/**
 * What is meant by one where it was measured on random tokens, and not on texts.
 *
 * @type {Record<string, string>}
 */
const ON_RANDOM = { first_token: "first_token_random" };

/**
 * The kind's label in the reader's language.
 *
 * @param {string} name
 * @param {Say} text glass.text
 */
export const labelOf = (name, text) => (KNOWN.includes(name) ? text(`heads.kind_${name}`) : name);

/**
 * What the kind means, in the reader's language where the page has words for it.
 *
 * @param {Pick<Kind, "name" | "definition">} kind
 * @param {Say} text glass.text
 * @param {boolean} [isRandom] whether it was measured on random tokens
 */
export const meaningOf = ({ name, definition }, text, isRandom = false) =>
  KNOWN.includes(name) ? text(`heads.means_${(isRandom && ON_RANDOM[name]) || name}`) : definition;

/**
 * The jobs that some head does, and those that none does: the best scores 0 or less.
 *
 * @param {Names | null} names
 */
export const done = (names) => (names?.kinds ?? []).filter(({ best }) => best.some(({ score }) => score > 0));
/** @param {Names | null} names */
export const undone = (names) =>
  (names?.kinds ?? []).filter(({ best }) => best.length && best.every(({ score }) => score <= 0));

/**
 * The text that shows a job best, in the reader's language where there is one.
 *
 * @param {Pick<Kind, "prompt" | "prompts">} kind
 * @param {string} language
 * @returns {string | null}
 */
export const promptOf = ({ prompt, prompts }, language) => prompts?.[language] ?? prompt ?? null;

/**
 * The clear jobs of one head.
 *
 * @param {Names | null} names
 * @param {number} layer
 * @param {number} head
 * @returns {{ name: string; score: number }[]}
 */
export function jobsOf(names, layer, head) {
  return (names?.kinds ?? []).flatMap(({ name, best }) =>
    best
      .filter((one) => one.layer === layer && one.head === head && one.score >= CLEAR)
      .map(({ score }) => ({ name, score })),
  );
}

/** @type {Map<string, Names>} */
const known = new Map();
const asking = reactive({ model: "" }); // whose heads are being measured

/**
 * Whether random sequences are still to be measured.
 *
 * @type {(names: Names | null) => names is Names & { done: number }}
 */
export const isPartial = (names) => names !== null && names.done !== null && names.done < names.total;

/** Whether the heads of the shown model are being measured. @param {Glass} glass */
export const isMeasuring = (glass) => asking.model === shownIn(glass).trace.model.name;

/**
 * Begins or ends the measuring of the shown model's heads.
 *
 * @param {Glass} glass
 * @param {boolean} isWanted
 */
export function measure(glass, isWanted) {
  asking.model = isWanted ? shownIn(glass).trace.model.name : "";
  glass.repaint();
}

/**
 * The jobs of the shown model's heads; where they are being measured it asks for one random sequence more.
 *
 * @param {Glass} glass
 * @returns {Names | null} null until they have come
 */
export function namesOf(glass) {
  const { name } = shownIn(glass).trace.model;
  /** @type {Names | null} */
  let names = known.get(name) ?? glass.detail("head_names", {});
  while (isMeasuring(glass) && isPartial(names)) {
    const more = glass.detail("head_jobs", { count: names.done + 1 });
    if (!more) break;
    names = more;
  }
  if (names) known.set(name, names);
  return names;
}

/**
 * How far the shown run bears out one job of the selected head; "" where no run can.
 *
 * @param {Glass} glass
 * @param {string} name
 */
function hereText(glass, name) {
  const held = glass.layer();
  if (!(name in MEASURED) || !held) return "";
  const mean = habitsOf(held, shownIn(glass).trace, glass.state.head)[MEASURED[name]];
  if (Number.isNaN(mean)) return "";
  return glass.text(`heads.here_${MEASURED[name]}${mean < CLEAR ? "_weak" : ""}`, { mean: shown(mean, 2) });
}

/**
 * @param {Glass} glass
 * @returns {JobInWords} of the selected head
 */
export function jobOfHead(glass) {
  const names = namesOf(glass);
  const jobs = jobsOf(names, glass.state.layer, glass.state.head).map(({ name, score }) => {
    const label = labelOf(name, glass.text);
    const kind = names?.kinds.find((one) => one.name === name);
    const meaning = kind ? meaningOf(kind, glass.text, names?.done !== null) : "";
    return {
      label,
      scored: glass.text("heads.job", { label, score: shown(score, 2) }),
      meaning,
      here: hereText(glass, name),
    };
  });
  /** @type {(part: keyof JobInWords, between?: string) => string} */
  const joined = (part, between = " · ") =>
    jobs
      .map((job) => job[part])
      .filter(Boolean)
      .join(between);
  return { label: joined("label"), scored: joined("scored"), meaning: joined("meaning", " "), here: joined("here") };
}
