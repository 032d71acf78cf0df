// One query's attention as arcs over the text: from the token that looks to every token that it looks at.

import { share } from "../../dom.js";
import { cellNames } from "../../draw.js";
import { frame } from "../../frame.js";
import { createArcs, THICK } from "../../marks/arcs.js";
import { scoreForms } from "../../parts.js";
import { inWidth, widthOf } from "../../pointing.js";
import { headRow } from "../../readings/attend.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { selectedCell, weightsTable } from "./cell-selection.js";
import { createWalk } from "./walk.js";
import { oneLine } from "../../one-line.js";

/** @param {import("../../types.d.ts").Glass} glass */
function walkControls(glass) {
  const { element, draw } = createWalk(glass);
  return { elements: [element], show: draw };
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["attention"],
  difference: {
    reader: headRow,
    select: selectedCell,
    controls: walkControls,
    of: ({ text, named }) => text("of_tokens", named),
    said: ["weight"],
    parts: [{ draw: "arcs" }, weightsTable],
  },
  unused: "head",
  forms: scoreForms,
};

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function arcs(element, glass) {
  const state = shownIn(glass);
  const drawn = createArcs(glass, "arcs.canvas");
  const panel = frame(element, glass, "arcs", { parts: ["what", "formula", "myth"] });
  const walk = createWalk(glass);

  /** @param {boolean | null} fits whether all names stand beside each other; null before anything is drawn */
  const view = (fits) => html`
    ${walk.element}
    <div>${drawn.element}</div>
    <p
      class="gp-note"
      .textContent=${
        fits === null ? "" : oneLine([panel.text("scale", { pixels: THICK }), fits ? "" : panel.text("crowded")])
      }
    ></p>
  `;
  render(view(null), panel.body);

  /** @param {import("../../readings/attend.js").CellReading} reading */
  function tell(reading) {
    const { layer, head, query, key } = reading.selection;
    const names = cellNames(state);
    panel.title.textContent = panel.text("title", { layer, head, query, piece: names.query });
    const words = panel.text("read", { ...names, weight: share(reading.values.weight), distance: query - key });
    panel.show(reading, words);
  }

  const holder = /** @type {HTMLElement} */ (drawn.element.parentElement);
  return inWidth(element, widthOf(holder, glass), function draw(width) {
    const [reading, held] = [readHere(glass, headRow, selectedCell(glass)), glass.layer()];
    const drawing = reading && held && drawn.draw([{ trace: state.trace, held }], width);
    return () => {
      walk.draw();
      if (!reading || !drawing) return;
      render(view(drawing.fits), panel.body);
      tell(reading);
    };
  });
}
