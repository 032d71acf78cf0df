// At which depth a token is read: a look at it is forbidden in a window of layers alone, which a reader slides up. All
// windows come in one answer, so what is drawn of the text follows the slider at once.

import { choices, slider } from "../../controls.js";
import { h } from "../../dom.js";
import { LEAST, mostOf } from "./rests.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("./rests.js").Rests} Rests
 *
 * @typedef {import("../../decoded.d.ts").Decoded<import("../../messages.d.ts").WindowsDetail>} Windows
 *
 * @typedef {{ shown: Rests; windows: Windows | null }} Within what is shown, and all windows, once they have come
 */

/** The choices; the first is the default. */
const WITHIN = ["all", "window"];

/** @param {Pick<Glass, "settings">} glass */
const isAsked = ({ settings }) => settings.get("why").within === "window";

/**
 * Which window is shown: the one that the reader chose, else the middle one.
 *
 * @param {Windows} windows
 * @param {string} [given] the setting: the number of a window
 */
export function windowAt({ starts }, given) {
  const at = Number(given ?? "x");
  return Number.isInteger(at) && at >= 0 && at < starts.length ? at : Math.floor(starts.length / 2);
}

/**
 * What an answer rests on in one window of layers, of what it rests on in all. What is told of several tokens at
 * once, such as its form, stays that of the whole.
 *
 * @param {Rests} found
 * @param {Windows} windows
 * @param {number} at
 * @returns {Rests}
 */
export function restsWithin(found, { width, starts, lost }, at) {
  const count = lost.shape[1];
  const data = lost.data.slice(at * count, (at + 1) * count);
  const needed = Array.from(data.keys()).filter((t) => t < count - 1 && !found.sinks.includes(t) && data[t] >= LEAST);
  return {
    ...found,
    lost: { shape: [count], data },
    tokens: needed.sort((a, b) => data[b] - data[a]),
    layers: [starts[at], starts[at] + width - 1],
  };
}

/**
 * Rows of a file: every token in every window, named by its layers.
 *
 * @param {Rests} found
 * @param {Windows} windows
 * @param {string[]} pieces
 * @returns {(string | number)[][]}
 */
export const windowsTable = (found, windows, pieces) =>
  windows.starts.flatMap((_, at) => {
    const { layers, lost, probability, sinks } = restsWithin(found, windows, at);
    return Array.from(lost.data, (x, t) => [
      ...[sinks.includes(t) ? "sink" : "token", layers?.join("-") ?? "", "", t, pieces[t], x],
      Math.min(1, probability * Math.exp(-x)),
      1,
    ]);
  });

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
  /** @type {{ of: Rests; from: Windows; at: number; made: Rests } | null} the last one that was made */
  let last = null;
  /** @type {{ of: Rests; from: Windows; most: number } | null} the most that is lost in any window */
  let widest = null;

  /**
   * @param {Rests} of
   * @param {Windows} from
   * @param {number} at
   */
  function made(of, from, at) {
    if (widest?.of !== of || widest.from !== from) {
      // one scale for all windows, or a small loss would look like a large one
      const all = from.starts.map((_, one) => mostOf(restsWithin(of, from, one)));
      widest = { of, from, most: Math.max(...all) };
    }
    if (last?.of !== of || last.from !== from || last.at !== at)
      last = { of, from, at, made: { ...restsWithin(of, from, at), most: widest.most } };
    return last.made;
  }

  /** @param {Within | null} seen */
  function draw(seen) {
    const windows = seen?.windows ?? null;
    element.hidden = !seen || seen.shown.lost.data.length < 2;
    within.show();
    range.element.hidden = !windows;
    note.hidden = !isAsked(glass);
    note.textContent = glass.text(windows ? "why.window_means" : "why.measuring_windows");
    const [from, to] = seen?.shown.layers ?? [];
    if (!windows || from === undefined) return;
    range.show(windows.starts.indexOf(from), glass.text("why.layers", { from, to }), {
      max: windows.starts.length - 1,
    });
  }

  /**
   * What is to be shown: as `found`, or in the window that is chosen once that has come.
   *
   * @param {Rests} found
   * @param {{ token: number; target?: number }} question
   * @returns {Within}
   */
  function follow(found, question) {
    /** @type {import("../../decoded.d.ts").Detail<"windows"> | null} */
    let came = null;
    if (isAsked(glass)) came = glass.detail("windows", question);
    const windows = came && "lost" in came ? came : null;
    return { shown: windows ? made(found, windows, windowAt(windows, settings.get("why").window)) : found, windows };
  }
  return { element, draw, follow };
}
