// The sliders over the stages: what a reader sets, kept in the link, and whether it rests so that the draw may be asked
// for.

import { slider } from "../../controls.js";
import { chanceEquals } from "../../counts.js";
import { h } from "../../dom.js";
import { visible } from "../../draw.js";
import { rangeOf, samplingOf, setSampling } from "../../sampling.js";
import { reactive } from "../../reads.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../sampling.js").Sampling} Sampling
 *
 * @typedef {import("../../readings/sampling.js").SamplingReading} SamplingReading
 *
 * @typedef {import("../../readings/filters.js").Settings} Settings
 */

const NAME = "sampling";
/** With these every filter has something to do. */
const LIVELY = { temperature: 0.8, top_k: 40, top_p: 0.9 };
const REST = 200; // ms without a change until the server is asked for the draw

/**
 * What the sliders are set to.
 *
 * @param {Pick<Glass, "settings">} glass
 * @returns {Settings & { seed: number }}
 */
export function settingsOf({ settings }) {
  const { temperature, top_k: topK, top_p: topP, seed } = samplingOf(settings);
  return { temperature, topK, topP, seed };
}

/**
 * The sliders of temperature, top-k and top-p, and the button that gives every filter something to do.
 *
 * @param {Glass} glass
 * @returns {{ elements: HTMLElement[]; lively: HTMLElement; show: (now: Settings, fixed?: boolean) => void }}
 *   `show`: what settingsOf gave; `fixed`: it is how a token was drawn once, which nobody changes any more
 */
export function createSliders(glass) {
  const set = (/** @type {Partial<Sampling>} */ change) => setSampling(glass.settings, change);
  const text = (/** @type {string} */ name) => glass.text(`${NAME}.${name}`);
  /** @param {keyof Sampling} name */
  function made(name) {
    const { min, max, step = 1 } = rangeOf(name);
    return slider("gp-slider", `${NAME}.${name}`, { min, max, step }, (value) => set({ [name]: value }));
  }
  const [heat, first, mass] = [made("temperature"), made("top_k"), made("top_p")];
  const lively = h("button.gp-option", { "data-text": `${NAME}.lively`, click: () => set(LIVELY) });
  /** @type {(now: Settings, fixed?: boolean) => void} */
  function show({ temperature, topK, topP }, fixed = false) {
    lively.disabled = fixed;
    heat.show(temperature, temperature === 0 ? text("zero") : String(temperature), { fixed });
    first.show(topK, topK === 0 ? text("off") : String(topK), { fixed });
    mass.show(topP, topP === 1 ? text("off") : String(topP), { fixed });
  }
  return { elements: [heat, first, mass].map(({ element }) => element), lively, show };
}

/**
 * @param {Glass} glass
 * @param {import("../../frame.js").Panel} panel
 */
export function createControls(glass, panel) {
  let timer = 0;
  const touch = reactive({ moving: false }, glass.repaint);

  /** Whoever changed the settings, here or in the bar: the server is asked once they rest. */
  glass.on("settings", (name) => {
    if (name !== NAME) return;
    touch.moving = true;
    clearTimeout(timer);
    timer = setTimeout(() => {
      touch.moving = false;
    }, REST);
  });
  const set = (/** @type {Partial<Sampling>} */ change) => setSampling(glass.settings, change);

  const sliders = createSliders(glass);
  const seed = h("input.ch-seed", {
    type: "number",
    min: 0,
    step: 1,
    "data-text-label": `${NAME}.seed`,
    input: () => set({ seed: Math.max(0, Math.trunc(Number(seed.value)) || 0) }),
  });
  const again = h("button.gp-option", {
    "data-text": `${NAME}.next_seed`,
    click: () => set({ seed: settingsOf(glass).seed + 1 }),
  });
  const outcome = h("p.ch-outcome", { "aria-live": "polite" });
  const element = h(
    "div.ch-controls",
    null,
    ...sliders.elements,
    h(
      "label.gp-slider",
      { "data-setting": "seed" },
      h("span", { "data-text": `${NAME}.seed` }),
      h("span.ch-seeds", null, seed, again),
    ),
    h("div.ch-result", null, outcome, sliders.lively),
  );

  /**
   * How the drawn token came about, in words: the name of a text, of those with `then` for one that is written.
   *
   * @param {SamplingReading} reading
   */
  function nameOf({ moment: { kind }, step, settings: { temperature }, before, drawn }) {
    if (step) return temperature === 0 ? "then_taken" : drawn?.race ? "then" : "then_unknown";
    if (kind !== "end") return temperature === 0 ? "would_take" : "would_draw";
    return temperature === 0 ? "taken" : before ? "drawn_after" : "drawn";
  }

  /**
   * The sliders as the settings are, and the drawn token, once it is known.
   *
   * @param {SamplingReading} reading
   */
  function show(reading) {
    const { drawn, moment, step, settings: now, before } = reading;
    sliders.show(now, step !== null);
    if (Number(seed.value) !== now.seed || seed.value === "") seed.value = String(now.seed);
    seed.disabled = again.disabled = step !== null;
    if (!drawn) return void (outcome.textContent = panel.text("drawing"));
    const params = {
      piece: visible(drawn.piece),
      chance: chanceEquals(glass.text, drawn.probability),
      own: now.seed,
      seed: step ? now.seed : now.seed + before,
      written: before,
    };
    const more = moment.token && { next: visible(moment.token.piece), number: (step?.sampling.draws ?? 0) + 1 };
    outcome.textContent = panel.text(nameOf(reading), { ...params, ...more });
  }
  return { element, show, settled: () => !touch.moving };
}
