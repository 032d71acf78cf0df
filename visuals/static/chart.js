// Charts by plotly.js: a figure that Python built, in the page's colours and language. The library is fetched with the
// first chart; zoom stays while a figure changes; what is clicked goes to the panel.

import { h } from "./dom.js";
import { ink } from "./draw.js";

let library = null;

/** plotly.js, fetched once. @returns {Promise<object>} */
function plotly() {
  library ??= new Promise((done, failed) => {
    const script = h("script", { src: window.glassConfig.plotly });
    script.addEventListener("load", () => done(window.Plotly));
    script.addEventListener("error", () => {
      library = null; // another chart may try again
      failed(new Error("plotly.js"));
    });
    document.head.append(script);
  });
  return library;
}

/**
 * The figure with its colours and words: "var(--glass-q)" becomes the theme's colour, "text:section.name" the text.
 * Pure. @param {any} part @param {(name: string) => string} colour @param {(key: string) => string} text
 */
export function dressed(part, colour, text) {
  if (typeof part === "string") {
    if (part.startsWith("var(--glass-")) return colour(part.slice("var(--glass-".length, -1));
    return part.startsWith("text:") ? text(part.slice("text:".length)) : part;
  }
  if (Array.isArray(part)) return part.map((one) => dressed(one, colour, text));
  if (part === null || typeof part !== "object") return part;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, dressed(value, colour, text)]));
}

const CONFIG = { responsive: true, displayModeBar: false, displaylogo: false };
const coarse = () => window.matchMedia?.("(pointer: coarse)").matches ?? false;

/**
 * @param {object} glass @param {{ label: string, clicked?: (point: object) => void }} how  label: the key of its name
 * @returns {{ element: HTMLElement, draw: (figure: object, scene: string) => Promise<void> }}
 * `scene` names what is drawn: while it stays, so does the reader's zoom
 */
export function createChart(glass, { label, clicked }) {
  const plot = h("div.gp-plot", { role: "img", "data-text-label": label });
  const element = h("div.gp-chart", null, plot);
  let drawn = false;

  async function draw(figure, scene) {
    const Plotly = await plotly();
    const { colour } = ink();
    const { data, layout } = dressed(figure, colour, glass.text);
    const font = { ...layout.font, family: getComputedStyle(element).fontFamily };
    const held = { ...layout, font, uirevision: scene, dragmode: coarse() ? false : "zoom", autosize: true };
    await Plotly.react(plot, data, held, CONFIG);
    if (drawn) return;
    drawn = true;
    plot.on("plotly_click", ({ points }) => clicked?.(points[0]));
  }
  return { element, draw };
}
