// The selected head's known jobs, in words. Asked of the server once a model, since a run does not change them.

import { shown } from "../../dom.js";
import { MEASURED, habitsOf } from "./habits.js";
import { CLEAR, jobsOf, labelOf, meaningOf } from "./names.js";

const known = new Map();

/** The jobs of a model's heads as panels/attend/names.js reads them; null until they have come. */
function namesOf(glass) {
  const { name } = glass.state.trace.model;
  if (!known.has(name)) {
    const names = glass.detail("head_names", {});
    if (names) known.set(name, names);
  }
  return known.get(name) ?? null;
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
 * @param {object} glass
 * @returns {{ label: string, scored: string, meaning: string, here: string }} what the selected head does: "Induction",
 * "Induction (0.92)", what that means, and how far this run bears it out, where that can be measured on a run; empty where
 * no job of it is known
 */
export function jobOfHead(glass) {
  const names = namesOf(glass);
  const jobs = jobsOf(names, glass.state.layer, glass.state.head).map(({ name, score }) => {
    const label = labelOf(name, glass.text);
    const meaning = meaningOf(names.kinds.find((kind) => kind.name === name), glass.text);
    return { label, scored: glass.text("heads.job", { label, score: shown(score, 2) }), meaning, here: hereText(glass, name) };
  });
  const joined = (part, between = " · ") => jobs.map((job) => job[part]).filter(Boolean).join(between);
  return { label: joined("label"), scored: joined("scored"), meaning: joined("meaning", " "), here: joined("here") };
}
