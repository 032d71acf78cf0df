// Plays the run again: the prefill, then one generated token after the other, by moving the selected token. Where nothing
// was written yet, the same button has it written.

import { h } from "../../dom.js";

const PACE = 160; // ms a token: slow enough to follow, whatever the model took

/** @param {object} glass @returns {{ element: HTMLElement, draw: () => void }} */
export function player(glass) {
  const { state } = glass;
  let timer = 0;
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    draw();
  };
  const step = () => {
    const { trace, locked } = state;
    if (!button.isConnected || trace !== played || locked.query >= trace.T - 1) return stop();
    glass.select({ query: Math.max(locked.query + 1, trace.nPrompt) });
  };
  let played = null;
  const isWritten = ({ trace }) => trace && trace.T > trace.nPrompt;
  const button = h("button.kv-button", { click: () => (isWritten(state) ? play() : write()) });
  /** Has the text be written; what is watched comes to the top first, as the written words take room above it. */
  function write() {
    const panel = button.closest("section");
    if (panel.getBoundingClientRect().bottom > innerHeight) panel.scrollIntoView();
    document.querySelector("#generate")?.click();
  }
  function play() {
    if (timer) return stop();
    played = state.trace;
    glass.select({ query: played.nPrompt - 1 });
    timer = setInterval(step, PACE);
    draw();
  }
  const note = h("span.gp-note");

  function draw() {
    const { trace } = state;
    const written = isWritten(state);
    button.textContent = glass.text(timer ? "kv-live.pause" : written || trace?.generating ? "kv-live.play" : "kv-live.write");
    button.disabled = !trace || trace.generating || (!written && state.status !== "idle");
    note.textContent = written || trace?.generating ? "" : glass.text("kv-live.nothing_written");
  }
  return { element: h("div.kv-player", null, button, note), draw };
}
