// The sliders over the stages: what a reader sets, kept in the link, and whether it rests so that the draw may be asked for.

import { h, share } from "../../dom.js";
import { RANGES, samplingOf, setSampling } from "../../sampling.js";

const NAME = "sampling";
const STEPS = { temperature: 0.05, top_k: 1, top_p: 0.01 };
/** With these every filter has something to do. */
const LIVELY = { temperature: 0.8, top_k: 40, top_p: 0.9 };
const REST = 200; // ms without a change until the server is asked for the draw

/** A slider with its label and value. */
function slider(name, changed) {
  const { min, max } = RANGES[name];
  const step = STEPS[name];
  const input = h("input", { type: "range", min, max, step, "data-text-label": `${NAME}.${name}` });
  const value = h("output.ch-value");
  input.addEventListener("input", changed);
  const label = h("label.ch-slider", { "data-setting": name }, h("span", { "data-text": `${NAME}.${name}` }), input, value);
  return { label, input, value };
}

/** What the sliders are set to. @returns {{ temperature: number, topK: number, topP: number, seed: number }} */
export function settingsOf({ settings }) {
  const { temperature, top_k: topK, top_p: topP, seed } = samplingOf(settings);
  return { temperature, topK, topP, seed };
}

/**
 * The sliders of temperature, top-k and top-p, and the button that gives every filter something to do.
 * @returns {{ labels: HTMLElement[], lively: HTMLElement, show: (now: object) => void }} `show`: what settingsOf gave
 */
export function createSliders(glass) {
  const set = (change) => setSampling(glass.settings, change);
  const text = (name) => glass.text(`${NAME}.${name}`);
  const sliders = Object.fromEntries(Object.keys(STEPS).map((name) => [name, slider(name, (event) => set({ [name]: Number(event.target.value) }))]));
  const lively = h("button.gp-option", { type: "button", "data-text": `${NAME}.lively` });
  lively.addEventListener("click", () => set(LIVELY));
  function show({ temperature, topK, topP }) {
    for (const [name, value] of [["temperature", temperature], ["top_k", topK], ["top_p", topP]]) {
      const { input, value: place } = sliders[name];
      if (Number(input.value) !== value) input.value = String(value);
      const off = (name === "top_k" && value === 0) || (name === "top_p" && value === 1);
      place.textContent = off ? text("off") : name === "temperature" && value === 0 ? text("zero") : String(value);
    }
  }
  return { labels: Object.values(sliders).map(({ label }) => label), lively, show };
}

/** @param {object} glass @param {object} panel @param {() => void} changed */
export function createControls(glass, panel, changed) {
  let timer = 0;
  let moving = false;

  /** Whoever changed the settings, here or in the bar: the server is asked once they rest. */
  glass.on("settings", (name) => {
    if (name !== NAME) return;
    moving = true;
    clearTimeout(timer);
    timer = setTimeout(() => {
      moving = false;
      changed();
    }, REST);
    changed();
  });
  const set = (change) => setSampling(glass.settings, change);

  const sliders = createSliders(glass);
  const seed = h("input.ch-seed", { type: "number", min: 0, step: 1, "data-text-label": `${NAME}.seed` });
  seed.addEventListener("input", () => set({ seed: Math.max(0, Math.trunc(Number(seed.value)) || 0) }));
  const again = h("button.gp-option", { type: "button", "data-text": `${NAME}.next_seed` });
  again.addEventListener("click", () => set({ seed: settings().seed + 1 }));
  const outcome = h("p.ch-outcome", { "aria-live": "polite" });
  const element = h(
    "div.ch-controls",
    null,
    ...sliders.labels,
    h("label.ch-slider", { "data-setting": "seed" }, h("span", { "data-text": `${NAME}.seed` }), h("span.ch-seeds", null, seed, again)),
    h("div.ch-result", null, outcome, sliders.lively),
  );

  const settings = () => settingsOf(glass);

  /** What the server is asked for: "+1 token" adds to the seed the count of the tokens written, and so does this. */
  function asked() {
    const { temperature, topK, topP, seed: own } = settings();
    return { temperature, top_k: topK, top_p: topP, seed: own + glass.state.trace.steps.length };
  }

  /** The sliders as the settings are, and the drawn token. @param {string|null} piece */
  function show(piece, drawn) {
    const now = settings();
    sliders.show(now);
    if (Number(seed.value) !== now.seed || seed.value === "") seed.value = String(now.seed);
    const written = glass.state.trace.steps.length;
    const params = { piece, seed: now.seed + written, p: drawn ? share(drawn.probability) : "", written, own: now.seed };
    outcome.textContent = piece === null ? panel.text("drawing") : panel.text(now.temperature === 0 ? "taken" : written ? "drawn_after" : "drawn", params);
  }
  return { element, settings, asked, show, settled: () => !moving };
}
