// One story: its scenes down the page, each a question, a picture of this run, and a few words; beside them its map.

import { h } from "../dom.js";
import { widthOf } from "../pointing.js";
import { memo, reactive } from "../reads.js";
import { hold } from "../scroll-anchor.js";
import { createMap } from "./map.js";
import { followReader } from "./read-scene.js";
import { createFrame } from "./scene.js";
import { createTyped } from "./typed.js";
import { createWish } from "./wish.js";

const MORE = 0.8; // of a screen, at once
const REST = 0.15; // of a screen: so little more is read with it
const LEAST = 0.3; // of a screen: no step on through a scene is shorter
const NEAR = 8; // px beyond the screen that nobody misses
const AT_ONCE = 2; // screens: what is further away is jumped to, past what would have to be drawn on the way
const BELOW = 60; // px: what stands below a scene's last sentence, which a page that scrolls shows with the next one

/**
 * How far to scroll on, or back, so that what the screen's edge cuts is seen whole: of all that it cuts the largest
 * part for which LEAST of a screen and more is scrolled; null where it cuts none such.
 *
 * @param {Element} element
 * @param {1 | -1} by
 */
function toNextPart(element, by) {
  const edge = by > 0 ? innerHeight : 0;
  const room = parseFloat(getComputedStyle(element).scrollMarginTop);
  const cut = [...element.querySelectorAll("*")]
    .map((part) => part.getBoundingClientRect())
    .filter(({ top, bottom }) => top < edge - NEAR && bottom > edge + NEAR)
    .map(({ top, bottom }) => (by > 0 ? top - room : innerHeight - bottom))
    .filter((far) => far >= LEAST * innerHeight);
  return cut.length ? Math.min(...cut) : null;
}

/**
 * How far to scroll on, or back, to read more of an element: px of the screen, at most to where it ends; 0 where
 * all of it has been seen.
 *
 * @param {Element | undefined} element
 * @param {1 | -1} by
 * @param {number} [slight] so few px more are no step of their own
 */
function unreadOf(element, by, slight = NEAR) {
  const box = element?.getBoundingClientRect();
  const beyond = box ? (by > 0 ? box.bottom - innerHeight : -box.top) : 0;
  if (!element || beyond <= slight) return 0;
  if (beyond <= (MORE + REST) * innerHeight) return by * beyond;
  return by * (toNextPart(element, by) ?? MORE * innerHeight);
}

/**
 * How far a scene that is taller than the screen goes on, or back; the last one ends with what stands after it.
 *
 * @param {Element | undefined} scene
 * @param {Element | null} after what stands after it
 * @param {1 | -1} by
 * @param {number} slight px that are no step of their own
 */
function unreadIn(scene, after, by, slight) {
  if (by < 0) return unreadOf(scene, by);
  return after ? unreadOf(after, by) : unreadOf(scene, by, slight);
}

/** @param {Element} element */
const isFar = (element) => Math.abs(element.getBoundingClientRect().top) > AT_ONCE * innerHeight;

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Says of a scene that was pressed and is not there that it is still measured, or that this run has none.
 *
 * @param {import("../types.d.ts").Glass} glass
 * @param {string} section of the story's texts
 */
function createWished({ text }, section) {
  const element = h("p.st-wished", { role: "status", hidden: "" });
  /**
   * @param {string | null} name
   * @param {ReturnType<typeof createFrame>[]} scenes
   */
  function draw(name, scenes) {
    element.hidden = name === null;
    const its = scenes.find((one) => one.name === name);
    const said = `story.wished_${its?.isThere() === false ? "none" : "waits"}`;
    element.textContent = name ? text(said, { scene: text(`${section}.map_${name}${its?.called() ?? ""}`) }) : "";
  }
  return { element, draw };
}

/**
 * Why a story has nothing to tell of the network that is shown, or what it tells of; in the first case with the way
 * to the one that comes with the page.
 *
 * @param {import("../types.d.ts").Glass} glass
 */
function createNone(glass) {
  const [said, button] = [h("p", { role: "status" }), h("button.st-act", { click: () => read() })];
  const acts = h("p.st-acts", null, button);
  const element = h("div.st-none", { hidden: "" }, said, acts);
  const other = () => {
    const [own, bundled] = [glass.state.trace?.model.name, glass.bundledModel()];
    return bundled === own ? null : bundled;
  };
  function read() {
    const name = other();
    if (name && glass.state.trace) glass.read(glass.state.trace.prompt, name);
  }
  /** @param {string} words @param {boolean} lacks */
  function draw(words, lacks) {
    const name = lacks ? other() : null;
    element.hidden = !words;
    said.textContent = words;
    acts.hidden = !name;
    button.textContent = name ? glass.text("story.answer_back", { model: glass.modelName(name) }) : "";
  }
  return { element, draw };
}

/**
 * A reader may be faster at a scene, on or back, than it is drawn: so long it says so by itself (style.css).
 *
 * @param {HTMLElement} column
 */
const createWaits = (column) =>
  memo((/** @type {string} */ words) => column.style.setProperty("--waits", JSON.stringify(words)));

/** @param {ReturnType<typeof createFrame>[]} scenes */
const namesOf = (scenes) => scenes.map(({ name }) => name).join(" ");

/** Scenes by name, each with the ending of its name on the map. @param {ReturnType<typeof createFrame>[]} scenes */
const calledAll = (scenes) => scenes.map((one) => `${one.name}:${one.called()}`).join(" ");

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {import("./story.js").Story} story
 * @param {{ foot: HTMLElement; beside: HTMLElement[] }} around `foot`: what stands after the last scene; `beside`:
 *   the stories by name, which stand at the top
 */
export function createColumn(glass, story, { foot, beside }) {
  const { section, lacks, note, of = (own) => own } = story;
  const column = h("div.st-column");
  const wide = widthOf(column, glass);
  const told = of(glass);
  const scenes = story.scenes.map((create) => createFrame(told, section, create(told), wide));
  const view = reactive({ at: scenes[0].name }, glass.repaint);
  const there = () => scenes.filter(({ element }) => !element.hidden);
  /** @param {string} name @param {boolean} [atOnce] */
  function goTo(name, atOnce = calm()) {
    const at = scenes.findIndex((one) => one.name === name);
    const scene = scenes.slice(0, at + 1).findLast(({ element }) => !element.hidden);
    if (!scene) return;
    wish.keep(scene.name === name ? null : name);
    sayWished();
    view.at = scene.name;
    const behavior = atOnce || isFar(scene.element) ? "instant" : "smooth";
    // scenes on the way there are drawn as they come near, and grow
    hold(() => {
      reading.bring(scene.element);
      scene.element.scrollIntoView({ block: "start", behavior });
    }, column);
    scene.element.focus({ preventScroll: true });
  }
  const now = () => scenes.find(({ name }) => name === view.at);
  /**
   * One scene on or back; on from a question first to its answer.
   *
   * @param {1 | -1} by
   */
  function step(by) {
    if (by > 0 && now()?.answer()) return true;
    const all = there();
    const next = all[all.findIndex(({ name }) => name === view.at) + by];
    if (next) goTo(next.name);
    return Boolean(next);
  }
  const after = () => (now() === there().at(-1) ? foot : null);
  const unread = (/** @type {1 | -1} */ by, slight = NEAR) => unreadIn(now()?.element, after(), by, slight);
  /**
   * On or back: first through a scene that is taller than the screen. At the story's end there is nothing to do.
   *
   * @param {1 | -1} by
   */
  function readOn(by) {
    const rest = unread(by, BELOW);
    if (rest) scrollBy({ top: rest, behavior: calm() ? "instant" : "smooth" });
    return Boolean(rest) || step(by) || (by > 0 && after() !== null);
  }
  const sayWished = () => wished.draw(wish.now(), scenes);
  const map = createMap(glass, story, goTo);
  const ways = h("p.st-ways", { "data-text-label": "story.others", role: "group" }, ...beside);
  const wished = createWished(glass, section);
  const aside = h("div.st-aside", null, map.element, wished.element);
  const none = createNone(glass);
  column.append(createTyped(glass), none.element, ...scenes.map(({ element }) => element), foot);
  const root = h("div.st-told", null, ways, aside, column);
  const reading = followReader(column, foot, there, (at) => void Object.assign(view, { at }), sayWished);
  for (const { element } of scenes) reading.follow(element);
  const wish = createWish(reading.moves, goTo);
  const sayWaits = createWaits(column);
  return {
    root,
    aside,
    step,
    readOn,
    unread,
    element: () => now()?.element,
    stay: () => goTo(view.at),
    /** Whether the reader is further on than at the first scene. */
    begun: () => view.at !== there()[0]?.name,
    /** Where the reader was, though the browser has scrolled meanwhile. */
    comeBack() {
      const { at } = view;
      goTo(at, true);
      requestAnimationFrame(() => goTo(at, true));
    },
    /** @param {boolean} fresh */
    draw(fresh) {
      sayWaits(glass.text("story.waits"));
      const lacking = (glass.state.trace && lacks?.(glass)) ?? null;
      const said = lacking ?? (glass.state.trace && note?.(glass)) ?? null;
      none.draw(said ? glass.text(`${section}.${said}`) : "", lacking !== null);
      foot.toggleAttribute("data-untold", lacking !== null);
      const furthest = scenes.findLastIndex((scene) => scene.isNear());
      scenes.forEach((scene, i) => scene.draw(fresh, lacking === null, furthest >= i - 2, i === 0));
      wish.grant(there().map(({ name }) => name));
      sayWished();
      const possible = lacking === null ? scenes.filter((scene) => scene.may()) : [];
      if (told.state.trace)
        map.draw(view.at, namesOf(there()), calledAll(possible), told.state.trace.model.n_layers, glass.state.language);
    },
  };
}
