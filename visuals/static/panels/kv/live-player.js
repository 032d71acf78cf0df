// The button that plays the run again: the prefill, then one written token after the other; where nothing was written
// yet, it has it written.

import { h } from "../../dom.js";
import { html, render } from "../../vendor/lit-html.js";

/** @typedef {import("../../decode.js").Trace} Trace */

const PACE = 160; // ms a token: slow enough to follow, whatever the model took

/** @type {(trace: Trace | null) => trace is Trace} */
const isWritten = (trace) => trace !== null && trace.T > trace.nPrompt;

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @returns {{ element: HTMLElement; draw: () => void }}
 */
export function createPlayer(glass) {
  const { state } = glass;
  const element = h("div.kv-player");
  let timer = 0;
  /** @type {Trace | null} */
  let played = null;

  function stop() {
    clearInterval(timer);
    timer = 0;
    draw();
  }
  function step() {
    const { trace, locked } = state;
    if (!trace || !element.isConnected || trace !== played || locked.query >= trace.T - 1) stop();
    else glass.select({ query: Math.max(locked.query + 1, trace.nPrompt) });
  }
  /** Has the text be written; what is watched comes to the top first, as the written words take room above it. */
  function write() {
    const panel = element.closest("section");
    if (panel && panel.getBoundingClientRect().bottom > innerHeight) panel.scrollIntoView();
    /** @type {HTMLElement | null} */ (document.querySelector("#generate"))?.click();
  }
  /** @param {Trace} trace */
  function play(trace) {
    played = trace;
    glass.select({ query: trace.nPrompt - 1 });
    timer = setInterval(step, PACE);
    draw();
  }
  function press() {
    if (timer) stop();
    else if (isWritten(state.trace)) play(state.trace);
    else write();
  }

  function draw() {
    const { trace, status } = state;
    const [written, writing] = [isWritten(trace), Boolean(trace?.generating)];
    const name = timer ? "pause" : written || writing ? "play" : "write";
    const unable = !trace || writing || (!written && status !== "idle");
    const button = html`<button
      type="button"
      class="kv-button"
      ?disabled=${unable}
      .textContent=${glass.text(`kv-live.${name}`)}
      @click=${press}
    ></button>`;
    const note = written || writing ? "" : glass.text("kv-live.nothing_written");
    render(html`${button}<span class="gp-note" .textContent=${note}></span>`, element);
  }
  return { element, draw };
}
