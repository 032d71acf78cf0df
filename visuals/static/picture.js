// A panel as a picture: what it shows now, under its title, the model and the prompt, as one SVG that needs no page.

import { labelsOf } from "./characters.js";
import { copyOf, rulesOf, startSheet } from "./copy.js";
import { h, svg as element } from "./dom.js";
import { ink } from "./draw.js";
import { changeName, listed } from "./run-changes.js";
import { vectorsOf } from "./vectors.js";

const EDGE = 16; // px around what is drawn
const SHARPNESS = 2; // pixels of a PNG to a pixel of the page
const LONGEST = 16_000; // pixels of a side, and
const LARGEST = 100e6; // pixels in all, that browsers surely draw
const PROMPT = 300; // characters of the text

/**
 * @typedef {{ text: string; width: number; height: number }} Picture an SVG file and its size in px
 *
 * @typedef {import("./frame.js").Panel} Panel
 *
 * @typedef {import("./types.d.ts").Glass} Glass
 */

/**
 * What XML may not hold, such as control characters in a token, becomes the sign for a character that cannot be
 * shown.
 *
 * @param {string} text
 */
const lawful = (text) => text.toWellFormed().replace(/[^\t\n\r\u0020-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");

/**
 * What is shown: a model that a reader asked about, a run, or two where it is B − A; "" before there is any.
 *
 * @param {Panel} panel
 * @param {Glass} glass
 * @returns {string}
 */
function runLine(panel, glass) {
  const subject = panel.subject?.();
  if (subject) return subject;
  const two = panel.instead ? glass.sides() : null;
  if (two) return `B − A. A: ${describe(two.A, glass)}. B: ${describe(two.B, glass)}`;
  const { trace } = glass.state;
  return trace ? describe(trace, glass) : "";
}

/**
 * A run in words: model, prompt with what the model wrote after it, and what was changed in it.
 *
 * @param {import("./decode.js").Trace} trace
 * @param {Glass} glass
 */
function describe({ model, prompt, changes, encoder, tokens, nPrompt }, glass) {
  const whole = encoder ? prompt : [prompt, ...labelsOf(tokens.pieces).slice(nPrompt)].join("");
  const start = whole.length > PROMPT ? `${whole.slice(0, PROMPT)}…` : whole;
  const changed = listed(changes).map((change) => changeName("is", change, model, glass.text));
  return [glass.modelName(model.name), start, ...changed].join(" · ");
}

/**
 * The panel's title, and what is said beside it.
 *
 * @param {Panel} panel
 */
const titleOf = ({ title }) =>
  Array.from(
    title.childNodes,
    (node) => `${node instanceof Element && node.matches(BESIDE) ? " · " : ""}${node.textContent}`,
  ).join("");
const BESIDE = ".gp-job, .gp-here"; // what stands beside the title's words

/**
 * An SVG file on the theme's ground.
 *
 * @param {number} width px
 * @param {number} height
 * @param {...Node} content
 * @returns {Picture}
 */
function finished(width, height, ...content) {
  const ground = element("rect", { width: "100%", height: "100%", fill: ink().colour("card") });
  const all = element("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, ground, ...content);
  return { text: lawful(new XMLSerializer().serializeToString(all)), width, height };
}

/**
 * Each chart of the panel as plotly draws it for a file, an SVG without interaction.
 *
 * @param {HTMLElement} body
 * @returns {Promise<Map<Element, Element>>}
 */
async function chartsIn(body) {
  const shown = [...body.querySelectorAll(".js-plotly-plot")].filter((plot) => plot.getClientRects().length);
  const made = shown.map(async (plot) => {
    const { clientWidth: width, clientHeight: height } = plot;
    const text = await window.Plotly.toImage(plot, { format: "svg", width, height, imageDataOnly: true });
    const drawn = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    return /** @type {[Element, Element]} */ ([plot, document.importNode(drawn, true)]);
  });
  return new Map(await Promise.all(made));
}

/**
 * The lines above the picture.
 *
 * @param {Panel} panel
 * @param {Glass} glass
 * @param {boolean} brief only the title, where it is not covered, and the run: no sources, and no value, which may
 *   be what is asked
 */
function heading(panel, glass, brief) {
  const { colour } = ink();
  const font = getComputedStyle(panel.body);
  /** @type {(text: string, style: string) => HTMLElement} */
  const line = (text, style) => h("p", { style: `margin: 0 0 4px; ${style}` }, text);
  const reading = panel.head.querySelector(".gp-readout")?.textContent ?? "";
  const small = `font-size: 14px; color: ${colour("muted")}; overflow-wrap: anywhere`;
  const seen = !brief || panel.title.checkVisibility({ visibilityProperty: true });
  const lines = seen ? [line(titleOf(panel), "font-weight: 600")] : [];
  if (!brief || !panel.subject) lines.push(line(runLine(panel, glass), small));
  if (reading && !brief) lines.push(line(reading, `${small}; font-variant-numeric: tabular-nums`));
  const type = `font-family: ${font.fontFamily}; font-size: 16px; line-height: 1.4`;
  const style = `margin-bottom: 12px; color: ${colour("text")}; ${type}`;
  return h("div", { style }, ...lines);
}

const STAYS = "[aria-pressed], .gp-holds, .gl-term, .wy-lead, .wy-node";
/**
 * What a picture leaves out of a panel: its heading, which is written anew, and what only acts, with the words that
 * say how, since nothing can be pressed in it. A button stays that shows a state (which view is chosen), holds
 * something of the run (a token, a head), or is a word of a sentence or a part of a drawing.
 */
const LEFT_OUT = `.gp-head, .gp-explain, .gp-trouble, .gp-offer, .gp-hint, button:not(${STAYS})`;

/**
 * The copy as a browser draws it, and as every program does.
 *
 * @param {HTMLElement} copy
 */
export const asPage = (copy) => element("foreignObject", { width: "100%", height: "100%" }, copy);
export const asVectors = vectorsOf;

/**
 * What the panel shows now, with the styles of the page written into a copy of it.
 *
 * @param {Panel} panel
 * @param {Glass} glass
 * @param {(copy: HTMLElement) => SVGElement} written asPage or asVectors
 * @param {boolean} [brief] as in `heading`
 * @returns {Promise<Picture>}
 */
export async function pictureOf(panel, glass, written, brief = false) {
  const section = /** @type {HTMLElement} */ (panel.body.parentElement);
  const charts = await chartsIn(section);
  const sheet = startSheet();
  try {
    const copy = /** @type {HTMLElement} */ (copyOf(section, sheet, charts, LEFT_OUT));
    const within = section.clientWidth;
    const size = `box-sizing: border-box; width: ${within}px; height: auto; min-height: 0; margin: 0`;
    copy.style.cssText = `${size}; padding: ${EDGE}px;
      position: relative; inset: auto; overflow: visible; opacity: 1; background: none`;
    copy.prepend(heading(panel, glass, brief));
    sheet.root.append(h("style", null, rulesOf(sheet)), copy);
    const width = copy.scrollWidth > within ? copy.scrollWidth + EDGE : within;
    const height = Math.max(copy.scrollHeight, Math.ceil(copy.getBoundingClientRect().height));
    return finished(width, height, element("style", {}, rulesOf(sheet)), written(copy));
  } finally {
    sheet.host.remove();
  }
}

/**
 * A panel's own drawing as a file of vectors alone, which drawing programs can edit, under the same lines.
 *
 * @param {Panel} panel
 * @param {Glass} glass
 * @param {SVGElement} drawing
 * @returns {Picture}
 */
export function drawingOf(panel, glass, drawing) {
  const sheet = startSheet();
  try {
    const { colour } = ink();
    const { width, height } = drawing.getBoundingClientRect();
    const copy = copyOf(drawing, sheet);
    for (const [name, value] of Object.entries({ x: EDGE, y: 72, width, height }))
      copy.setAttribute(name, String(value));
    const { fontFamily } = getComputedStyle(panel.body);
    /** @type {(y: number, size: number, name: string, weight: number, text: string) => SVGElement} */
    const line = (y, size, name, weight, text) =>
      element(
        "text",
        { x: EDGE, y, fill: colour(name), "font-family": fontFamily, "font-size": size, "font-weight": weight },
        text,
      );
    const title = line(30, 16, "text", 600, titleOf(panel));
    const run = line(54, 14, "muted", 400, runLine(panel, glass));
    return finished(
      Math.ceil(width + 2 * EDGE),
      Math.ceil(height + 88),
      element("style", {}, rulesOf(sheet)),
      title,
      run,
      copy,
    );
  } finally {
    sheet.host.remove();
  }
}

/**
 * A picture in pixels. The SVG comes from a data: URL, which leaves a canvas readable.
 *
 * @param {Picture} picture
 * @returns {Promise<Blob>}
 */
export async function rasterOf({ text, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const scale = Math.min(SHARPNESS, LONGEST / Math.max(width, height), Math.sqrt(LARGEST / (width * height)));
  const canvas = h("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) => {
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error(`${canvas.width} × ${canvas.height}`))), "image/png");
  });
}
