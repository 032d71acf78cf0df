// @ts-check
// A small map of the model, which marks the part that the reader is at: text in at its head, the next word out at its
// foot, and the layers between.

import { h } from "../dom.js";
import { memo } from "../reads.js";

/** Scenes by the part of the model that they are about, from the text to the next word. */
const PARTS = [
  ["answer"],
  ["pieces"],
  ["norm"],
  ["looks", "rope", "group", "carried"],
  ["gate"],
  ["layers"],
  ["choice"],
  ["cache"],
];
const [FIRST, LAST] = [2, 4]; // of the parts that stand in every layer

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {(scene: string) => void} goTo
 */
export function createMap(glass, goTo) {
  const dots = new Map(
    PARTS.flat().map((name) => [
      name,
      h("button.st-stop", { "data-stop": name, "data-text": `story.map_${name}`, click: () => goTo(name) }),
    ]),
  );
  const stop = (/** @type {string} */ name) => h("li", null, /** @type {HTMLElement} */ (dots.get(name)));
  const times = h("span.st-times");
  const block = h("ol.st-block", null, ...PARTS.slice(FIRST, LAST + 1).flatMap((part) => part.map(stop)));
  const list = h(
    "ol",
    null,
    ...PARTS.slice(0, FIRST).flatMap((part) => part.map(stop)),
    h("li.st-layers-of", null, block, times),
    ...PARTS.slice(LAST + 1).flatMap((part) => part.map(stop)),
  );
  const element = h("nav.st-mini", { "data-text-label": "story.map" }, list);
  const draw = memo((/** @type {string} */ at, /** @type {string} */ names, /** @type {number} */ layers) => {
    const there = names.split(" ");
    times.textContent = `× ${layers}`;
    for (const [name, dot] of dots) {
      dot.hidden = !there.includes(name);
      if (name === at) dot.setAttribute("aria-current", "step");
      else dot.removeAttribute("aria-current");
    }
    // of a map that is wider than its room, what is marked is seen
    const [marked, room] = [dots.get(at), element];
    if (marked && room.scrollWidth > room.clientWidth)
      room.scrollTo({ left: marked.offsetLeft - room.clientWidth / 2 + marked.offsetWidth / 2 });
  });
  return { element, draw };
}
