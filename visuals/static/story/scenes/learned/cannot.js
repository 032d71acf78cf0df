// What the model still cannot do: the lowest of what was measured when its training was over, each with its aim.

import { exact, h } from "../../../dom.js";
import { memo } from "../../../reads.js";
import { createBars } from "../../bars.js";
import { lowestOf } from "../../../readings/record.js";
import { recordOf } from "../../record.js";
import { bold, shareSaid } from "../../words.js";

const SHOWN = 7; // lines

/** @typedef {import("../../../readings/record.js").Measured} Measured */

/** @param {Measured} line */
const shareOf = ({ right, cases }) => right / cases;

/**
 * @param {import("../../scene.js").Glass} glass
 * @returns {import("../../scene.js").Scene}
 */
export function createCannot(glass) {
  const { state, text } = glass;
  const bars = createBars({ isShare: true });
  const note = h("p.st-note");
  const named = (/** @type {Measured} */ { name, language }) =>
    text("story-learned.skill_in", {
      skill: text(`training.skill_${name}`),
      language: text(`training.language_${language}`),
    });
  const paint = memo((/** @type {Measured[]} */ measured, _language) => {
    const lowest = [...measured].sort((a, b) => shareOf(a) - shareOf(b)).slice(0, SHOWN);
    bars.draw(
      lowest.map((line) => ({
        name: named(line),
        value: shareOf(line),
        words: shareSaid(text, shareOf(line)),
        strong: shareOf(line) < line.bar,
        aim: line.bar,
      })),
    );
  });
  return {
    name: "cannot",
    behind: ["overview", "training"],
    element: bars.element,
    notes: note,
    has: () => recordOf(glass)?.measured.length !== 0,
    draw() {
      const found = recordOf(glass);
      if (!found?.measured.length) return null;
      const { measured } = found;
      paint(measured, state.language);
      const short = measured.filter((line) => shareOf(line) < line.bar).length;
      const lowest = lowestOf(measured);
      note.textContent = text("story-learned.cannot_note");
      return {
        words: {
          lines: bold(String(measured.length)),
          met: bold(String(measured.length - short)),
          skill: bold(named(lowest)),
          right: bold(String(lowest.right)),
          cases: String(lowest.cases),
        },
        value: `lines ${measured.length} short ${short} lowest ${lowest.name} share=${exact(shareOf(lowest))}`,
      };
    },
  };
}
