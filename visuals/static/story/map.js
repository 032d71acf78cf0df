// A small map, which marks the scene that the reader is at. Of the story of an answer it is a map of the model: text in
// at its head, the next word out at its foot, and the layers between.

import { h } from "../dom.js";
import { memo } from "../reads.js";

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {import("./story.js").Story} story
 * @param {(scene: string) => void} goTo
 */
export function createMap(
  glass,
  { section, parts, inEveryLayer: [first, last] = [parts.length, parts.length - 1] },
  goTo,
) {
  const dots = new Map(
    parts
      .flat()
      .map((name) => [
        name,
        h("button.st-stop", { "data-stop": name, "data-text": `${section}.map_${name}`, click: () => goTo(name) }),
      ]),
  );
  const stops = (/** @type {string[][]} */ some) =>
    some.flat().map((name) => h("li", null, /** @type {HTMLElement} */ (dots.get(name))));
  const times = h("span.st-times");
  const inside = parts.slice(first, last + 1);
  const list = h(
    "ol",
    null,
    ...stops(parts.slice(0, first)),
    ...(inside.length ? [h("li.st-layers-of", null, h("ol.st-block", null, ...stops(inside)), times)] : []),
    ...stops(parts.slice(last + 1)),
  );
  const element = h("nav.st-mini", { "data-text-label": `${section}.map` }, list);
  /**
   * A scene that this run does not have, or of which that is not known yet, keeps its stop, which leads to the one
   * before it: there it is measured, and said.
   *
   * @param {string} at
   * @param {string} names of the scenes that are there
   * @param {string} possible of those that another run may have, each with the ending of its name in this network
   * @param {number} layers
   * @param {string} _language of what is said of it
   */
  function drawIn(at, names, possible, layers, _language) {
    const there = names.split(" ");
    const some = new Map(possible.split(" ").map((one) => /** @type {[string, string]} */ (one.split(":"))));
    times.textContent = `× ${layers}`;
    for (const [name, dot] of dots) {
      dot.hidden = !some.has(name);
      dot.dataset.text = `${section}.map_${name}${some.get(name) ?? ""}`;
      dot.textContent = glass.text(dot.dataset.text);
      const waits = !there.includes(name);
      dot.toggleAttribute("data-waits", waits);
      dot.title = waits ? glass.text("story.map_not_here") : "";
      if (name === at) dot.setAttribute("aria-current", "step");
      else dot.removeAttribute("aria-current");
    }
    // of a map that is wider than its room, what is marked is seen
    const [marked, room] = [dots.get(at), element];
    if (!marked || room.scrollWidth <= room.clientWidth) return;
    const middle = (/** @type {HTMLElement} */ one) => {
      const { left, width } = one.getBoundingClientRect();
      return left + width / 2;
    };
    room.scrollBy({ left: middle(marked) - middle(room) });
  }
  return { element, draw: memo(drawIn) };
}
