// The jobs of heads that a model's heads.json names or that are measured on random tokens, and those of the selected
// head in words. Asked of the server once a model, since a run does not change them.

import { shown } from "../../dom.js";
import { reactive } from "../../reads.js";
import { MEASURED, habitsOf } from "../../readings/habits.js";

export const CLEAR = 0.3; // from this score on a head is called by its job
/** The jobs that the page has words for; others go by their own name and the file's definition. */
const KNOWN = [
  "previous_token",
  "first_token",
  "duplicate_token",
  "induction",
  "copying",
  "ov_copying",
  "same_entity",
  "answer_to_place",
];
/** What is meant by one where it was measured on random tokens, and not on texts. */
const ON_RANDOM = { first_token: "first_token_random" };

/**
 * The kind's label in the reader's language.
 *
 * @param {Function} text glass.text
 */
export const labelOf = (name, text) => (KNOWN.includes(name) ? text(`heads.kind_${name}`) : name);

/**
 * What the kind means, in the reader's language where the page has words for it.
 *
 * @param {{ name: string; definition: string }} kind
 * @param {Function} text glass.text
 * @param {boolean} [isRandom] whether it was measured on random tokens
 */
export const meaningOf = ({ name, definition }, text, isRandom = false) =>
  KNOWN.includes(name) ? text(`heads.means_${(isRandom && ON_RANDOM[name]) || name}`) : definition;

/**
 * The jobs that some head does, and those that none does: the best scores 0 or less.
 *
 * @param {{ kinds: object[] } | null} names
 */
export const done = (names) => (names?.kinds ?? []).filter(({ best }) => best.some(({ score }) => score > 0));
export const undone = (names) =>
  (names?.kinds ?? []).filter(({ best }) => best.length && best.every(({ score }) => score <= 0));

/**
 * The text that shows a job best, in the reader's language where there is one.
 *
 * @returns {string | null}
 */
export const promptOf = ({ prompt, prompts }, language) => prompts?.[language] ?? prompt ?? null;

/**
 * The clear jobs of one head.
 *
 * @param {{ kinds: object[] } | null} names
 * @returns {{ name: string; score: number }[]}
 */
export function jobsOf(names, layer, head) {
  return (names?.kinds ?? []).flatMap(({ name, best }) =>
    best
      .filter((one) => one.layer === layer && one.head === head && one.score >= CLEAR)
      .map(({ score }) => ({ name, score })),
  );
}

/** @typedef {import("../../messages.d.ts").HeadNamesDetail} Names */

/** @type {Map<string, Names>} */
const known = new Map();
const asking = reactive({ model: "" }); // whose heads are being measured

/** Whether random sequences are still to be measured. @type {(names: Names | null) => boolean} */
export const isPartial = (names) => names !== null && names.done !== null && names.done < names.total;

/** Whether the heads of the shown model are being measured. */
export const isMeasuring = (glass) => asking.model === glass.state.trace.model.name;

/** Begins or ends the measuring of the shown model's heads. */
export function measure(glass, isWanted) {
  asking.model = isWanted ? glass.state.trace.model.name : "";
  glass.repaint();
}

/**
 * The jobs of the shown model's heads; where they are being measured it asks for one random sequence more.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @returns {Names | null} null until they have come
 */
export function namesOf(glass) {
  const { name } = glass.state.trace.model;
  let names = known.get(name) ?? glass.detail("head_names", {});
  while (isMeasuring(glass) && isPartial(names)) {
    const more = glass.detail("head_jobs", { count: names.done + 1 });
    if (!more) break;
    names = more;
  }
  if (names) known.set(name, names);
  return names;
}

/** How far the shown run bears out one job of the selected head; "" where no run can. */
function hereText(glass, name) {
  const held = glass.layer();
  if (!(name in MEASURED) || !held) return "";
  const mean = habitsOf(held, glass.state.trace, glass.state.head)[MEASURED[name]];
  if (Number.isNaN(mean)) return "";
  return glass.text(`heads.here_${MEASURED[name]}${mean < CLEAR ? "_weak" : ""}`, { mean: shown(mean, 2) });
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @returns {{ label: string; scored: string; meaning: string; here: string }} what the selected head does:
 *   "Induction", "Induction (0.92)", what that means, and how far this run bears it out, where that can be measured
 *   on a run; empty where no job of it is known
 */
export function jobOfHead(glass) {
  const names = namesOf(glass);
  const jobs = jobsOf(names, glass.state.layer, glass.state.head).map(({ name, score }) => {
    const label = labelOf(name, glass.text);
    const meaning = meaningOf(
      names.kinds.find((kind) => kind.name === name),
      glass.text,
      names.done !== null,
    );
    return {
      label,
      scored: glass.text("heads.job", { label, score: shown(score, 2) }),
      meaning,
      here: hereText(glass, name),
    };
  });
  const joined = (part, between = " · ") =>
    jobs
      .map((job) => job[part])
      .filter(Boolean)
      .join(between);
  return { label: joined("label"), scored: joined("scored"), meaning: joined("meaning", " "), here: joined("here") };
}
