// @ts-check
// The story of one answer: scenes down the page, each a question, a picture of this run, and a few words.

import { h } from "../dom.js";
import { widthOf } from "../pointing.js";
import { reactive } from "../reads.js";
import { createLarge } from "./large.js";
import { createMap } from "./map.js";
import { createFrame } from "./scene.js";
import { createAnswer } from "./scenes/answer.js";
import { createCache } from "./scenes/cache.js";
import { createCarried } from "./scenes/carried.js";
import { createChoice } from "./scenes/choice.js";
import { createGate } from "./scenes/gate.js";
import { createGroup } from "./scenes/group.js";
import { createLayers } from "./scenes/layers.js";
import { createLooks } from "./scenes/looks.js";
import { createNorm } from "./scenes/norm.js";
import { createPieces } from "./scenes/pieces.js";
import { createRope } from "./scenes/rope.js";
import { followSpace } from "./space.js";

/** @typedef {import("../types.d.ts").Glass} Glass */

const SCENES = [
  createAnswer,
  createPieces,
  createNorm,
  createLooks,
  createRope,
  createGroup,
  createCarried,
  createGate,
  createLayers,
  createChoice,
  createCache,
];
const READ = "-35% 0% -60% 0%"; // of the window: the line at which a scene is the one that is read

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * @param {HTMLElement} place
 * @param {Glass} glass
 * @returns {(fresh: boolean) => void} draws it
 */
export default function createStory(place, glass) {
  const { state } = glass;
  const column = h("div.st-column");
  const wide = widthOf(column, glass);
  const scenes = SCENES.map((create) => createFrame(glass, create(glass), wide));
  const view = reactive({ at: scenes[0].name }, glass.repaint);
  const there = () => scenes.filter(({ element }) => !element.hidden);

  /** @param {string} name */
  function goTo(name) {
    const scene = scenes.find((one) => one.name === name);
    if (!scene) return;
    scene.element.scrollIntoView({ block: "start", behavior: calm() ? "instant" : "smooth" });
    scene.element.focus({ preventScroll: true });
  }
  /** @param {1 | -1} by */
  function step(by) {
    const all = there();
    const next = all[all.findIndex(({ name }) => name === view.at) + by];
    if (next) goTo(next.name);
    return Boolean(next);
  }
  const map = createMap(glass, goTo);
  const now = () => scenes.find(({ name }) => name === view.at)?.element;
  const large = createLarge(glass, place, { at: now, step, stay: () => goTo(view.at) });
  map.element.append(large);
  const end = h(
    "footer.st-end",
    null,
    h("p", { "data-text": "story.end" }),
    h("button.st-act", { "data-text": "story.end_open", click: () => glass.open("glance") }),
  );
  column.append(...scenes.map(({ element }) => element), end);
  place.append(map.element, column);
  glass.translate(place);

  const seen = new IntersectionObserver(
    (entries) => {
      const entry = entries.find(({ isIntersecting }) => isIntersecting);
      const name = entry?.target.getAttribute("data-scene");
      if (name) view.at = name;
    },
    { rootMargin: READ },
  );
  for (const { element } of scenes) seen.observe(element);
  followSpace(() => state.chapter === "story", step);

  return (fresh) => {
    for (const scene of scenes) scene.draw(fresh);
    const names = there().map(({ name }) => name);
    if (state.trace) map.draw(view.at, names.join(" "), state.trace.model.n_layers);
  };
}
