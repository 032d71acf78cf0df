// Why it is this word: who looks back at which token, what is left without them, and what else the answer would miss.

import { shareSaid } from "../../counts.js";
import { h } from "../../dom.js";
import { createFar } from "../../how-far.js";
import { STORY } from "../../level.js";
import { isChanged, takenBack } from "../../off.js";
import { memo, reactive } from "../../reads.js";
import { shownIn } from "../../run-for.js";
import { placeOf } from "../../story/place.js";
import { hold } from "../../scroll-anchor.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { takenOut } from "./ablation.js";
import { createHow } from "./how.js";
import { createMissed } from "./missed.js";
import { rankingOf } from "./ranking.js";
import { reasonsOf } from "./reasons.js";
import { createRecall } from "./recall.js";
import { createNeeded, restsSaid } from "./rests.js";
import { createWindows } from "./windows.js";
import { readersOff, selectLook, word } from "./words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../decoded.d.ts").Detail<"why">} Why
 *
 * @typedef {import("../../readings/rests.js").Rests} Rests
 *
 * @typedef {import("../../readings/why.js").WhyReading} WhyReading
 *
 * @typedef {import("./measuring.js").Heads} Heads
 *
 * @typedef {import("../../readings/rests.js").Part} Part
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

const ROOM = 120; // px of a button and of what stands below it once it is pressed

/**
 * Keeps a button, and what it has changed below it, where it was pressed, or as far up as both are seen: what
 * stands above is another in the run that comes.
 *
 * @param {HTMLElement} button
 */
function keepPlace(button) {
  const top = Math.min(button.getBoundingClientRect().top, innerHeight - ROOM);
  hold(() => button.hidden || scrollBy(0, button.getBoundingClientRect().top - top));
}

/**
 * What is said of an answer, and the ranking of what it would miss. The glossary marks words in it, so it is made
 * anew where another thing is said alone.
 *
 * @param {Glass} glass
 */
function createReasons(glass) {
  const state = shownIn(glass);
  /** @type {import("../../types.d.ts").Say} */
  const text = (name, params) => glass.text(`why.${name}`, params);
  /** @type {{ said: HTMLElement[]; proof: HTMLElement[]; ranking: HTMLElement[] }} */
  const words = { said: [], proof: [], ranking: [] };
  let before = ""; // the answer, and how probable it was, when heads were switched off here
  /** @param {{ piece: string; probability: number }} one */
  const saidOf = ({ piece, probability }) =>
    `${glass.text("why.token", { piece: word(piece) })} ${shareSaid(glass.text, probability)}`;
  /**
   * @param {Why | null} found
   * @param {Rests | null} rests
   * @param {boolean} stopped
   */
  function write(found, rests, stopped) {
    const waiting = h("p.gp-note", null, text(rests ? "measuring_heads" : "measuring"));
    const { says, proves } = found ? reasonsOf(glass, found) : { says: [waiting], proves: [] };
    words.said = rests ? restsSaid(glass, rests) : says;
    words.proof = rests && !found ? (stopped ? [] : [waiting]) : proves;
    if (found) words.ranking = rankingOf(glass, found);
  }

  /**
   * The heads that read the answer, to be switched off; what is switched off, to be taken back.
   *
   * @param {Why | null} found
   * @param {boolean} changed
   */
  function switchView(found, changed) {
    const count = found?.look.heads.length ?? 0;
    function act(/** @type {Event} */ { currentTarget }) {
      if (currentTarget instanceof HTMLElement) keepPlace(currentTarget);
      if (isChanged(state.trace) || !found) return glass.change({});
      before = saidOf(found);
      return glass.change(readersOff(found.look));
    }
    // hidden: nothing to switch off, or not yet
    return html`
      <button
        class="gp-option gp-holds"
        ?hidden=${!changed && !count}
        @click=${act}
        .textContent=${text(changed ? `back_${takenBack(state.trace)}` : "switch_off", { count })}
      ></button>
    `;
  }

  /** @param {Why | null} found */
  function listView(found) {
    const of = found?.grid ? "_group" : "";
    const kind = found?.grid ? takenOut(glass, found.grid) : "";
    return html`
      <details class="wy-list" ?hidden=${!found?.parts.length}>
        <summary .textContent=${text(`parts${of}`)}></summary>
        <p class="gp-note" .textContent=${text(`parts${of}_means`, { kind })}></p>
        <ol class="wy-parts">
          ${words.ranking}
        </ol>
      </details>
    `;
  }
  /**
   * What comes first now, beside the button that has changed it, as the word above is out of sight there.
   *
   * @param {import("../../readings/why.js").WhyReading["own"]} own
   * @param {boolean} changed
   */
  function outcomeView(own, changed) {
    if (!changed || !before || !own) return nothing;
    return html`<p class="wy-outcome" role="status" .textContent=${text("outcome", { before, now: saidOf(own) })}></p>`;
  }
  const said = () => html`<div class="wy-said" aria-live="polite">${words.said}</div>`;
  const proof = () => html`<div class="wy-proof" aria-live="polite">${words.proof}</div>`;
  return { said, proof, switchView, outcomeView, listView, write: memo(write) };
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
  const far = createFar(glass);
  const needed = createNeeded(glass);
  const windows = createWindows(glass);
  const recall = createRecall(glass, moment);
  const missed = createMissed(glass, toggleMeasuring);
  const circuit = createCircuitPlace(glass, moment);
  const element = h("div.wy-answer", { hidden: "" });
  let leading = false; // the selection is to go where the answer leads

  /** @param {WhyReading | null} reading */
  const view = (reading) => html`
    <div class="wy-rests">${reasons.said()} ${far.element} ${needed.element}</div>
    ${recall.element} ${how.element} ${windows.element} ${reasons.proof()}
    <p class="wy-actions">
      <button class="gp-option" data-story=${STORY} data-text="story.start"></button>
      ${reasons.switchView(reading?.found ?? null, isChanged(state.trace))}
    </p>
    ${reasons.outcomeView(reading?.own ?? null, isChanged(state.trace))} ${missed.element}
    ${reasons.listView(reading?.found ?? null)} ${circuit.element}
    <p class="gp-note" ?hidden=${!state.trace.encoder} data-text="why.two_texts"></p>
  `;
  render(view(null), element);

  /**
   * @param {WhyReading} reading
   * @param {{ heads: Heads | null; part: Part | null }} how far what is measured in parts is: heads, and, of a long
   *   text, the tokens
   * @param {boolean} fresh
   */
  function draw(reading, { heads, part }, fresh) {
    const { selection, found, rests, grid } = reading;
    element.hidden = !selection.open;
    if (!selection.open) return;
    reasons.write(found, rests, Boolean(heads?.stopped), state.language);
    far.draw(part);
    needed.draw(rests, state.language);
    windows.draw(reading);
    render(view(reading), element);
    missed.draw(grid, heads, fresh, found?.probability ?? rests?.probability ?? NaN);
    how.draw(found?.first ?? null, found?.position ?? 0);
    if (found && leading) follow(found);
    const ready = found ?? (heads?.stopped ? rests : null);
    recall.draw(rests, ready);
    circuit.draw(ready);
  }

  /**
   * To the head that the story follows, once that is known; where it follows none, to the one that reads the
   * answer, at the token that it looks at.
   *
   * @param {Why} found
   */
  function follow({ first, position }) {
    const { trace } = glass.state;
    const own = trace === state.trace && position === trace.T - 1 ? placeOf(glass) : undefined;
    if (own === null) return;
    leading = false;
    if (own?.look) {
      const { layer, head, query, key } = own;
      queueMicrotask(() => glass.selectByPage({ layer, head, query, key }));
    } else if (first) queueMicrotask(() => selectLook(glass, first, position, glass.selectByPage));
  }

  return {
    element,
    draw,
    lead: () => {
      leading = true;
    },
  };
}
