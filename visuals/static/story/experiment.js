// What a reader can do to the answer, there and then: hide the word it rests on, switch off the heads that read it, or
// write another word. Two bars say how probable the answer was before and is now.

import { hasChinese } from "../characters.js";
import { exact, h } from "../dom.js";
import { glossed, glossOf } from "../gloss.js";
import { isChanged, sameChanges } from "../off.js";
import { createMeasuring } from "../panels/glance/measuring.js";
import { probabilitiesIn } from "../readings/probabilities.js";
import { leftOf as leftAfter, leftWithout } from "../readings/rests.js";
import { namedInWord, readersOff, sentences, swapButtons, wordAround } from "../panels/glance/words.js";
import { memo, reactive } from "../reads.js";
import { shareBar } from "./bars.js";
import { createFold } from "./fold.js";
import { placeOf } from "./place.js";
import { shareSaid } from "./words.js";

const SWAPS = 3;

/**
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {import("../readings/rests.js").Rests} Rests
 *
 * @typedef {import("../gloss.js").Gloss} Gloss
 *
 * @typedef {{ id: number; word: string; p: number }} Answer
 *
 * @typedef {{ name: "now" | "before" | "after" | "first"; word: string; p: number }} Bar
 *
 * @typedef {"hide" | "heads" | "word"} Act
 *
 * @typedef {import("../panels/glance/words.js").Swap} Swap
 *
 * @typedef {{
 *   act: Act | null;
 *   waits: boolean;
 *   before: Before | null;
 *   after: Of | null;
 *   swap: Swap | null;
 *   followed: Followed | null;
 * }} Tried
 *   `waits`: for the heads; `after`: the run that was asked for; `followed`: the head of the scenes, before others
 *   were switched off
 *
 * @typedef {Pick<import("../decode.js").Trace, "prompt" | "changes">} Of what a run is of
 *
 * @typedef {Answer & Of} Before
 *
 * @typedef {{ layer: number; head: number; left: number }} Followed `left`: how probable the answer is without it
 */

/**
 * The rows "before" and "now".
 *
 * @param {Glass} glass
 */
function createBars({ text }) {
  const body = h("tbody");
  const element = h("table.st-bars", null, body);
  const draw = memo((/** @type {string} */ packed, /** @type {Gloss} */ gloss, _language) => {
    const bars = /** @type {Bar[]} */ (JSON.parse(packed)); // as text, so that the same bars are not drawn again
    body.replaceChildren(
      ...bars.map(({ name, word, p }) =>
        h(
          `tr.is-${name}`,
          null,
          h("th", { scope: "row" }, text(`story.bar_${name}`)),
          h("td.st-best", null, ...glossed(word, gloss(word))),
          h("td.st-track", null, shareBar(p)),
          h("td.st-share", { title: exact(p, 6) }, shareSaid(text, p)),
        ),
      ),
    );
  });
  return { element, draw };
}

/**
 * The answer before, how probable it is with no look at the token, and what would come first then.
 *
 * @param {Answer} before
 * @param {number} left
 * @param {Answer | null} instead
 * @returns {Bar[]}
 */
function barsHidden(before, left, instead) {
  /** @type {Bar[]} */
  const both = [
    { ...before, name: "before" },
    { ...before, name: "after", p: left },
  ];
  return instead && instead.id !== before.id ? [...both, { ...instead, name: "first" }] : both;
}

/**
 * How probable a token is now; of one that is no candidate of the run, by all its logits, which are asked for then.
 *
 * @param {Glass} glass
 * @param {import("../decode.js").Next} next
 * @param {number} id
 */
function leftOf(glass, next, id) {
  const known = probabilitiesIn(next, null).of(id);
  if (known !== null) return known;
  const found = glass.detail("logits", {});
  return found && probabilitiesIn(next, found.logits.data).of(id);
}

/**
 * The answer before, how probable it is now, and what comes first now where that is another.
 *
 * @param {Answer} before
 * @param {Answer} now
 * @param {number | null} left of the answer before; null until it has come
 * @returns {Bar[]}
 */
function barsOf(before, now, left) {
  const first = { ...before, name: /** @type {const} */ ("before") };
  if (before.id === now.id) return [first, { ...now, name: "after" }];
  const after = left === null ? [] : [{ ...before, name: /** @type {const} */ ("after"), p: left }];
  return [first, ...after, { ...now, name: "first" }];
}

/**
 * What can be done to the answer, as buttons; once something is done, the way back, and until then what stops it.
 *
 * @param {Glass} glass
 * @param {{ hide: () => void; heads: () => void; back: () => void }} does
 */
function createActs({ state, text }, does) {
  const element = h("p.st-acts");
  /** @type {(name: keyof typeof does, words: string) => HTMLElement} */
  const button = (name, words) => h("button.st-act", { "data-act": name, click: does[name] }, words);
  /**
   * @type {(
   *   rests: Rests | null,
   *   act: Act | null,
   *   seeks: boolean,
   *   waits: boolean,
   *   gloss: Gloss,
   *   ...more: unknown[]
   * ) => void}
   */
  const draw = memo((/** @type {Rests | null} */ rests, act, seeks, waits, gloss) => {
    const [key] = rests?.tokens ?? [];
    const pieces = state.trace?.tokens.pieces ?? [];
    const word = key === undefined ? "" : namedInWord(text, pieces, key) + gloss(pieces[key]);
    const hide = word ? [button("hide", text("story.act_hide", { word }))] : [];
    const heads = rests ? [button("heads", text("story.act_heads"))] : [];
    element.replaceChildren(
      ...(act ? [button("back", text(`story.act_${seeks ? "stop" : "back"}`))] : [...hide, ...heads]),
    );
    for (const one of element.querySelectorAll("button")) one.disabled = waits;
  });
  return { element, draw };
}

/** @typedef {import("../decoded.d.ts").Detail<"words">} Words */

/** @typedef {import("../messages.d.ts").Changes} Changes */

/**
 * Other words that can be written in the text's place, as buttons.
 *
 * @param {Glass} glass
 * @param {(swap: Swap) => void} write
 */
function createSwaps(glass, write) {
  const element = h("p.st-acts.st-swaps");
  /** @type {(found: Words | null, waits: boolean, gloss: Gloss, changes: Changes, ...more: unknown[]) => void} */
  const draw = memo((/** @type {Words | null} */ found, waits, gloss, changes) => {
    const kept = isChanged({ changes }); // then what a swap would be answered is not known
    // where a swap has an answer in the text's own script, none is offered whose answer is in another
    const same = found?.swaps.filter(({ piece }) => hasChinese(piece) === hasChinese(found.text)) ?? [];
    const few = found && { ...found, swaps: (same.length ? same : found.swaps).slice(0, SWAPS) };
    const buttons = few ? swapButtons(glass, few, write, gloss, !kept) : [];
    for (const one of buttons) {
      one.classList.add("st-act");
      one.toggleAttribute("disabled", waits);
    }
    element.replaceChildren(
      ...(buttons.length ? [h("span", null, glass.text(`story.act_swap${kept ? "_kept" : ""}`)), ...buttons] : []),
    );
  });
  return { element, draw };
}

/**
 * That a token is hidden; of a word in several pieces, that the others are not.
 *
 * @param {Glass["text"]} text
 * @param {string[]} pieces
 * @param {number} key
 */
function hidSaid(text, pieces, key) {
  const { word, count } = wordAround(pieces, key);
  const did = text(`story.did_hide${count > 1 ? "_piece" : ""}`, { word, count });
  return sentences(text, did, text("story.did_hide_here"));
}

/**
 * Whether the head that the scenes follow is one of those that are off, and what the answer loses without it: the
 * two are found in different ways (place.js).
 *
 * @param {Glass} glass
 * @param {Followed} followed
 * @param {number[][]} off each a layer and a head
 * @param {Answer} before
 */
function followedSaid({ text }, { layer, head, left }, off, { word: answer, p: whole }) {
  const isOff = off.some((one) => one[0] === layer && one[1] === head);
  const [p, rest] = [whole, left].map((x) => shareSaid(text, x));
  const alone = text(`story.did_heads_alone${p === rest ? "_same" : ""}`, { answer, p, left: rest });
  return text(`story.did_heads_chosen_${isOff ? "too" : "not"}`, { head: text("story.head", { layer, head }), alone });
}

/**
 * Which heads are off, how they were found, and how they are related to the one that the scenes follow: behind a
 * fold, as what has happened is said without.
 *
 * @param {Glass} glass
 */
function createWhich(glass) {
  const { text } = glass;
  const [listed, found, related] = ["", "", ""].map(() => h("p.st-note"));
  const element = createFold("story.did_heads_which", listed, found, related);
  /** @param {Tried} tried @param {number[][]} off each a layer and a head */
  function draw({ followed, before }, off) {
    element.hidden = !off.length;
    const each = off.map(([layer, head]) => text("story.head_listed", { layer, head }));
    listed.textContent = text("story.did_heads_listed", { heads: each.join(text("why.list")) });
    found.textContent = text("story.did_heads_found");
    related.textContent = followed && before ? followedSaid(glass, followed, off, before) : "";
  }
  return { element, draw };
}

/**
 * What is said while what was done is under way.
 *
 * @param {Glass["text"]} text
 * @param {Act} act
 * @param {import("../panels/glance/measuring.js").Part | null} part of the heads, what is known by now
 */
function waitingSaid(text, act, part) {
  if (act !== "heads") return text("story.waits");
  return part ? text("story.did_wait_part", { done: part.done, total: part.total }) : text("story.did_wait");
}

/**
 * What is said of what was done.
 *
 * @param {Glass} glass
 * @param {Tried} view
 * @param {import("../decode.js").Trace} trace
 * @param {Rests | null} rests
 * @param {{ part: import("../panels/glance/measuring.js").Part | null } | null} under what is known by now, while
 *   it is under way
 */
function sayingOf(glass, { act, swap, before }, { tokens }, rests, under) {
  const { text } = glass;
  if (!act) return "";
  if (under) return waitingSaid(text, act, under.part);
  if (act === "hide") return hidSaid(text, tokens.pieces, rests?.tokens[0] ?? 0);
  if (act === "heads") return ""; // the scene's sentence says it
  const did = text("story.did_word", { word: swap?.word, other: swap?.other });
  return before && isChanged(before) ? sentences(text, did, text("story.did_word_kept")) : did;
}

/**
 * Which heads a reader has switched off here, each a layer and a head.
 *
 * @param {Tried} view
 * @param {Of} run
 */
function offHere({ act, before }, { changes }) {
  if (act !== "heads" || !before) return [];
  const were = new Set(before.changes.heads?.map(String));
  return (changes.heads ?? []).filter((one) => !were.has(String(one)));
}

/**
 * How many heads are off, the answer before, and how probable that is now (null until it has come); null where a
 * reader has switched none off here.
 *
 * @param {Glass} glass
 * @param {Tried} view
 */
function headsOffIn(glass, view) {
  const { trace } = glass.state;
  const { before } = view;
  const count = trace ? offHere(view, trace).length : 0;
  if (!before || !trace?.next || !count) return null;
  return { count, before, left: leftOf(glass, trace.next, before.id) };
}

/**
 * Whether a run is of a text and of these changes.
 *
 * @param {Of} run
 * @param {Of | null} one
 */
const isOf = (run, one) => one !== null && one.prompt === run.prompt && sameChanges(one, run);

/** @type {Tried} */
const UNTRIED = { act: null, waits: false, before: null, after: null, swap: null, followed: null };

/**
 * Keeps a keyboard's place: what was pressed goes, and the way back takes the focus once it can be pressed, unless
 * the reader has gone elsewhere.
 *
 * @param {HTMLElement} element
 */
function createFocusKeeper(element) {
  let isLost = false;
  /** @param {() => void} draw */
  return (draw) => {
    const isHere = element.contains(document.activeElement);
    draw();
    const now = document.activeElement;
    const isHeld = now === document.body || now === element.closest(".st-scene"); // which the story gives it meanwhile
    isLost = (isHere || isLost) && (isHeld || (now instanceof HTMLButtonElement && now.disabled));
    if (!isLost) return;
    /** @type {HTMLElement | null} */
    const next = element.querySelector("[data-act=back]:enabled") ?? element.querySelector("button[data-act]:enabled");
    next?.focus({ preventScroll: true });
    if (next?.matches(":focus-visible")) next.scrollIntoView({ block: "nearest", behavior: "instant" });
    isLost = document.activeElement !== next; // what is not shown takes none
  };
}

/** @param {Glass} glass */
export function createExperiment(glass) {
  const { state } = glass;
  const view = /** @type {Tried} */ (reactive({ ...UNTRIED }, glass.repaint));
  const bars = createBars(glass);
  const acts = createActs(glass, { hide: () => begin("hide"), heads, back });
  const swaps = createSwaps(glass, write);
  const [says, measuring] = [h("p.st-note", { role: "status" }), createMeasuring(glass)];
  const measured = h("progress.st-measured", { "data-text-label": "story.did_wait" });
  const which = createWhich(glass);
  const element = h("div.st-try", null, bars.element, acts.element, swaps.element, says, which.element, measured);
  const keepingFocus = createFocusKeeper(element);
  /** @type {Before | null} */
  let now = null;

  glass.on("run", (run) => {
    if (!isOf(run, view.after) && !(view.waits && isOf(run, view.before))) Object.assign(view, UNTRIED);
  });

  /** @param {Act} act */
  function begin(act) {
    view.before = now;
    view.act = act;
  }
  /** @param {Swap} swap */
  function write(swap) {
    begin("word");
    if (!state.run) return;
    const { changes, model } = state.run;
    view.swap = swap;
    view.after = { prompt: swap.text, changes };
    glass.read(swap.text, model.name, { changes });
  }
  function heads() {
    begin("heads");
    view.waits = true;
  }
  function back() {
    const { act, before } = view;
    Object.assign(view, UNTRIED);
    if (act === "heads" && before && state.run && !sameChanges(state.run, before)) glass.change(before.changes);
    if (act === "word" && before) glass.read(before.prompt, state.run?.model.name, before);
  }

  /**
   * Heads are measured in parts, and once it is known which the answer needs, those are switched off.
   *
   * @param {Rests | null} rests
   * @returns {import("../panels/glance/measuring.js").Part | null} what is known by now
   */
  function follow(rests) {
    measured.hidden = !view.waits;
    if (!view.waits || !state.trace) return null;
    const { part, complete } = measuring.follow({ token: state.trace.T - 1 });
    Object.assign(measured, { max: part?.total ?? 1, value: part?.done ?? 0 }); // a bar without a value looks full
    const found = complete ? glass.detail("why", { token: state.trace.T - 1 }) : null;
    const place = found && placeOf(glass);
    if (!place) return part;
    const { layer, head, look } = place;
    view.waits = false;
    view.followed = look && rests ? { layer, head, left: leftAfter(rests, look.missed) } : null;
    const { prompt, changes } = state.trace;
    const off = readersOff({ heads: found.look.heads });
    const all = { ...changes, heads: [...(changes.heads ?? []), ...off.heads] };
    view.after = { prompt, changes: all };
    queueMicrotask(() => glass.change(all));
    return part;
  }

  /**
   * @param {Answer} own the answer that is shown
   * @param {Rests | null} rests
   * @param {Answer | null} instead what would come first with no look at the token that is needed most
   * @param {boolean} isReliable whether it is worth trying what another word would give
   */
  function draw(own, rests, instead, isReliable) {
    const { trace, run, language } = state;
    if (!trace || !run) return;
    now = { ...own, prompt: run.prompt, changes: run.changes };
    const part = follow(rests);
    const { act, before } = view;
    const waits = state.awaited !== null; // what is pressed now would be of a run that is about to go
    const left = act === "hide" && rests?.tokens.length ? leftWithout(rests, rests.tokens[0]) : null;
    // until the run that was asked for is there, what is seen is the one before
    const comes = act !== "hide" && isOf(run, before);
    const leftNow = (/** @type {Answer} */ was) => trace.next && leftOf(glass, trace.next, was.id);
    const changed = (/** @type {Answer} */ was) =>
      left === null ? barsOf(was, own, leftNow(was)) : barsHidden(was, left, instead);
    const gloss = glossOf(glass);
    bars.draw(JSON.stringify(before && !comes ? changed(before) : [{ ...own, name: "now" }]), gloss, language);
    element.dataset.act = act ?? "";
    const words = act || !rests || !isReliable ? null : glass.detail("words", { token: trace.T - 1 });
    keepingFocus(() => {
      acts.draw(rests, act, view.waits, waits, gloss, language, trace.tokens.pieces);
      swaps.draw(words, waits, gloss, run.changes, language);
    });
    says.textContent = sayingOf(glass, view, trace, rests, comes ? { part } : null);
    which.draw(view, offHere(view, run));
  }
  return { element, draw, headsOff: () => headsOffIn(glass, view), hides: () => view.act === "hide" };
}
