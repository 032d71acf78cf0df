// The sliders over the stages: what a reader sets, kept in the link, and whether it rests so that the draw may be asked
// for.

import { slider } from "../../controls.js";
import { h, share } from "../../dom.js";
import { visible } from "../../draw.js";
import { askedOf } from "../../chosen-step.js";
import { rangeOf, samplingOf, setSampling } from "../../sampling.js";
import { reactive } from "../../reads.js";

const NAME = "sampling";
/** With these every filter has something to do. */
const LIVELY = { temperature: 0.8, top_k: 40, top_p: 0.9 };
const REST = 200; // ms without a change until the server is asked for the draw

/**
 * What the sliders are set to.
 *
 * @returns {{ temperature: number; topK: number; topP: number; seed: number }}
 */
export function settingsOf({ settings }) {
  const { temperature, top_k: topK, top_p: topP, seed } = samplingOf(settings);
  return { temperature, topK, topP, seed };
}

/**
 * The sliders of temperature, top-k and top-p, and the button that gives every filter something to do.
 *
 * @returns {{ elements: HTMLElement[]; lively: HTMLElement; show: (now: object, fixed?: boolean) => void }}
 *   `show`: what settingsOf gave; `fixed`: it is how a token was drawn once, which nobody changes any more
 */
export function createSliders(glass) {
  const set = (change) => setSampling(glass.settings, change);
  const text = (name) => glass.text(`${NAME}.${name}`);
  const sliders = Object.fromEntries(
    /** @type {const} */ (["temperature", "top_k", "top_p"]).map((name) => [
      name,
      slider("gp-slider", `${NAME}.${name}`, rangeOf(name), (value) => set({ [name]: value })),
    ]),
  );
  const lively = h("button.gp-option", { "data-text": `${NAME}.lively`, click: () => set(LIVELY) });
  function show({ temperature, topK, topP }, fixed = false) {
    lively.disabled = fixed;
    for (const [name, value] of [
      ["temperature", temperature],
      ["top_k", topK],
      ["top_p", topP],
    ]) {
      const off = (name === "top_k" && value === 0) || (name === "top_p" && value === 1);
      sliders[name].show(
        value,
        off ? text("off") : name === "temperature" && value === 0 ? text("zero") : String(value),
        { fixed },
      );
    }
  }
  return { elements: Object.values(sliders).map(({ element }) => element), lively, show };
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {object} panel
 */
export function createControls(glass, panel) {
  let timer = 0;
  const now = reactive({ moving: false }, glass.repaint);

  /** Whoever changed the settings, here or in the bar: the server is asked once they rest. */
  glass.on("settings", (name) => {
    if (name !== NAME) return;
    now.moving = true;
    clearTimeout(timer);
    timer = setTimeout(() => {
      now.moving = false;
    }, REST);
  });
  const set = (change) => setSampling(glass.settings, change);

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
    click: () => set({ seed: settings().seed + 1 }),
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
   * How a token is drawn at a moment: as the written one was, or as the settings are.
   *
   * @param {object | null} step as it was
   */
  function settings(step) {
    if (!step) return settingsOf(glass);
    const { temperature, top_k: topK, top_p: topP, seed: own } = step.sampling;
    return { temperature, topK, topP, seed: own };
  }

  /** Tokens written before a moment: "+1 token" adds their count to the seed, and so is done here. */
  function writtenBefore({ at, kind }) {
    const { steps, nPrompt } = glass.state.trace;
    return kind === "end" ? steps.length : Math.max(0, at + 1 - nPrompt);
  }

  /**
   * What the server is asked for.
   *
   * @param {import("../../chosen-step.js").Moment} moment
   * @param {object | null} step
   */
  function asked(moment, step) {
    if (step) return { ...askedOf(moment), ...step.sampling };
    const { temperature, topK, topP, seed: own } = settings();
    return { ...askedOf(moment), temperature, top_k: topK, top_p: topP, seed: own + writtenBefore(moment) };
  }

  /** How the drawn token came about, in words: the name of a text, of those with `then` for one that is written. */
  function nameOf({ kind }, step, temperature, before, drawn) {
    if (step) return temperature === 0 ? "then_taken" : drawn.race ? "then" : "then_unknown";
    if (kind !== "end") return temperature === 0 ? "would_take" : "would_draw";
    return temperature === 0 ? "taken" : before ? "drawn_after" : "drawn";
  }

  /**
   * The sliders as the settings are, and the drawn token, null until it is known.
   *
   * @param {object | null} step as in `settings`
   */
  function show(drawn, moment, step) {
    const set = settings(step);
    sliders.show(set, step !== null);
    if (Number(seed.value) !== set.seed || seed.value === "") seed.value = String(set.seed);
    seed.disabled = again.disabled = step !== null;
    if (!drawn) return void (outcome.textContent = panel.text("drawing"));
    const before = writtenBefore(moment);
    const name = nameOf(moment, step, set.temperature, before, drawn);
    const params = {
      piece: visible(drawn.piece),
      p: share(drawn.probability),
      own: set.seed,
      seed: step ? set.seed : set.seed + before,
      written: before,
    };
    const more = moment.token && { next: visible(moment.token.piece), number: (step?.sampling.draws ?? 0) + 1 };
    outcome.textContent = panel.text(name, { ...params, ...more });
  }
  return { element, settings, asked, show, settled: () => !now.moving };
}
