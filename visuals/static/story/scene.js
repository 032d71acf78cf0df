// One scene of a story: a question, a picture of this run, at most 45 words that answer, and the way to the panel
// behind it.

import { h } from "../dom.js";
import { filled, leadTo } from "../panels/glance/words.js";
import { changedBriefly, changedText, isChanged, takenBack } from "../off.js";
import { createFar } from "../how-far.js";
import { followView } from "../pointing.js";
import { askRests } from "../readings/rests.js";
import { effect, memo, reactive } from "../reads.js";
import { createGuess } from "./guess.js";
import { createWithheld, noting } from "../withheld.js";

/**
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {{
 *   words?: Record<string, Node | string>;
 *   form?: string;
 *   question?: string;
 *   value: string;
 *   select?: Partial<import("../selection.js").Selection>;
 *   guess?: import("./guess.js").Guess;
 * }} Told
 *   `words`: what the texts `<name>_title` and `<name>_says` of the story's section name; `form`: the ending of those
 *   that speak of another form; `question`: that of the title, where several forms answer one; `value`: the
 *   numbers, to full precision; `select`: what the panel behind is to show; `guess`: what a reader is asked first
 *
 * @typedef {{
 *   name: string;
 *   behind: [chapter: string, kind: string];
 *   part?: string;
 *   element: HTMLElement;
 *   notes?: HTMLElement;
 *   has?: (model: import("../types.d.ts").Model) => boolean;
 *   called?: (model: import("../types.d.ts").Model) => string;
 *   there?: () => boolean | null;
 *   opens?: () => void;
 *   asks?: () => Pick<Told, "words" | "form">;
 *   draw: (width: number, fresh: boolean) => Told | null;
 * }} Scene
 *   `element`: the picture, and what is read of it; `part`: of the panel behind, the part that is brought into view
 *   (its data-part); `notes`: what stands below the text; `has`: whether a network has what the scene is about;
 *   `called`: the ending of its name on the map, where that is another in some networks; `there`: whether this run
 *   has it, which is asked once the reader is near, and null until it is known; `opens`: opens what of the panel
 *   behind is folded; `asks`: what the title names and in which form, known before anything is measured; `draw`
 *   gives null while something has not come
 */

/**
 * What takes long to measure: as the texts call it. Scenes wait for the head that all of them follow (place.js),
 * and not for what else is told of it.
 *
 * @type {Record<string, string>}
 */
const TOLD_OF = {
  knocked: "rests",
  rests: "rests",
  looks_back: "head",
  told_apart: "head",
  lens: "lens",
  logit_terms: "logit_terms",
};
const AHEAD = "100% 0%"; // of the window: a scene so near is drawn, before a swipe brings it there

/** Fills an element anew where it is to say something else: marks of the glossary in it stay. */
function createFilling() {
  /** @type {WeakMap<Element, Node>} */
  const written = new WeakMap();
  /** @type {(place: HTMLElement, parts: (Node | string)[]) => void} */
  return (place, parts) => {
    const now = h("p", null, ...parts);
    if (written.get(place)?.isEqualNode(now)) return;
    written.set(place, now.cloneNode(true));
    place.replaceChildren(...now.childNodes);
  };
}

/**
 * The words of a scene: its question, what answers it, and what is said until that is known.
 *
 * @param {Glass} glass
 * @param {string} section of the story's texts
 * @param {Scene} scene
 */
function createWords(glass, section, { name, asks }) {
  const [title, says, awaited, far] = [h("h2"), h("p.st-says"), h("p", { role: "status" }), createFar(glass)];
  const notHere = h("div.st-waits", null, awaited, far.element);
  const put = createFilling();
  const write = memo((/** @type {Told} */ { words = {}, form = "", question = form }, _language) => {
    const text = (/** @type {string} */ part) => glass.text(`${section}.${name}_${part}`);
    const again = Object.entries(words).map(([key, word]) => [key, word instanceof Node ? word.cloneNode(true) : word]);
    put(title, filled(text(`title${question}`), Object.fromEntries(again))); // an element stands in one place alone
    put(says, filled(text(`says${form}`), words));
  });
  /**
   * The question stands while its answer is measured, unless that names what is not known yet.
   *
   * @param {string[]} coming what has been asked for
   */
  function ask([first]) {
    const { words = {}, form = "" } = asks?.() ?? {};
    const key = `${section}.${name}_title${form}`;
    const [template, isLacking] = [glass.text(key), (/** @type {Node | string} */ one) => /[{]/.test(String(one))];
    const parts = template === key ? [] : filled(template, words);
    put(title, parts.some(isLacking) ? [] : parts);
    const what = TOLD_OF[first] ?? null;
    const { trace } = glass.state;
    const { part } = what === "rests" && trace ? askRests(glass, { token: trace.T - 1 }) : { part: null };
    awaited.textContent = glass.text(what ? `story.waits_${what}` : "story.waits");
    far.draw(part, what);
  }
  return { title, says, notHere, write, ask };
}

/**
 * What is off in the run, or was taken over, and the way back to the run as it was.
 *
 * @param {Glass} glass
 * @param {() => void} focus takes the focus from the button, which goes with what it takes back
 */
function createChanged(glass, focus) {
  const said = h("p");
  const back = h("button.gp-option", { click: takeBack });
  const element = h("div.st-changed", { hidden: "" }, said, back);
  function takeBack() {
    focus();
    glass.change({});
  }
  /**
   * @param {import("../decode.js").Trace} trace
   * @param {boolean} isFirst of the story's scenes: there it is said whole
   */
  function draw(trace, isFirst) {
    element.hidden = !isChanged(trace);
    if (element.hidden) return;
    element.classList.toggle("is-brief", !isFirst);
    said.textContent = isFirst ? changedText({ B: trace }, glass.text) : changedBriefly(trace, glass.text);
    back.textContent = glass.text(`why.back_${takenBack(trace)}`);
    back.disabled = glass.state.awaited !== null;
  }
  return { element, draw };
}

/**
 * @param {Glass} glass
 * @param {string} section of the story's texts
 * @param {Scene} scene
 * @param {() => number} wide how wide a picture may be
 */
export function createFrame(glass, section, scene, wide) {
  const { name, behind, element: picture, has, draw } = scene;
  const id = `${section}-${name}`;
  const { title, says, notHere, write, ask } = createWords(glass, section, scene);
  title.id = id;
  /** @type {Partial<import("../selection.js").Selection> | undefined} */
  let chosen;
  function select() {
    if (chosen) glass.select(chosen);
    scene.opens?.();
  }
  const look = () => leadTo(glass, ...behind, select, scene.part);
  const view = reactive({ answered: /** @type {string | null} */ (null) }, glass.repaint);
  const more = h("button.st-more", { "data-text": `${section}.${name}_more`, click: look });
  const element = h("section.st-scene", {
    "data-scene": name,
    "data-behind": behind[1],
    "aria-labelledby": id,
    tabindex: "-1",
    hidden: "", // until it is known that this network has what the scene is about
  });
  const guess = createGuess(element, glass.text, (of) => {
    view.answered = of;
  });
  const below = scene.notes ? [scene.notes] : [];
  element.append(title, h("div.st-picture", null, notHere, picture), guess.element, says, ...below);
  element.append(h("p.st-foot", null, more));
  const withheld = createWithheld(element, glass.text);
  const changed = createChanged(glass, () => element.focus({ preventScroll: true }));
  title.after(changed.element, withheld.line);
  let near = false;
  /** @type {import("../decode.js").Trace | null} */
  let sought = null; // the run of which it is asked whether it has the scene
  let waits = false; // something is asked for: it is drawn once that comes, wherever the reader is then
  /** @type {import("../decode.js").Trace | null} */
  let toldOf = null; // the run that it speaks of
  const come = (/** @type {boolean} */ now) => {
    near = now;
    if (near) glass.repaint();
  };
  followView(element, come, { rootMargin: AHEAD });

  /** @param {boolean} fresh */
  function paint(fresh) {
    const width = wide();
    if (!width) return;
    const { trace } = glass.state; // read here, so that it is drawn again for another run, whatever the scene reads
    const told = draw(width, fresh);
    const { answered } = view; // read here, so that the scene is drawn again when its answer is asked for
    waits = !told || glass.state.awaited !== null;
    element.toggleAttribute("data-waits", !told);
    if (!told) return void ask(withheld.coming());
    toldOf = trace;
    chosen = told.select;
    element.dataset.value = told.value;
    element.toggleAttribute("data-more-comes", withheld.coming().length > 0); // which takes room, too
    write(told, glass.state.language);
    guess.draw(told.guess, answered);
  }
  const painted = effect(paint);
  const may = () => Boolean(glass.state.trace && has?.(glass.state.trace.model) !== false);
  /** The ending of its name on the map, for this network. */
  const called = () => (glass.state.trace && scene.called?.(glass.state.trace.model)) ?? "";
  /** Whether this run has it; null until that is known. */
  const isThere = () => (scene.there ? (sought === glass.state.trace ? scene.there() : null) : true);
  return {
    name,
    element,
    answer: guess.answer,
    isNear: () => near,
    /** Whether the network has what the scene is about. */
    may,
    called,
    isThere,
    /**
     * Draws it, where it is near, and the network and the run have what it is about.
     *
     * @param {boolean} fresh
     * @param {boolean} told whether there is anything to tell of this network
     * @param {boolean} comes whether the reader is near the two scenes before it or further on: what is hidden is
     *   never near itself
     * @param {boolean} isFirst of the story's scenes
     */
    draw(fresh, told, comes, isFirst) {
      const { trace } = glass.state;
      if (near || comes) sought = trace;
      element.hidden = !told || !may() || !isThere();
      if (!trace || element.hidden) return;
      if (near || waits) {
        changed.draw(trace, isFirst);
        noting(element, () => painted(fresh));
        withheld.show();
      }
      element.toggleAttribute("data-stale", !waits && toldOf !== null && toldOf !== trace);
    },
  };
}
