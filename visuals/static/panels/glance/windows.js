// At which depth a token is read: a look at it is forbidden in a window of layers alone, which a reader slides up. All
// windows come in one answer, so what is drawn of the text follows the slider at once.

import { choices, slider } from "../../controls.js";
import { h } from "../../dom.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../readings/why.js").WhyReading} WhyReading
 */

/** The choices; the first is the default. */
const WITHIN = ["all", "window"];

/** Whether a window of layers is looked at. @param {Pick<Glass, "settings">} glass */
export const isInWindow = ({ settings }) => settings.get("why").within === "window";

/**
 * The choice between all layers and a window of them, and the window's slider.
 *
 * @param {Glass} glass
 */
export function createWindows(glass) {
  const { settings } = glass;
  const within = choices(glass, "why", "within", WITHIN);
  const range = slider("gp-slider", "why.window", { min: 0, step: 1 }, (at) =>
    settings.set("why", { ...settings.get("why"), window: String(at) }),
  );
  const note = h("p.gp-note");
  const element = h("div.wy-windows", { hidden: "" }, within.element, range.element, note);
  /** @param {WhyReading} reading */
  function draw({ rests, windows }) {
    element.hidden = !rests || rests.lost.data.length < 2;
    within.show();
    range.element.hidden = !windows;
    note.hidden = !isInWindow(glass);
    note.textContent = glass.text(windows ? "why.window_means" : "why.measuring_windows");
    const [from, to] = rests?.layers ?? [];
    if (!windows || from === undefined) return;
    range.show(windows.starts.indexOf(from), glass.text("why.layers", { from, to }), {
      max: windows.starts.length - 1,
    });
  }
  return { element, draw };
}
