// The sliders over the stages: what a reader sets, kept in the link, and whether it rests so that the draw may be asked for.

import { h, share } from "../../dom.js";

const NAME = "sampling";
const SLIDERS = {
  temperature: { min: 0, max: 2, step: 0.05, first: 0.8 },
  top_k: { min: 0, max: 100, step: 1, first: 40 },
  top_p: { min: 0, max: 1, step: 0.01, first: 0.9 },
};
const REST = 200; // ms without a change until the server is asked for the draw

/** A slider with its label and value. */
function slider(name, panel, { min, max, step }, changed) {
  const input = h("input", { type: "range", min, max, step, "data-text-label": `${NAME}.${name}` });
  const value = h("output.ch-value");
  input.addEventListener("input", changed);
  const label = h("label.ch-slider", { "data-setting": name }, h("span", { "data-text": `${NAME}.${name}` }), input, value);
  return { label, input, value };
}

const frames = (count) => new Promise((done) => (count ? requestAnimationFrame(() => frames(count - 1).then(done)) : done()));

/** Opens the page's own sampling settings, which "+1 token" and "Generate" go by, and fills them in. */
async function fillBar({ temperature, topK, topP, seed }) {
  const wanted = Object.entries({ temperature, top_k: topK, top_p: topP, seed });
  const field = (name) => document.querySelector(`#${name} input[type=number]`);
  const differs = ([name, value]) => Number(field(name)?.value) !== value;
  if (!field("temperature")) document.querySelector("#settings .label-wrap")?.click();
  // gradio mounts the fields when they are first shown and then sets them once more itself: until it is done, again.
  for (let tries = 0, calm = 0; tries < 60 && calm < 10; tries++, await frames(1)) {
    calm = wanted.some(differs) ? 0 : calm + 1;
    for (const [name, value] of wanted.filter(differs)) {
      const input = field(name);
      if (!input) continue;
      input.value = String(value);
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }
}

/** One setting: a number within the slider's bounds. */
function read(glass, name, fallback) {
  const given = Number(glass.settings.get(NAME)[name] ?? fallback);
  const { min, max } = SLIDERS[name] ?? { min: 0, max: Number.MAX_SAFE_INTEGER };
  return Number.isFinite(given) ? Math.max(min, Math.min(max, given)) : fallback;
}

/** What the sliders are set to. @returns {{ temperature: number, topK: number, topP: number, seed: number }} */
export const settingsOf = (glass) => ({
  temperature: read(glass, "temperature", SLIDERS.temperature.first),
  topK: Math.round(read(glass, "top_k", SLIDERS.top_k.first)),
  topP: read(glass, "top_p", SLIDERS.top_p.first),
  seed: Math.trunc(read(glass, "seed", 0)),
});

/** @param {object} glass @param {object} panel @param {() => void} changed */
export function createControls(glass, panel, changed) {
  let timer = 0;
  let moving = false;

  function write() {
    const entries = Object.entries(sliders).map(([name, { input }]) => [name, Number(input.value) === SLIDERS[name].first ? "" : input.value]);
    const number = Math.max(0, Math.trunc(Number(seed.value)) || 0);
    glass.settings.set(NAME, { ...Object.fromEntries(entries), seed: number || "" });
    moving = true;
    clearTimeout(timer);
    timer = setTimeout(() => {
      moving = false;
      changed();
    }, REST);
    changed();
  }

  const sliders = Object.fromEntries(Object.entries(SLIDERS).map(([name, range]) => [name, slider(name, panel, range, write)]));
  const seed = h("input.ch-seed", { type: "number", min: 0, step: 1, "data-text-label": `${NAME}.seed` });
  seed.addEventListener("input", write);
  const again = h("button.gp-option", { type: "button", "data-text": `${NAME}.next_seed` });
  again.addEventListener("click", () => {
    seed.value = String(settings().seed + 1);
    write();
  });
  const use = h("button.gp-option", { type: "button", "data-text": `${NAME}.use` });
  use.addEventListener("click", () => fillBar(settings()));
  const outcome = h("p.ch-outcome", { "aria-live": "polite" });
  const element = h(
    "div.ch-controls",
    null,
    ...Object.values(sliders).map(({ label }) => label),
    h("label.ch-slider", { "data-setting": "seed" }, h("span", { "data-text": `${NAME}.seed` }), h("span.ch-seeds", null, seed, again)),
    h("div.ch-result", null, outcome, use),
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
    for (const [name, value] of [["temperature", now.temperature], ["top_k", now.topK], ["top_p", now.topP]]) {
      const { input, value: place } = sliders[name];
      if (Number(input.value) !== value) input.value = String(value);
      const off = (name === "top_k" && value === 0) || (name === "top_p" && value === 1);
      place.textContent = off ? panel.text("off") : name === "temperature" && value === 0 ? panel.text("zero") : String(value);
    }
    if (Number(seed.value) !== now.seed || seed.value === "") seed.value = String(now.seed);
    const written = glass.state.trace.steps.length;
    const params = { piece, seed: now.seed + written, p: drawn ? share(drawn.probability) : "", written, own: now.seed };
    outcome.textContent = piece === null ? panel.text("drawing") : panel.text(now.temperature === 0 ? "taken" : written ? "drawn_after" : "drawn", params);
  }
  return { element, settings, asked, show, settled: () => !moving };
}
