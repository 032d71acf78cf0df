// Walking through the tokens that the model wrote: for each, the row of attention that chose it.

import { labelsOf } from "../../characters.js";
import { stepper } from "../../controls.js";
import { h } from "../../dom.js";
import { visible } from "../../draw.js";
import { memo, reactive } from "../../reads.js";
import { shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../types.d.ts").Shown} State
 *
 * @typedef {{ index: number; count: number }} Place
 */

const PACE = 800; // ms a token while it plays

/**
 * The written token that the locked row chose, from 0 on, of so many; less than 0 for a row inside the prompt.
 *
 * @param {State} state
 * @returns {Place}
 */
const placeIn = ({ locked, trace }) => ({
  index: locked.query + 1 - trace.nPrompt,
  count: trace.T - trace.nPrompt,
});

/**
 * What the locked row says of the token after it.
 *
 * @param {State} state
 * @param {Place} place
 * @param {Say} text
 */
function wordsOf({ locked: { query }, trace }, { index, count }, text) {
  const piece = (/** @type {number} */ t) => visible(labelsOf(trace.tokens.pieces)[t]);
  if (trace.generating) return text("writing");
  if (!count) return text("none_written");
  return index >= 0 && index < count ? text("chose", { from: piece(query), piece: piece(query + 1) }) : text("walk");
}

/**
 * It stops playing when it is no longer seen.
 *
 * @param {Glass} glass
 * @returns {{ element: HTMLElement; draw: () => void }}
 */
export function createWalk(glass) {
  const state = shownIn(glass);
  /** @type {Say} */
  const text = (name, params) => glass.text(`arcs.${name}`, params);
  const element = h("div.at-bar");
  const steps = stepper(
    (by) => {
      stop();
      move(by);
    },
    { label: "arcs.written", back: "arcs.earlier", on: "arcs.later", name: false },
  );
  const walk = reactive({ timer: 0 }, glass.repaint);

  /** @param {number} index */
  function go(index) {
    const { count } = placeIn(state);
    glass.select({ query: state.trace.nPrompt - 1 + Math.max(0, Math.min(count - 1, index)) });
  }
  const move = (/** @type {number} */ by) => go(placeIn(state).index + by);
  const ahead = (/** @type {Place} */ { index, count }) => index < count - 1;

  function stop() {
    clearInterval(walk.timer);
    walk.timer = 0;
  }
  function start() {
    const place = placeIn(state);
    if (place.index < 0 || !ahead(place)) go(0);
    walk.timer = setInterval(() => {
      const going = element.getClientRects().length && state.chapter === "attend" && ahead(placeIn(state));
      if (going) move(1);
      else stop();
    }, PACE);
  }

  /** @param {Place | null} place null before there is a run */
  const view = (place) => html`
    ${steps.element}
    <button
      class="at-chip"
      ?hidden=${!place?.count}
      @click=${() => (walk.timer ? stop() : start())}
      .textContent=${text(walk.timer ? "pause" : "play")}
    ></button>
    <span class="gp-note" .textContent=${place ? wordsOf(state, place, text) : ""}></span>
  `;
  render(view(null), element);
  const draw = memo(() => {
    const place = placeIn(state);
    const { index, count } = place;
    const chosen = index >= 0 && index < count;
    steps.element.hidden = count === 0;
    steps.show(chosen ? `${index + 1} / ${count}` : `– / ${count}`, index <= 0, !ahead(place));
    render(view(place), element);
  });
  return { element, draw };
}
