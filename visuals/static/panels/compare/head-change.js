// The selected head in both runs: its attention weights in A, in B, and B − A, cell by cell.

import { labelsOf } from "../../characters.js";
import { createFirstApart } from "../../difference/first-apart.js";
import { h, share, signed } from "../../dom.js";
import { frame } from "../../frame.js";
import { hindrance } from "../../hindrance.js";
import { createMap } from "../../marks/attention-map.js";
import { readHead } from "../../marks/attention-values.js";
import { headOff, sameText } from "../../off.js";
import { inView, widthOf } from "../../pointing.js";
import { headsReader } from "../../readings/compare.js";
import { readBeside, shownIn } from "../../run-for.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { nameOf } from "./names.js";

const BUDGET = 3; // ms of a frame
const NAMES = ["a", "b", "change"];

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../readings/reading.js").Sides} Sides
 *
 * @typedef {import("../../marks/attention-values.js").CellMap} CellMap
 */

/** @type {import("../../frame.js").About} */
export const about = { tensors: ["attention"], sides: "both", unused: "head" };

/**
 * The maps of the head in A, in B, and of the change.
 *
 * @param {Glass} glass
 */
function createMaps(glass) {
  const state = shownIn(glass);
  /** @param {string} name @param {{ map: () => CellMap | null }[]} [between] */
  const one = (name, between) =>
    createMap(glass, {
      label: `head-change.map_${name}`,
      between,
      read(/** @type {Trace} */ trace) {
        const held = trace.layers.get(state.layer);
        return held ? readHead(held, trace.model, state.head) : null;
      },
      on: (/** @type {Trace} */ trace) => [trace.layers.get(state.layer), state.head],
      pieces: (/** @type {Trace} */ trace) => trace.tokens.pieces,
      off: (/** @type {Trace} */ trace) => headOff(trace, state.layer, state.head),
    });
  const [a, b] = ["a", "b"].map((name) => one(name));
  return [a, b, one("change", [b, a])];
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function headChange(element, glass) {
  const state = shownIn(glass);
  const maps = createMaps(glass);
  const panel = frame(element, glass, "head-change", {});
  const { text } = panel;
  const rooms = maps.map((map) => h("div", null, map.element));
  const further = createFirstApart(glass);

  /**
   * @param {string} reason why there is nothing to lay over each other; "" where there is
   * @param {string} same what is said in the place of the third map
   */
  const view = (reason, same) =>
    html`<p class="gp-note" ?hidden=${!reason} .textContent=${reason}></p>
      <div class="cmp-maps" ?hidden=${reason}>
        ${rooms.map(
          (room, i) =>
            html`<figure>
              <figcaption .textContent=${text(`map_${NAMES[i]}`)}></figcaption>
              ${room}
              <p class="gp-note" ?hidden=${i < 2 || !same} .textContent=${i < 2 ? "" : same}></p>
              ${i < 2 ? nothing : further.element}
            </figure>`,
        )}
      </div>`;
  render(view("", ""), panel.body);
  const wide = widthOf(rooms[0], glass);
  let said = ""; // in the place of the third map

  /**
   * Draws all three; the change alone is not drawn where there is none.
   *
   * @param {Sides} sides
   * @returns {string} what is said instead
   */
  function drawMaps({ A, B }) {
    const width = wide();
    if (!width) return "";
    const end = performance.now() + BUDGET;
    if (![[A], [B], [A, B]].map((runs, i) => maps[i].draw(runs, width, end)).every(Boolean)) glass.unfinished();
    const isSame = maps[2].same();
    maps[2].element.hidden = isSame;
    return isSame ? sameText({ A, B }, about.unused, state, glass.text) : "";
  }

  return inView(element, function draw() {
    const { layer, head, query, key } = state;
    const sides = glass.sides();
    const cell = { layer, head, query, key };
    const reason = sides ? hindrance(sides) : "empty";
    const reading = sides && !reason ? readBeside(glass, headsReader, sides, { A: cell, B: cell }) : null;
    panel.title.textContent = text("title", { layer, head });
    if (!sides || !reading) {
      render(view(text(reason ?? "layer", { a: sides?.A.T, b: sides?.B.T }), ""), panel.body);
      return panel.show(null, "");
    }
    render(view("", said), panel.body); // the maps have a size to draw in
    said = drawMaps(sides);
    further.draw(said ? sides : null);
    render(view("", said), panel.body);
    const [first, second] = [sides.A, sides.B].map(({ tokens }) => labelsOf(tokens.pieces));
    const { A, B, change } = reading.values;
    const words = text("read", {
      query: nameOf(first[query], second[query]),
      key: nameOf(first[key], second[key]),
      a: share(A),
      b: share(B),
      change: signed(change, 4),
    });
    return panel.show(reading, words);
  });
}
