// Which skill came when: the tokens after which it was learned.

import { memo } from "../../../reads.js";
import { createBars } from "../../bars.js";
import { learnedOf } from "../../../readings/record.js";
import { nameOf, recordOf } from "../../record.js";
import { bold, large, shareSaid } from "../../words.js";

const CHOICES = 3;
const EXPLAINED = ["recall", "induction"]; // skills whose names do not say what they are

/** @typedef {import("../../../readings/record.js").Training} Training */

/**
 * Skills to choose from: the first that came, and others that came later or never, in the order of their names.
 *
 * @param {ReturnType<typeof learnedOf>} all
 */
function choicesOf(all) {
  const others = all.filter(({ tokens }) => tokens > all[0].tokens).slice(1 - CHOICES);
  return others.length ? [all[0], ...others].sort((a, b) => (a.name < b.name ? -1 : 1)) : [];
}

/**
 * What those of some skills are whose names do not say it, in brackets; nothing where there are none.
 *
 * @param {import("../../../types.d.ts").Say} text
 * @param {{ name: string }[]} choices
 */
function meansOf(text, choices) {
  const some = EXPLAINED.filter((skill) => choices.some(({ name }) => name.endsWith(`skill_${skill}`)));
  const all = some.map((skill) => text(`story-learned.skills_means_${skill}`)).join(text("story-learned.skills_and"));
  return all && text("story-learned.skills_means", { all });
}

/**
 * @param {import("../../scene.js").Glass} glass
 * @returns {import("../../scene.js").Scene}
 */
export function createSkills(glass) {
  const { state, text } = glass;
  const bars = createBars();
  const paint = memo((/** @type {Training} */ found, /** @type {string} */ language) => {
    bars.draw(
      learnedOf(found).map(({ name, tokens, last }) => {
        const known = tokens < Infinity;
        const never = () => text("story-learned.skills_never", { share: shareSaid(text, last) });
        return {
          name: nameOf(glass, name),
          value: known ? tokens : 0,
          words: known ? text("story-learned.tokens", { count: large(tokens, language) }) : never(),
        };
      }),
    );
  });
  return {
    name: "skills",
    behind: ["overview", "training"],
    element: bars.element,
    draw() {
      const { language } = state;
      const found = recordOf(glass);
      if (!found) return null;
      paint(found, language);
      const all = learnedOf(found);
      const known = all.filter(({ tokens }) => tokens < Infinity);
      const choices = known.length ? choicesOf(all) : [];
      const [first, last] = [known[0], known[known.length - 1]];
      const named = (/** @type {typeof first | undefined} */ one) => bold(one ? nameOf(glass, one.name) : "");
      return {
        form: known.length ? "" : "_none",
        guess: choices.length
          ? {
              hides: true,
              asks: text("story-learned.skills_asks", { means: meansOf(text, choices) }),
              choices: choices.map(({ name }) => nameOf(glass, name)),
              right: choices.indexOf(first),
            }
          : undefined,
        words: {
          first: named(first),
          at: bold(first ? large(first.tokens, language) : ""),
          last: named(last),
          then: bold(last ? large(last.tokens, language) : ""),
        },
        value: all.map(({ name, tokens }) => `${name.split("skill_").at(-1)}=${tokens}`).join(" "),
      };
    },
  };
}
