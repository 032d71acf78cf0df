// Why it is this word: who looks back at which token, what is left without them, and what else the answer would miss.

import { exact, h } from "../../dom.js";
import { STORY } from "../../level.js";
import { isChanged, takenBack } from "../../off.js";
import { memo, reactive } from "../../reads.js";
import { shownIn } from "../../run-for.js";
import { createHow } from "./how.js";
import { createMissed } from "./missed.js";
import { partsTable, rankingOf } from "./ranking.js";
import { reasonsOf } from "./reasons.js";
import { createNeeded, restsSaid, restsTable } from "./rests.js";
import { createWindows, windowsTable } from "./windows.js";
import { readersOff, selectLook } from "./words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../decoded.d.ts").Detail<"why">} Why
 *
 * @typedef {import("./rests.js").Rests} Rests
 *
 * @typedef {object} Told what is told of a moment, as far as it has come
 * @property {Why | null} found
 * @property {Rests | null} rests
 * @property {import("./windows.js").Within | null} within what is shown of what the answer rests on: in all layers,
 *   or in a window
 * @property {import("./measuring.js").Heads | null} heads
 */

/**
 * The circuit below the answer, which is fetched once it is asked for.
 *
 * @param {Glass} glass
 * @param {() => import("../../chosen-step.js").Moment} moment
 */
function createCircuitPlace(glass, moment) {
  const element = h("div.wy-circuit", { "data-part": "circuit" });
  /** @type {{ circuit: ReturnType<typeof import("./circuit.js").createCircuit> | null }} once it has come */
  const view = reactive({ circuit: null }, glass.repaint);
  let asked = false;
  async function fetchCircuit() {
    if (asked) return;
    asked = true;
    const { createCircuit } = await import("./circuit.js");
    const made = createCircuit(glass, element, moment);
    glass.translate(element);
    view.circuit = made;
  }
  /** @param {{ position: number } | null} found */
  function draw(found) {
    fetchCircuit();
    view.circuit?.draw(found);
  }
  return { element, draw };
}

/**
 * What is said of an answer, and the ranking of what it would miss.
 *
 * @param {Glass} glass
 */
function createReasons(glass) {
  const state = shownIn(glass);
  /** @type {import("../../types.d.ts").Say} */
  const text = (name, params) => glass.text(`why.${name}`, params);
  const said = h("div.wy-said", { "aria-live": "polite" });
  const proof = h("div.wy-proof", { "aria-live": "polite" });
  const off = h("button.gp-option.gp-holds", {
    click: () => glass.change(isChanged(state.trace) || !shown ? {} : readersOff(shown.look)),
  });
  const parts = h("ol.wy-parts");
  const [heading, means] = [h("summary"), h("p.gp-note")];
  const list = h("details.wy-list", null, heading, means, parts);
  const told = h("button.gp-option", { "data-story": STORY, "data-text": "story.start" });
  const actions = h("p.wy-actions", null, told, " ", off);
  /** @type {Why | null} the answer whose heads the button switches off */
  let shown = null;

  /**
   * @param {Why | null} found
   * @param {Rests | null} rests
   * @param {boolean} stopped
   * @param {boolean} changed
   */
  function write(found, rests, stopped, changed) {
    shown = found;
    const waiting = h("p.gp-note", null, text(rests ? "measuring_heads" : "measuring"));
    const { says, proves } = found ? reasonsOf(glass, found) : { says: [waiting], proves: [] };
    said.replaceChildren(...(rests ? restsSaid(glass, rests) : says));
    proof.replaceChildren(...(rests && !found ? (stopped ? [] : [waiting]) : proves));
    list.hidden = !found?.parts.length;
    const count = found?.look.heads.length ?? 0;
    off.hidden = !changed && !count; // nothing to switch off, or not yet
    off.textContent = text(changed ? `back_${takenBack(state.trace)}` : "switch_off", { count });
    if (!found) return;
    const of = found.grid ? "_group" : "";
    heading.textContent = text(`parts${of}`);
    means.textContent = text(`parts${of}_means`);
    parts.replaceChildren(...rankingOf(glass, found));
  }
  return { said, proof, actions, list, draw: memo(write) };
}

/**
 * For data-value: which token the answer rests on or is read at, and what is left without the heads that it misses.
 *
 * @param {Why | null} found
 * @param {Rests | null} rests
 */
function tell(found, rests) {
  const within = rests?.layers ? ` layers ${rests.layers.join("-")}` : "";
  const lost = rests
    ? ` form ${rests.form}${within} rests ${rests.tokens.join(",")} sinks ${rests.sinks.join(",")}`
    : "";
  return `${lost}${found ? tellHeads(found) : ""}`;
}
/** @param {Why} found */
function tellHeads(found) {
  const { kind, key, heads, without } = found.look;
  return ` ${kind === "cross" ? "source" : "key"} ${key} heads ${heads.length} without=${exact(without)}`;
}

/**
 * @param {Glass} glass
 * @param {() => import("../../chosen-step.js").Moment} moment
 * @param {() => void} toggleMeasuring has the heads be measured no further, or again
 */
export function createAnswer(glass, moment, toggleMeasuring) {
  const state = shownIn(glass);
  const reasons = createReasons(glass);
  const how = createHow(glass);
  const needed = createNeeded(glass);
  const windows = createWindows(glass);
  const missed = createMissed(glass, toggleMeasuring);
  const circuit = createCircuitPlace(glass, moment);
  const twoTexts = h("p.gp-note", { hidden: "", "data-text": "why.two_texts" });
  const { said, proof, actions, list } = reasons;
  const element = h(
    "div.wy-answer",
    { hidden: "" },
    h("div.wy-rests", null, said, needed.element),
    how.element,
    windows.element,
    proof,
    actions,
    missed.element,
    list,
    circuit.element,
    twoTexts,
  );
  /** @type {Why | null} the answer that is shown */
  let shown = null;
  /** @type {Rests | null} */
  let resting = null;
  /** @type {import("./windows.js").Within | null} */
  let inLayers = null;
  let leading = false; // the selection is to go where the answer leads

  /**
   * @param {boolean} open
   * @param {Told} told
   * @param {boolean} fresh
   */
  function draw(open, { found, rests, within, heads }, fresh) {
    element.hidden = !open;
    if (!open) return;
    [shown, resting, inLayers] = [found, rests, within];
    const seen = within?.shown ?? null;
    reasons.draw(found, seen, Boolean(heads?.stopped), isChanged(state.trace), state.language);
    needed.draw(seen, state.language);
    windows.draw(within);
    missed.draw(found?.grid ?? heads?.part?.grid ?? null, heads, fresh);
    how.draw(found?.first ?? null, found?.position ?? 0);
    if (found && leading) follow(found);
    twoTexts.hidden = !state.trace.encoder;
    circuit.draw(found ?? (heads?.stopped ? rests : null));
  }

  /**
   * To the head that reads the answer, at the token that it looks at.
   *
   * @param {Why} found
   */
  function follow({ first, position }) {
    leading = false;
    if (first) queueMicrotask(() => selectLook(glass, first, position, glass.selectByPage));
  }

  /** Rows of a file. */
  function table() {
    if (!resting) return partsTable(shown?.parts ?? []);
    const { pieces } = state.trace.tokens;
    const { windows: measured } = inLayers ?? {};
    return [...restsTable(resting, pieces, shown?.grid), ...(measured ? windowsTable(resting, measured, pieces) : [])];
  }

  return {
    element,
    draw,
    table,
    within: windows.follow,
    tell,
    lead: () => {
      leading = true;
    },
  };
}
