// The selected head's known jobs, in words. Asked of the server once a model, since a run does not change them.

import { shown } from "../../dom.js";
import { jobsOf, labelOf, meaningOf } from "./names.js";

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

/**
 * @param {object} glass
 * @returns {{ label: string, scored: string, meaning: string }} what the selected head does: "Induction",
 * "Induction (0.92)", and what that means; empty where no job of it is known
 */
export function jobOfHead(glass) {
  const names = namesOf(glass);
  const jobs = jobsOf(names, glass.state.layer, glass.state.head).map(({ name, score }) => {
    const label = labelOf(name, glass.text);
    const meaning = meaningOf(names.kinds.find((kind) => kind.name === name), glass.text);
    return { label, scored: glass.text("heads.job", { label, score: shown(score, 2) }), meaning };
  });
  const joined = (part) => jobs.map((job) => job[part]).join(" · ");
  return { label: joined("label"), scored: joined("scored"), meaning: jobs.map(({ meaning }) => meaning).join(" ") };
}
