// The story of how the model learned, from the log and the evaluation beside its weights.

import { isTold } from "../readings/record.js";
import { recordOf } from "./record.js";
import { createAttempt } from "./scenes/learned/attempt.js";
import { createCannot } from "./scenes/learned/cannot.js";
import { createCorpus } from "./scenes/learned/corpus.js";
import { createInduction } from "./scenes/learned/induction.js";
import { createLoss } from "./scenes/learned/loss.js";
import { createSkills } from "./scenes/learned/skills.js";

/** @type {import("./story.js").Story} */
export const LEARNED = {
  section: "story-learned",
  parts: [["corpus"], ["loss"], ["skills"], ["induction"], ["cannot"], ["attempt"]],
  scenes: [createCorpus, createLoss, createSkills, createInduction, createCannot, createAttempt],
  lacks(glass) {
    const found = recordOf(glass);
    return found && !isTold(found) ? "lacks" : null;
  },
};
