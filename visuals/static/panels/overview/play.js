// Walking through the diagram: play, pause, one step on or back, and which layer is expanded.

import { slider } from "../../controls.js";
import { h } from "../../dom.js";
import { reactive } from "../../reads.js";
import { stops } from "../../readings/diagram-rows.js";

const PACE = 900; // ms a stop
const CALM = 1800; // where the reader asks for less motion

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {{ now: () => string; go: (key: string) => void }} diagram
 */
export function createPlayer(glass, diagram) {
  const { state } = glass;
  const walk = reactive({ timer: 0 });
  /** @type {import("../../decode.js").Trace | null} */
  let played = null;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  /**
   * Where the walk is: the row that is looked at, in the layer that is expanded.
   *
   * @param {ReturnType<typeof stops>} way
   */
  function place(way) {
    const key = diagram.now();
    const here = key === "before" ? "attn_norm" : key === "after" ? "final_norm" : key;
    return way.findIndex((stop) => stop.key === here && (stop.layer === null || stop.layer === state.locked.layer));
  }

  /** @param {number} by */
  function move(by) {
    const way = state.trace ? stops(state.trace.model) : [];
    const next = way[place(way) + by];
    if (!next) return false;
    diagram.go(next.key);
    glass.select(next.layer === null ? {} : { layer: next.layer });
    return true;
  }

  function pause() {
    clearInterval(walk.timer);
    walk.timer = 0;
    show();
  }
  function play() {
    if (!state.trace) return;
    const way = stops(state.trace.model);
    if (place(way) >= way.length - 1) restart();
    played = state.trace;
    clearInterval(walk.timer);
    walk.timer = setInterval(
      () => {
        if (!play_.getClientRects().length || state.trace !== played || state.chapter !== "overview" || !move(1))
          pause();
      },
      calm.matches ? CALM : PACE,
    );
    show();
  }
  function restart() {
    diagram.go("ids");
    glass.select({ layer: 0 });
  }

  const button = (/** @type {string} */ name, /** @type {() => void} */ act) =>
    h("button.gp-option", { "data-text": `overview.${name}`, click: () => state.trace && act() });
  const play_ = button("play", () => (walk.timer ? pause() : play()));
  play_.classList.add("ov-play");
  const stepping = (/** @type {number} */ by) => () => {
    if (walk.timer) pause();
    move(by);
  };
  const layers = slider("ov-slider", "overview.layer", { min: 0, step: 1 }, (layer) => glass.select({ layer }), true);
  const element = h(
    "div.ov-player",
    null,
    h(
      "div.gp-choices",
      null,
      play_,
      button("back", stepping(-1)),
      button("step", stepping(1)),
      button("restart", () => {
        if (walk.timer) pause();
        restart();
      }),
    ),
    layers.element,
  );

  function show() {
    const { trace } = state;
    play_.textContent = glass.text(walk.timer ? "overview.pause" : "overview.play");
    if (!trace) return;
    const last = trace.model.n_layers - 1;
    layers.show(state.layer, glass.text("overview.layer_of", { layer: state.layer, last }), { max: last });
  }
  return { element, show, playing: () => walk.timer !== 0 };
}
