// The diagram, the walk through it, and what of it is looked at: one choice for every side of a comparison.

import { h, svg as s } from "../../dom.js";
import { ownChoice } from "../../pointed.js";
import { rowFor, rowsOf } from "../../readings/diagram-rows.js";
import { shownIn } from "../../run-for.js";
import { createDiagram } from "./diagram.js";
import { createPlayer } from "./play.js";

/** @typedef {import("../../types.d.ts").Glass} Glass */

/** The row that is looked at; an index of its values. */
const row = ownChoice("attn");
const channel = ownChoice(/** @type {number | null} */ (null));
/** Which value of the row is looked at; null for the one that speaks for itself. */
const chosenIndex = () => channel.under() ?? (row.now() === row.kept() ? channel.kept() : null);

/**
 * What is looked at, in a network that may not have the row.
 *
 * @param {Glass} glass
 */
export function lookedAt(glass) {
  const { trace, layer, query } = shownIn(glass);
  return { key: rowFor(trace.model, row.now()), layer, token: query, index: chosenIndex() };
}

/**
 * The diagram and the walk through it: pointing at a row or a value looks at it, a click keeps it.
 *
 * @param {Glass} glass
 */
export function createView(glass) {
  const state = shownIn(glass);
  const svg = s("svg.ov-diagram");
  const go = (/** @type {string} */ key) => {
    row.keep(key);
    channel.keep(null);
    leave();
  };
  const player = createPlayer(glass, { now: row.kept, go });
  /** @param {() => void} act not while the walk goes on */
  const pointing = (act) => {
    if (player.playing()) return;
    act();
    glass.repaint();
  };
  const diagram = createDiagram(svg, {
    hover: (key) =>
      pointing(() => {
        row.hover(key);
        channel.hover(null);
      }),
    choose(key) {
      channel.keep(channel.now());
      row.keep(key);
      glass.repaint();
    },
    open(key) {
      const chapter = rowsOf(state.trace.model).find((one) => one.key === key)?.chapter;
      if (chapter) glass.open(chapter);
    },
    channel: (_key, index, lock) =>
      pointing(() => {
        channel.hover(index);
        if (lock) channel.keep(index);
      }),
  });
  function leave() {
    row.hover(null);
    channel.hover(null);
    glass.repaint();
  }
  svg.addEventListener("pointerleave", leave);
  return { svg, player, diagram, room: h("div.ov-room", null, svg) };
}
